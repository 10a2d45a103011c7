#pragma once
/// Which system measured which file: the study's map.

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "collectives/library/method.hpp"
#include "collectives/spec.hpp"
#include "importers/collective_times/measured_tables.hpp"

namespace c3 { inline namespace studies {

/// A row of the map.
struct MapEntry {
  Origin at;
  std::string file;                         ///< relative to the folder of the tables
  std::string system;                       ///< node preset
  std::optional<int> nodes = std::nullopt;  ///< absent: as the file says, else one
  std::string fabric = {};                  ///< preset; empty: the node's own
  MethodWish wish = {};                     ///< what is absent or 0, the library chooses
  LaunchPath launch = LaunchPath::eager;
  std::optional<int> gpus = std::nullopt;  ///< of a node that take part; absent: as the file says
  std::string op = {};                     ///< what the table is of, where its file does not say so
  Origin op_at = {};
  std::vector<CellFilter> where = {};
  std::string library = {};  ///< preset; empty: the node's own
  /// Keys of gpu, node, library or fabric as --set takes them, "library.qps=4"; the column qps is one of them.
  std::vector<std::string> overrides = {};
  Origin set_at = {};
  std::string sets = {};  ///< parameters that were set from this table; empty: none
};

struct SystemsMap {
  std::vector<MapEntry> entries;
  std::vector<std::string> broken;  ///< rows that cannot be used: why, with their place
  std::vector<std::string> files;   ///< of all rows, those that are broken included
};

/// Columns in any order: file, system; and, where they say something else than "auto", nodes, fabric,
/// algorithm, protocol, launch, gpus, op, where (column=value; column=value), library, channels, min_channels,
/// qps, set (key=value; key=value), sets. \throws ConfigError for a header without file and system, or with a
/// column that is none of these; IoError
SystemsMap read_systems_map(const std::filesystem::path& file);

}}  // namespace c3::studies
