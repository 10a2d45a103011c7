#include "studies/study_table.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "studies/traces/parts.hpp"
#include "studies/traces/trace_runs.hpp"

namespace c3 { inline namespace studies {
namespace {

std::vector<std::string_view> named_traces() {
  std::vector<std::string_view> names{kMegatronRun,  kDlrmRun,      kDdpRun,
                                      kMi300xDdpRun, kEventSyncRun, kAlexnetRun};
  for (const TracePair& pair : kTracePairs)
    names.insert(names.end(), {pair.h100, pair.mi300x});
  return names;
}

}  // namespace

StudyOutcome reproduce_traces(const StudyInput& input, const PublishedFigures& published,
                              const StudyProgress& progress) {
  TraceRuns runs(input.data / "traces");
  Jobs jobs;
  runs.plan(jobs);
  run_jobs(jobs, progress);
  StudyOutcome outcome;
  for (StudyReport part : {replay_sections(runs, published), import_sections(runs, published),
                           all_reduce_sections(runs, published), retiming_sections(runs, published),
                           benchmark_sections(runs, published), round_trip_sections(published)}) {
    std::ranges::copy_if(part, std::back_inserter(outcome.report),
                         [](const StudySection& section) { return !section.lines.empty(); });
  }
  outcome.notices = runs.missing(named_traces());
  return outcome;
}

}}  // namespace c3::studies
