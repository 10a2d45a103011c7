#pragma once
/// The given traces, read and reported on once for all parts of the study.

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "studies/jobs.hpp"
#include "workloads/traces/execution/execution_trace.hpp"
#include "workloads/traces/import_report.hpp"
#include "workloads/traces/rank_record.hpp"

namespace c3 { inline namespace studies {

/// Traces of one run, one rank or all.
struct TraceRun {
  std::string name;  ///< of the file without its ending, or of the folder: "a100_dlrm_rank3of8"
  std::vector<Rank> ranks;
  std::vector<ExecutionTrace> executions;  ///< of the same ranks; empty where not every rank has one
  ImportReport report;
};

class TraceRuns {
 public:
  /// \param traces folder with `megatron_tp8_a100/`, `hta/`, `pytorch_et/`, `tracelens/`; what is not in it is
  /// left out
  explicit TraceRuns(std::filesystem::path traces);

  /// Reads them. Files that are no Kineto traces, and traces without GPU work, are left out.
  void plan(Jobs& jobs);

  /// Nullptr where the trace is not there.
  const TraceRun* find(std::string_view name) const;
  /// All of them, in the order of folders. Valid once the jobs are done.
  std::vector<const TraceRun*> all() const;
  /// One line for each of \p names that is not there.
  std::vector<std::string> missing(const std::vector<std::string_view>& names) const;

 private:
  struct Slot {
    std::string name;
    std::vector<std::filesystem::path> files;
    std::unique_ptr<TraceRun> run;
  };

  std::filesystem::path traces_;
  std::vector<Slot> slots_;
};

}}  // namespace c3::studies
