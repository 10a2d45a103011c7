#include "workloads/execute/run_cluster.hpp"

#include <utility>

#include "workloads/execute/folding.hpp"
#include "workloads/execute/gpu_speeds.hpp"

namespace c3 { inline namespace workloads {

ClusterSpec cluster_spec(const Experiment& experiment, const Strategy& strategy) {
  ClusterSpec cluster = experiment.cluster;
  if (strategy.hbm_arbitration) cluster.gpu.hbm.arbitration = *strategy.hbm_arbitration;
  cluster.gpu.simulation.memory_grain = experiment.measure.memory_grain;
  return cluster;
}

ClusterSetup cluster_setup(const Experiment& experiment, const Strategy& strategy, Isolation isolation,
                           std::uint64_t seed, std::shared_ptr<const RankPartition> classes,
                           std::shared_ptr<const FoldedSchedules> schedules) {
  ClusterSetup cluster;
  cluster.gpu.streams = experiment.program.streams;
  cluster.gpu.isolation = isolation;
  cluster.gpu.seed = (experiment.measure.seed << 20U) + seed;
  cluster.folded = folds(experiment, strategy);
  cluster.classes = std::move(classes);
  cluster.schedules = std::move(schedules);
  cluster.folding = experiment.measure.fold == Fold::exact ? LinkFolding::exact : LinkFolding::mean;
  cluster.reaches_hosts = reaches_hosts(experiment.program);
  cluster.slower = slower_gpus(experiment.cluster.gpu.compute.speed_spread, experiment.cluster.ranks(),
                               cluster.folded || cluster.classes != nullptr, cluster.gpu.seed);
  return cluster;
}

RankPartition partition_of(int ranks, bool folded, const RankPartition* classes) {
  if (folded) return RankPartition::together(ranks);
  return classes == nullptr ? RankPartition::each(ranks) : *classes;
}

}}  // namespace c3::workloads
