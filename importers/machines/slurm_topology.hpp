#pragma once
/// Slurm's topology.conf: switches, and what is below each.

#include <string_view>

#include "configs/foreign/file_reading.hpp"
#include "importers/machines/fabric_preset.hpp"

namespace c3 { inline namespace importers {

inline constexpr std::string_view kSlurmTopologyFile = "a topology.conf of Slurm";

bool is_slurm_topology(std::string_view text);

/// The tree of switches. Nodes of a leaf are counted, and each NIC of a node is taken to have a leaf of its own
/// there. \throws ConfigError with all mistakes
SwitchTree read_slurm_tree(const ForeignFile& file, FileReading& reading);

/// Reads the tree as a fabric. \throws ConfigError
FileReading read_slurm_topology(const ForeignFile& file);

}}  // namespace c3::importers
