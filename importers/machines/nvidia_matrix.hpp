#pragma once
/// What `nvidia-smi topo -m` prints, alone or behind what `nvidia-smi -L` does.

#include <string_view>

#include "configs/foreign/file_reading.hpp"
#include "importers/machines/machine.hpp"

namespace c3 { inline namespace importers {

inline constexpr std::string_view kNvidiaMatrixFile = "the matrix of nvidia-smi topo -m";

bool is_nvidia_matrix(std::string_view text);

/// The machine that the matrix describes. PCIe switches follow from who is near whom: PIX shares one, PXB
/// several. What is ignored or assumed goes to \p reading. \throws ConfigError
Machine read_nvidia_machine(const ForeignFile& file, FileReading& reading);

/// Reads the machine as a node. \throws ConfigError
FileReading read_nvidia_matrix(const ForeignFile& file);

}}  // namespace c3::importers
