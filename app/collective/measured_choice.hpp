#pragma once
/// The table of a file of measurements that `c3sim collective --table` compares with.

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "collectives/spec.hpp"
#include "importers/collective_times/measured_tables.hpp"
#include "importers/logs/library_log.hpp"

namespace c3 { inline namespace app {

struct MeasuredChoice {
  CollectiveTable table;            ///< with its rows by size
  std::vector<std::string> broken;  ///< rows of the file that say nothing sensible: why, with their place
};

/// A file of --table.
struct TableFile {
  std::string name;                        ///< without folder and ending
  LibraryLog log;                          ///< what it says of its job
  std::optional<MeasuredChoice> measured;  ///< absent for a log of the library without times
  std::vector<std::string> notes;          ///< what of it is not compared as it is
};

/// The only table of \p file for \p op, where given, and for \p ranks GPUs, where given. Among several that
/// differ only in their reduction, the sum's is chosen.
/// \throws UsageError, which lists the tables of the file, when several are left, or none and no log;
/// ConfigError for a file that is no table; IoError
TableFile choose_measured(const std::string& file, std::optional<CollectiveKind> op,
                          std::optional<std::size_t> ranks);

/// The ranks of \p cluster that are \p measured GPUs: the first ones of each node. Empty: all.
/// \throws UsageError when these are more than there are, or a number that the nodes do not share alike
std::vector<int> ranks_of(std::optional<int> measured, const ClusterSpec& cluster);

}}  // namespace c3::app
