#pragma once
/// Switches of a cluster as a fabric preset.

#include <string>

#include "configs/foreign/file_reading.hpp"

namespace c3 { inline namespace importers {

/// A tree of switches in the words of c3sim's fabrics.
struct SwitchTree {
  int levels = 1;  ///< 1: one switch; 2: leaves and spines; 3: pods of these, and cores
  int leaf_nics = 1;
  bool has_rails =
      true;  ///< a node's NICs are at leaves of their own (`leaf_spine`), else all at one (`fat_tree`)
  int spines = 1;
  double leaf_oversubscription = 1.0;
  int pod_leaves = 1;
  int spine_cores = 1;
  double pod_oversubscription = 1.0;
  double gigabits = 0.0;      ///< a NIC's rate, Gb/s; 0: the file does not say
  bool knows_uplinks = true;  ///< else spines, cores and oversubscription are assumed
};

/// Writes \p tree as a fabric into \p reading, and takes `fabric.use` from \p root. Numbers that c3sim does not
/// allow are put within its bounds, which is said.
void add_fabric(FileReading& reading, SwitchTree tree, const std::string& root);

}}  // namespace c3::importers
