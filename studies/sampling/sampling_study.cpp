#include "studies/study_table.hpp"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "studies/jobs.hpp"
#include "studies/sampling/parts.hpp"

namespace c3 { inline namespace studies {

StudyOutcome reproduce_sampling(const StudyInput& input, const PublishedFigures& published,
                                const StudyProgress& progress) {
  TraceRuns runs(input.data / "traces");
  Jobs reading;
  runs.plan(reading);
  run_jobs(reading, progress);
  std::vector<StudyReport> parts(7);
  const Jobs jobs{[&] { parts[0] = reference_sections(published); },
                  [&] { parts[1] = recorded_sections(runs, published); },
                  [&] { parts[2] = long_sections(runs, published); },
                  [&] { parts[3] = step_sections(runs, published); },
                  [&] { parts[4] = length_sections(input.data / "sampling", published); },
                  [&] { parts[5] = epoch_sections(input.data / "sampling", published); },
                  [&] { parts[6] = loop_sections(published); }};
  run_jobs(jobs, progress);
  StudyOutcome outcome;
  for (StudyReport& part : parts)
    std::ranges::copy_if(part, std::back_inserter(outcome.report),
                         [](const StudySection& section) { return !section.lines.empty(); });
  outcome.notices = runs.missing(sampled_traces());
  return outcome;
}

}}  // namespace c3::studies
