#pragma once
/// One result file, read as far as the page needs it.

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "results/buffer_tables.hpp"
#include "results/report/timeline.hpp"
#include "workloads/analysis/study.hpp"

namespace c3 { inline namespace results {

/// What the GPU has, from the capacities of its resources.
struct GpuFact {
  std::string what;
  std::string value;
};

struct ReportRun {
  std::string label;  ///< the system; of two with the same one the file's name is added
  std::string file;
  std::vector<std::pair<std::string, std::string>> attributes;  ///< attributes of the file's root
  StudyResult study;                                            ///< results of the chosen strategies
  std::vector<StrategyTimeline> timelines;                      ///< one per strategy of the study
  std::vector<RecordedBuffers> buffers = {};                    ///< likewise
  std::string gpu;
  int ranks = 1;
  std::vector<GpuFact> facts;
  std::string incomplete = {};  ///< why strategies are missing, and which; empty in a complete file
  std::string other_work =
      {};  ///< keys of its work that differ from the first run's, with both values; or empty

  /// \returns the strategy's place in study and timelines, if it is there.
  std::optional<std::size_t> index_of(const std::string& strategy) const;
};

/// \p strategies empty: all. Those that the file lacks are left out. \throws IoError
ReportRun read_report_run(const ResultReader& file, const std::vector<std::string>& strategies);

}}  // namespace c3::results
