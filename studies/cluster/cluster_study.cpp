#include "studies/study_table.hpp"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "studies/cluster/bridge_steps.hpp"
#include "studies/cluster/cluster_part.hpp"
#include "studies/cluster/cluster_steps.hpp"
#include "studies/cluster/lora_steps.hpp"

namespace c3 { inline namespace studies {

StudyOutcome reproduce_cluster(const StudyInput& input, const PublishedFigures& published,
                               const StudyProgress& progress) {
  StudyOutcome outcome;
  const FirstTable first(study_file("cluster", "first.csv"));
  std::vector<MeasuredStep> measured = read_cluster_steps(input.data, outcome.broken);
  std::ranges::move(read_bridge_steps(input.data, outcome.broken), std::back_inserter(measured));
  std::ranges::move(read_lora_steps(input.data, outcome.broken), std::back_inserter(measured));
  ClusterStepsPart steps(std::move(measured));
  SimulationJobs jobs;
  steps.plan(jobs);
  run_simulations(jobs, progress, input.processes);
  outcome.report = {steps.errors(published, first),    steps.scaling(published),
                    steps.precisions(published),       steps.rankings(published),
                    steps.intervals(published, first), steps.rows(published, first)};
  if (input.wants_rows) outcome.rows_csv = steps.rows_csv();
  return outcome;
}

}}  // namespace c3::studies
