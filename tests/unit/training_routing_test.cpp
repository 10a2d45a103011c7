// Experts that are not equally busy: shares, rows and bytes by position, and steps beside balanced ones.

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <utility>
#include <vector>

#include "configs/jobs/experiment_reader.hpp"
#include "gpu/kernels/gemm/gemm_shape.hpp"
#include "tests/support/near.hpp"
#include "tests/support/print_units.hpp"
#include "tests/unit/training_setups.hpp"
#include "workloads/execute/run.hpp"
#include "workloads/training/expert_loads.hpp"
#include "workloads/training/routing.hpp"

namespace c3::training_routing_test {

using namespace test;

namespace {

constexpr int kRouted = 8;  // ranks, and experts
constexpr std::int64_t kRoutedLayers = 2;

/// Eight experts on eight ranks, two a token; 256 tokens make 512 rows.
TrainingSetup routed_setup(Routing routing, std::vector<double> shares = {}) {
  TrainingSetup setup = llama_setup(kRoutedLayers);
  setup.framework = megatron_framework();
  setup.framework.attention = AttentionCode::flash2;
  setup.framework.dropout = false;
  setup.sharding = Sharding::none;
  setup.model.experts = ExpertDimensions{.experts = kRouted, .per_token = 2, .width = 96};
  setup.experts.ranks = kRouted;
  setup.experts.routing = routing;
  setup.experts.shares = std::move(shares);
  return setup;
}

/// Rows of the experts' first product in the forward passes of the ranks at \p position.
std::vector<std::int64_t> rows_at(const WrittenStep& step, std::size_t position) {
  std::vector<std::int64_t> rows;
  for_each_operation(step.program.scripts[position], [&](const Operation& operation) {
    const auto* product = shape_of<GemmShape>(operation);
    const bool is_forward = step.program.range_of(operation).starts_with("forward");
    if (product != nullptr && is_forward && step.program.name_of(operation) == "experts.gate_up")
      rows.push_back(product->m);
  });
  return rows;
}

Seconds time_of(const TrainingSetup& setup) {
  Experiment experiment;
  experiment.name = "routed";
  experiment.cluster = load_cluster("h100-sxm-8");
  experiment.measure.loss_split = false;
  experiment.measure.estimate = Estimator::none;
  experiment.measure.kernel_grain = experiment.measure.vector_grain = KernelGrain::fluid;
  experiment.measure.fold = Fold::none;
  set_training(experiment, setup);
  Strategy strategy;
  strategy.name = "default";
  return run_once(experiment, strategy, {}).time;
}

}  // namespace

TEST_CASE("drawn shares of a layer add up to 1, and no expert gets more than one token of each choice") {
  TrainingSetup setup = routed_setup(Routing::dirichlet);
  setup.experts.concentration = 0.05;  // very uneven
  const ExpertLoads loads = draw_loads(setup, 1);
  REQUIRE(loads.positions() == kRouted);
  for (std::int64_t layer = 0; layer < kRoutedLayers; ++layer) {
    double sum = 0.0;
    for (int position = 0; position < kRouted; ++position) {
      CHECK(loads.share(layer, position) <= 0.5 + 1e-9);  // two experts a token
      sum += loads.share(layer, position);
    }
    CHECK(sum == near(1.0, 1e-12));
  }
  CHECK(loads.busiest() > 3.0);
  CHECK(loads.share(0, 0) != loads.share(1, 0));  // drawn anew
  CHECK(draw_loads(setup, 1).share(1, 3) == loads.share(1, 3));
  setup.experts.routing_seed = 2;
  CHECK(draw_loads(setup, 1).share(1, 3) != loads.share(1, 3));
}

TEST_CASE("the more even the distribution, the nearer the busiest rank is to an even share") {
  TrainingSetup setup = routed_setup(Routing::dirichlet);
  double before = 8.0;
  for (const double concentration : {0.1, 1.0, 10.0, 1000.0, 1e6}) {
    setup.experts.concentration = concentration;
    const double busiest = draw_loads(setup, 1).busiest();
    CHECK(busiest < before);
    CHECK(busiest >= 1.0);
    before = busiest;
  }
  CHECK(before < 1.01);
}

TEST_CASE("of several replicas the one counts that waits longest for its busiest ranks") {
  TrainingSetup setup = routed_setup(Routing::dirichlet);
  const double one = draw_loads(setup, 1).busiest();
  const double many = draw_loads(setup, 64).busiest();
  CHECK(draw_loads(setup, 2).busiest() >= one);
  CHECK(many >= draw_loads(setup, 8).busiest());
  CHECK(many > one);
}

TEST_CASE("rows and bytes of each rank follow its experts' shares, and nothing is lost") {
  const std::vector<double> shares = {6, 2, 1, 1, 2, 2, 1, 1};  // of 16
  const WrittenStep step = training_step(routed_setup(Routing::histogram, shares), kRouted);
  REQUIRE(step.program.scripts.size() == kRouted);
  for (std::size_t position = 0; position < kRouted; ++position) {
    const auto rows = rows_at(step, position);
    REQUIRE(rows.size() == kRoutedLayers);
    for (const std::int64_t received : rows)  // 8 ranks of 512 rows
      CHECK(received == std::llround(8 * 512 * shares[position] / 16));
  }
  const auto calls = calls_of(step, "dispatch", CollectiveKind::all_to_all_v);
  REQUIRE(calls.size() == 4 * kRoutedLayers);
  const double of_a_rank = 512 * 2.0 * 512;  // rows of 512 numbers
  for (std::size_t call = 0; call < 2; ++call) {
    REQUIRE(calls[call].sends.size() == kRouted * kRouted);
    for (std::size_t from = 0; from < kRouted; ++from) {
      for (std::size_t to = 0; to < kRouted; ++to) {
        // There every rank sends as much to an expert; back an expert sends as much to every rank.
        const double share = shares[call == 0 ? to : from] / 16;
        CHECK(calls[call].sends[from * kRouted + to].value == near(of_a_rank * share, 1e-12));
      }
    }
  }
}

TEST_CASE("balanced routing written as a histogram is the balanced step: rows, bytes, flops and time") {
  const TrainingSetup even = routed_setup(Routing::balanced);
  const TrainingSetup histogram = routed_setup(Routing::histogram, std::vector<double>(kRouted, 3.0));
  const WrittenStep balanced = training_step(even, kRouted), written = training_step(histogram, kRouted);
  for (std::size_t position = 0; position < kRouted; ++position)
    CHECK(rows_at(written, position) == rows_at(balanced, 0));
  const CollectiveCall one = calls_of(balanced, "dispatch", CollectiveKind::all_to_all).front();
  const CollectiveCall uneven = calls_of(written, "dispatch", CollectiveKind::all_to_all_v).front();
  for (const Bytes sent : uneven.sends)
    CHECK(sent.value == near(one.bytes.value / kRouted, 1e-12));
  CHECK(written.facts.model_flops().value == near(balanced.facts.model_flops().value, 1e-12));
  CHECK(written.facts.memory.bytes.value == near(balanced.facts.memory.bytes.value, 1e-12));
  CHECK(time_of(histogram).value == near(time_of(even).value, 1e-9));
}

TEST_CASE("the busiest rank decides: a step of uneven experts takes longer, by more the more uneven they are") {
  const Seconds even = time_of(routed_setup(Routing::balanced));
  const Seconds some = time_of(routed_setup(Routing::histogram, {2, 1, 1, 1, 1, 1, 1, 1}));
  const Seconds much = time_of(routed_setup(Routing::histogram, {7, 1, 1, 1, 1, 1, 1, 1}));
  CHECK(some > even);
  CHECK(much > some);
}

TEST_CASE("with a capacity experts' rows are filled up, whatever the shares") {
  TrainingSetup setup = routed_setup(Routing::histogram, {7, 1, 1, 1, 1, 1, 1, 1});
  setup.experts.capacity_factor = 1.0;
  const WrittenStep step = training_step(setup, kRouted);
  CHECK(rows_at(step, 0) == rows_at(step, 7));
  CHECK(calls_of(step, "dispatch", CollectiveKind::all_to_all).size() == 4 * kRoutedLayers);
}

TEST_CASE("uneven routing is refused without expert parallelism, and a histogram of another size") {
  TrainingSetup setup = routed_setup(Routing::dirichlet);
  setup.experts.ranks = 1;
  CHECK_THROWS_WITH_AS(training_step(setup, kRouted),
                       "routing: \"dirichlet\" requires expert_parallel > 1 (it is 1)", std::invalid_argument);
  CHECK_THROWS_WITH_AS(training_step(routed_setup(Routing::histogram, {1, 2}), kRouted),
                       "routing_shares: must have a number for each of the 8 experts (it has 2)",
                       std::invalid_argument);
}

}  // namespace c3::training_routing_test
