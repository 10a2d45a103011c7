#pragma once
/// Topologies as NCCL and RCCL read and write them (NCCL_TOPO_FILE, NCCL_TOPO_DUMP_FILE).

#include <string_view>

#include "configs/foreign/file_reading.hpp"
#include "importers/machines/machine.hpp"

namespace c3 { inline namespace importers {

inline constexpr std::string_view kNcclTopologyFile = "a topology of NCCL or RCCL";

bool is_nccl_topology(std::string_view text);

/// The machine that \p file describes, hubs as in the file; what is ignored goes to \p reading. GPUs are in the
/// order of their ranks, else of their devices, else of their bus ids. \throws ConfigError with all mistakes
Machine read_nccl_machine(const ForeignFile& file, FileReading& reading);

/// Reads the machine as a node. \throws ConfigError, also for GPUs that no preset describes
FileReading read_nccl_topology(const ForeignFile& file);

}}  // namespace c3::importers
