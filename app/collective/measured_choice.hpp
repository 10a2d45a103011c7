#pragma once
/// The table of a file of measurements that `c3sim collective --table` compares with.

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "collectives/spec.hpp"
#include "importers/collective_times/measured_tables.hpp"

namespace c3 { inline namespace app {

struct MeasuredChoice {
  CollectiveTable table;            ///< with its rows by size
  std::vector<std::string> broken;  ///< rows of the file that say nothing sensible: why, with their place
};

/// The only table of \p file that is of \p op, where given, and of \p ranks GPUs, where given.
/// \throws UsageError, which lists the tables of the file, when several or none are; ConfigError for a file
/// that is no table; IoError
MeasuredChoice choose_measured(const std::string& file, std::optional<CollectiveKind> op,
                               std::optional<std::size_t> ranks);

/// The ranks of \p cluster that took part in \p table: the first ones of each node. Empty: all.
/// \throws UsageError when the table is of more GPUs, or of a number that the nodes do not share alike
std::vector<int> ranks_of(const CollectiveTable& table, const ClusterSpec& cluster);

}}  // namespace c3::app
