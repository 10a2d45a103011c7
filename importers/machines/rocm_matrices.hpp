#pragma once
/// What `rocm-smi --showtopo` prints, alone or with --showproductname.

#include <string_view>

#include "configs/foreign/file_reading.hpp"
#include "importers/machines/machine.hpp"

namespace c3 { inline namespace importers {

inline constexpr std::string_view kRocmMatricesFile = "the matrices of rocm-smi --showtopo";

bool is_rocm_matrices(std::string_view text);

/// The machine that the matrices describe. \throws ConfigError
Machine read_rocm_machine(const ForeignFile& file, FileReading& reading);

/// Reads the machine as a node. \throws ConfigError
FileReading read_rocm_matrices(const ForeignFile& file);

}}  // namespace c3::importers
