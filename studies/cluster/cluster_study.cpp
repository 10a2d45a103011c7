#include "studies/study_table.hpp"

#include "studies/cluster/cluster_part.hpp"

namespace c3 { inline namespace studies {

StudyOutcome reproduce_cluster(const StudyInput& input, const PublishedFigures& published,
                               const StudyProgress& progress) {
  StudyOutcome outcome;
  const FirstTable first(study_file("cluster", "first.csv"));
  ClusterStepsPart steps(read_measured_steps("cluster", input.data, first, outcome.broken));
  SimulationJobs jobs;
  steps.plan(jobs);
  run_simulations(jobs, progress, input.processes);
  outcome.report = {steps.errors(published),   steps.scaling(published),   steps.precisions(published),
                    steps.rankings(published), steps.intervals(published), steps.rows(published)};
  if (input.wants_rows) outcome.rows_csv = steps.rows_csv();
  return outcome;
}

}}  // namespace c3::studies
