#pragma once
/// Measured times of collectives by size, as nccl-tests and rccl-tests print them.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "collectives/call.hpp"
#include "collectives/library/version.hpp"
#include "importers/collective_times/headed_table.hpp"

namespace c3 { inline namespace importers {

struct MeasuredCollective {
  std::uint32_t line = 0;
  Bytes bytes;  ///< total buffer, as CollectiveCall::bytes
  std::optional<DType> dtype = std::nullopt;
  /// The least that was measured of this size and type, in place and out of place, and in repetitions: what
  /// disturbs a measurement (first touch, warm-up of a NIC, other work) makes it longer. Wrong by noise: the
  /// least of two that scatter by 1 % is half a percent below their mean.
  Seconds time;
  /// Of the same row, where it says them.
  std::optional<Seconds> out_of_place = std::nullopt, in_place = std::nullopt;

  /// Whether `time` was measured in place.
  bool is_in_place() const { return in_place && *in_place == time && out_of_place != in_place; }
};

/// Rows of one operation on so many GPUs.
struct CollectiveTable {
  std::string name;  ///< the file's, and what tells its tables apart
  CollectiveKind kind = CollectiveKind::all_reduce;
  std::optional<int> ranks = std::nullopt;  ///< as the file says
  std::optional<int> nodes = std::nullopt;
  std::string library = {};  ///< and its release, as the file says it: "NCCL 2.26.2", "nccl-2.27.3"
  std::vector<MeasuredCollective> rows = {};  ///< by size
};

struct MeasuredTables {
  std::vector<CollectiveTable> tables;  ///< in the order of the file, each with a row
  std::vector<std::string> broken;      ///< rows that say nothing sensible: why, with their place
};

/// Rows where \p column is \p value, as written but for case.
struct CellFilter {
  std::string column;
  std::string value;
};

/// Columns by name: `size_bytes` (size, bytes); one or more of `oop_time_us`, `ip_time_us`, `time_us` (time),
/// and `time_ms` (ms); `op` (collective), `dtype` (type), `gpus` (num_gpus, ranks) and `nodes`, which a comment
/// `# collective:`, `# gpus_total:` and `# nodes:` may say for the whole file instead; `lib` or a comment `#
/// software:`. Others are not read.
/// Rows of size 0, and rows without a time, are skipped. \param op of a file with a column of operations the
/// one whose rows are taken; of others what they are, whatever their comment says \throws ConfigError for a
/// column that is missing, or an operation that nobody names
MeasuredTables read_measured_tables(const HeadedTable& file, const std::vector<CellFilter>& filters,
                                    std::optional<CollectiveKind> op);

/// What a table may be of: every collective with a size of its own.
std::vector<std::string> offered_operations();

/// As collective_named, for one of them.
std::optional<CollectiveKind> operation_named(std::string_view written);

}}  // namespace c3::importers
