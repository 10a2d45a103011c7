#pragma once
/// Measured times of collectives by size, as nccl-tests and rccl-tests print them.

#include <optional>
#include <string>
#include <vector>

#include "collectives/call.hpp"
#include "importers/collective_times/headed_table.hpp"
#include "importers/collective_times/measured_collective.hpp"

namespace c3 { inline namespace importers {

struct MeasuredTables {
  std::vector<CollectiveTable> tables;  ///< tables in the order of the file, each with a row
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
/// software:`; `redop`; of rccl-tests `inplace` and `gpusperrank`; of nccl-tests -I its spread. Others are not
/// read, but a file with the host's times alone (-C 1) is refused.
/// Rows of size 0, and rows without a time, are skipped. \param op of a file with a column of operations the
/// one whose rows are taken; of others what they are, whatever their comment says \throws ConfigError for a
/// column that is missing, or an operation that nobody names
MeasuredTables read_measured_tables(const HeadedTable& file, const std::vector<CellFilter>& filters,
                                    std::optional<CollectiveKind> op);

}}  // namespace c3::importers
