#include "studies/cluster/cluster_study.hpp"

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
namespace {

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

std::vector<StudyFile> files_of_study() {
  std::vector<StudyFile> files(kStepTables.begin(), kStepTables.end());
  files.insert(files.end(), kClusterTables.begin(), kClusterTables.end());
  files.push_back(kBridgeTable);
  files.push_back(kLoraTable);
  return files;
}

}  // namespace

Study cluster_study() {
  return {.name = "cluster",
          .about =
              "Training steps on 8 to 2,048 GPUs beside measured ones: pipelines, context parallelism, "
              "experts, 8 and 4 bits, LoRA",
          .files = files_of_study(),
          .run = reproduce_cluster,
          .has_rows = true};
}

}}  // namespace c3::studies
