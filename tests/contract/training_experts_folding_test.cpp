// Training steps with experts, equally busy or not: classes of ranks for all of them, against every rank by
// itself.

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "tests/support/folded_runs.hpp"
#include "tests/support/mi300x_like.hpp"
#include "tests/support/random_programs.hpp"
#include "tests/unit/training_setups.hpp"

namespace c3::training_experts_folding_test {

using namespace test;

namespace {

/// Two nodes of eight GPUs; eight experts on so many ranks.
Experiment folded_experts(const TrainingSetup& setup) {
  ClusterSpec cluster = nodes_of_eight(2, false, one_switch(8));
  cluster.gpu = mi300x_like_trainer();
  Experiment experiment = experiment_of(cluster, training_step(setup, cluster.ranks()).program);
  experiment.measure.kernel_grain = experiment.measure.vector_grain = KernelGrain::fluid;
  return experiment;
}

TrainingSetup busy_experts(Routing routing, int expert_ranks = 4) {
  TrainingSetup setup = llama_setup(2);
  setup.framework = megatron_framework();
  setup.framework.attention = AttentionCode::flash2;
  setup.framework.dropout = false;
  setup.sharding = Sharding::optimizer;
  setup.model.experts = ExpertDimensions{.experts = 8, .per_token = 2, .width = 96};
  setup.experts.ranks = expert_ranks;
  setup.experts.routing = routing;
  setup.experts.concentration = 1.0;
  return setup;
}

}  // namespace

TEST_CASE("steps of experts that are not equally busy take as long by classes of ranks as rank by rank") {
  for (const Dispatch dispatch : {Dispatch::alltoall, Dispatch::deepep, Dispatch::allgather}) {
    for (const int expert_ranks : {4, 8}) {
      CAPTURE(name_of(dispatch));
      CAPTURE(expert_ranks);
      TrainingSetup setup = busy_experts(Routing::dirichlet, expert_ranks);
      setup.experts.dispatch = dispatch;
      const Experiment experiment = folded_experts(setup);
      const RunResult all = run(experiment, Fold::none), mean = run(experiment, Fold::mean);
      // A class for each position of the expert group, whatever replica it is of.
      CHECK(mean.classes.size() == static_cast<std::size_t>(expert_ranks));
      check_folded(experiment, all, mean);
    }
  }
}

TEST_CASE("a histogram of equal shares is folded as equally busy experts are, and takes as long") {
  const Experiment balanced = folded_experts(busy_experts(Routing::balanced));
  TrainingSetup setup = busy_experts(Routing::histogram);
  setup.experts.shares = std::vector<double>(8, 3.0);
  const Experiment histogram = folded_experts(setup);
  const RunResult all = run(balanced, Fold::none);
  CHECK(run(histogram, Fold::none).time.value == near(all.time.value, 1e-9));
  check_folded(balanced, all, run(balanced, Fold::mean));
  check_folded(histogram, run(histogram, Fold::none), run(histogram, Fold::mean));
}

TEST_CASE("experts under FSDP, behind Hybrid-EP, and with delayed gradients of weights are folded, too") {
  std::vector<TrainingSetup> setups(3, busy_experts(Routing::balanced, 4));
  setups[0].framework = eager_framework();
  setups[0].sharding = Sharding::parameters;
  setups[1].experts.ranks = 8;
  setups[1].experts.node_ranks = 4;
  setups[1].experts.dispatch = Dispatch::hybridep;
  setups[2].micro_batches = 3;
  setups[2].experts.micro_batch_overlap = setups[2].experts.delayed_weight_gradients = true;
  for (std::size_t i = 0; i < setups.size(); ++i) {
    CAPTURE(i);
    const Experiment experiment = folded_experts(setups[i]);
    const RunResult all = run(experiment, Fold::none), mean = run(experiment, Fold::mean);
    CHECK(mean.classes.size() == 1);
    check_folded(experiment, all, mean);
  }
}

}  // namespace c3::training_experts_folding_test
