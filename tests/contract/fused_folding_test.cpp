// Kernels fused with the sums of their outputs (T3) on several nodes: one rank of each class for all of them.

#include <doctest/doctest.h>

#include <string>

#include "engine/errors.hpp"
#include "gpu/kernels/gemm/gemm_shape.hpp"
#include "tests/support/folded_runs.hpp"
#include "tests/support/mi300x_like.hpp"
#include "tests/support/random_programs.hpp"
#include "tests/unit/training_setups.hpp"

namespace c3::fused_folding_test {

using namespace literals;
using namespace test;

namespace {

ClusterSpec with_trackers(int nodes, bool mesh) {
  ClusterSpec cluster = nodes_of_eight(nodes, mesh, one_switch(8));
  cluster.gpu = mi300x_like_trainer();
  cluster.gpu.trigger = {.tracker_entries = 1024, .staging_window = 1.0_MB, .near_memory_update = 1.15};
  return cluster;
}

Strategy fused(const std::string& stream, Algorithm algorithm) {
  Strategy strategy = kStrategy;
  strategy.streams[stream].backend = Backend::fused;
  strategy.streams[stream].method.algorithm = algorithm;
  return strategy;
}

/// A product whose output groups of \p members add up, beside a sum over one GPU of each node.
Experiment product_and_sum(const ClusterSpec& cluster, int members) {
  const GemmShape gemm{.m = 4096, .n = 4096, .k = 1024, .dtype = DType::bf16};
  const Bytes output{2.0 * 4096 * 4096};
  const CollectiveCall within = call(CollectiveKind::reduce_scatter, output, RankGroups{members, 1});
  const CollectiveCall across = call(CollectiveKind::all_reduce, 64.0_MB, RankGroups{cluster.nodes, 8});
  const std::vector<WrittenStream> streams = {
      {"compute", {{"gemm", gemm}, {"record made", WrittenRecord{"made"}}}},
      {"sum", {{"wait made", WrittenWait{"made"}}, {"scatter", within}}},
      {"other", {{"all_reduce", across}}}};
  return experiment_of(cluster, program_of(streams, cluster.ranks()));
}

}  // namespace

TEST_CASE("a product fused with a sum within each node takes as long through classes as rank by rank") {
  for (const bool mesh : {false, true}) {
    for (const Algorithm algorithm : {Algorithm::ring, Algorithm::direct}) {
      for (const int members : {8, 4}) {
        CAPTURE(mesh);
        CAPTURE(members);
        const Experiment experiment = product_and_sum(with_trackers(2, mesh), members);
        const Strategy strategy = fused("sum", algorithm);
        const RunResult mean = run(experiment, Fold::mean, strategy);
        CHECK(factor(mean, experiment) >= 4.0);
        check_folded(experiment, run(experiment, Fold::none, strategy), mean, strategy);
      }
    }
  }
}

TEST_CASE("where members of a fused group are unlike, every rank is simulated") {
  ClusterSpec cluster = with_trackers(2, false);
  cluster.stragglers.push_back({.name = "slow", .ranks = {3}, .condition = {.factor = 1.2}});
  const Experiment experiment = product_and_sum(cluster, 8);
  CHECK(run(experiment, Fold::mean, fused("sum", Algorithm::ring)).classes.size() == 16);
}

TEST_CASE("a group over several nodes cannot be fused with its kernel") {
  Experiment experiment = product_and_sum(with_trackers(2, false), 16);
  CHECK_THROWS_WITH_AS(run(experiment, Fold::mean, fused("sum", Algorithm::ring)),
                       doctest::Contains("supports only GPUs of one node"), InfeasibleError);
}

TEST_CASE("a training step whose sums are fused with its products folds over nodes, and takes as long") {
  TrainingSetup setup = llama_setup(1);
  setup.model.hidden = 2048;
  setup.model.ffn = 8192;
  setup.model.heads = setup.model.kv_heads = 16;
  setup.sequence = 1024;
  setup.tensor_parallel = 8;
  setup.sequence_parallel = true;
  const ClusterSpec cluster = with_trackers(2, false);
  const Experiment experiment = experiment_of(cluster, training_step(setup, cluster.ranks()).program);
  const Strategy strategy = fused("tensor", Algorithm::ring);
  const RunResult mean = run(experiment, Fold::mean, strategy);
  CHECK(mean.classes.size() == 1);
  const RunResult all = run(experiment, Fold::none, strategy);
  CHECK(all.classes.size() == 16);
  CHECK(std::abs(mean.time / all.time - 1.0) <= tolerance(experiment, all, mean));
}

}  // namespace c3::fused_folding_test
