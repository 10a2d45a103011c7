#include "studies/study_table.hpp"

#include "studies/bert/parts.hpp"

namespace c3 { inline namespace studies {

StudyOutcome reproduce_bert(const StudyInput& input, const PublishedFigures& published,
                            const StudyProgress& progress) {
  BreakdownPart breakdown;
  SimulationJobs jobs;
  breakdown.plan(jobs);
  run_simulations(jobs, progress, input.processes);
  StudyOutcome outcome{.report = breakdown.sections(published)};
  if (input.wants_rows) outcome.rows_csv = breakdown.rows_csv();
  return outcome;
}

}}  // namespace c3::studies
