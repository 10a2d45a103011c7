#pragma once
/// Topologies in XML as lstopo of hwloc 2 writes them.

#include <string_view>

#include "configs/foreign/file_reading.hpp"
#include "importers/machines/machine.hpp"

namespace c3 { inline namespace importers {

inline constexpr std::string_view kHwlocTopologyFile = "a topology of hwloc (lstopo)";

bool is_hwloc_topology(std::string_view text);

/// The machine that \p file describes: NVIDIA's and AMD's GPUs in the order of their bus ids, and NICs that
/// have a device of OpenFabrics, or where none has, those of InfiniBand. \throws ConfigError with all mistakes
Machine read_hwloc_machine(const ForeignFile& file, FileReading& reading);

/// Reads the machine as a node. \throws ConfigError
FileReading read_hwloc_topology(const ForeignFile& file);

}}  // namespace c3::importers
