// Fully sharded parameters of models with experts: two kinds of units, among other ranks each.

#include <doctest/doctest.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/support/near.hpp"
#include "tests/support/print_units.hpp"
#include "tests/unit/training_setups.hpp"

namespace c3::training_fsdp_experts_test {

using namespace test;

namespace {

constexpr int kShardedRanks = 16, kShardedExpertRanks = 4;
constexpr std::int64_t kShardedHidden = 512, kShardedWidth = 96;
/// Parameters of a rank: two of eight experts of three matrices.
constexpr std::int64_t kOfExperts = 2 * 3 * kShardedHidden * kShardedWidth;
/// Attention, two norms, the router.
constexpr std::int64_t kOfOthers =
    3 * kShardedHidden * kShardedHidden + 2 * kShardedHidden + kShardedHidden * 8;
constexpr std::int64_t kOfRoot = 2 * 1000 * kShardedHidden + kShardedHidden;

/// Four replicas of four ranks that have two experts each, in bf16 of fp32 parameters.
TrainingSetup sharded_experts(std::int64_t layers = 3) {
  TrainingSetup setup = llama_setup(layers);
  setup.framework.prefetch = 1;
  setup.model.experts = ExpertDimensions{.experts = 8, .per_token = 2, .width = kShardedWidth};
  setup.experts.ranks = kShardedExpertRanks;
  return setup;
}

std::vector<CollectiveCall> of_groups(std::vector<CollectiveCall> calls, bool has_groups) {
  std::erase_if(calls, [&](const CollectiveCall& call) { return call.groups.has_value() != has_groups; });
  return calls;
}

/// Names of what the host launches on \p stream, with the ranges in which it does.
std::vector<std::string> launches_on(const WrittenStep& step, const std::string& stream,
                                     const std::string& end) {
  std::vector<std::string> names;
  for (const Placed& placed : named(step, stream, ""))
    if (placed.name.ends_with(end)) names.push_back(placed.range + ": " + placed.name);
  return names;
}

std::string refusal_of_sharded(const TrainingSetup& setup, int ranks = kShardedRanks) {
  return refusal_of_step(setup, ranks);
}

}  // namespace

TEST_CASE("FSDP gathers a layer's experts over the ranks that have the same, and all else over all") {
  // Forward all three layers, backward all but the last, which stays. Two bytes a parameter.
  const auto calls =
      calls_of(training_step(sharded_experts(), kShardedRanks), "all_gather", CollectiveKind::all_gather);
  const auto experts = of_groups(calls, true), others = of_groups(calls, false);
  CHECK(experts.size() == 3 + 2);
  CHECK(others.size() == 1 + 3 + 2);
  CHECK(bytes_of(experts) == Bytes{2.0 * 5 * kOfExperts});
  CHECK(bytes_of(others) == Bytes{2.0 * (kOfRoot + 5 * kOfOthers)});
  for (const CollectiveCall& call : experts)
    CHECK(*call.groups == RankGroups{.size = 4, .stride = 4});
}

TEST_CASE("FSDP reduces and scatters gradients of experts and of all else apart, each micro-batch") {
  TrainingSetup setup = sharded_experts();
  setup.micro_batches = 2;
  const auto calls =
      calls_of(training_step(setup, kShardedRanks), "reduce_scatter", CollectiveKind::reduce_scatter);
  CHECK(bytes_of(of_groups(calls, true)) == Bytes{4.0 * 2 * 3 * kOfExperts});
  CHECK(bytes_of(of_groups(calls, false)) == Bytes{4.0 * 2 * (kOfRoot + 3 * kOfOthers)});
  CHECK(*of_groups(calls, true).front().groups == RankGroups{.size = 4, .stride = 4});
}

TEST_CASE("FSDP keeps a quarter of a rank's experts and a sixteenth of all else: parameters and two moments") {
  const MemoryPeak peak = training_step(sharded_experts(), kShardedRanks).facts.memory;
  const double shards = 3.0 * kOfExperts / 4 + (3.0 * kOfOthers + kOfRoot) / 16;  // both divide
  CHECK(peak.of(MemoryClass::optimizer) == Bytes{2 * 4 * shards});
  double held = 0.0;
  for (const MemoryTenant& tenant : peak.tenants)
    if (tenant.name == "shards" && tenant.memory_class == MemoryClass::weights) held += tenant.bytes.value;
  CHECK(held == 4 * shards);
}

TEST_CASE("FSDP gathers a layer and its experts while the layer before runs, forward and backward") {
  const auto gathers = launches_on(training_step(sharded_experts(), kShardedRanks), "all_gather", "all_gather");
  CHECK(gathers == std::vector<std::string>{
                       "forward, embedding: root all_gather", "forward, embedding: layer 0 all_gather",
                       "forward, layer 0: layer 1 all_gather", "forward, layer 0: layer 1 experts all_gather",
                       "forward, layer 0: layer 0 experts all_gather", "forward, layer 1: layer 2 all_gather",
                       "forward, layer 1: layer 2 experts all_gather", "backward, layer 2: layer 1 all_gather",
                       "backward, layer 2: layer 1 experts all_gather", "backward, layer 1: layer 0 all_gather",
                       "backward, layer 1: layer 0 experts all_gather"});
}

TEST_CASE("FSDP copies experts out behind the router, before tokens leave, and reduces them before attention") {
  const WrittenStep step = training_step(sharded_experts(), kShardedRanks);
  const HappensBefore before(step);
  const auto first = [&](const std::string& stream, const std::string& name, const std::string& range) {
    for (const Placed& placed : named(step, stream, name))
      if (placed.range == range) return placed.place;
    FAIL("no ", name, " in ", range);
    return OperationPlace{};
  };
  const std::string forward = "forward, layer 1", backward = "backward, layer 1";
  const auto out = first("compute", "layer 1 experts copy out", forward);
  CHECK(before(first("all_gather", "layer 1 experts all_gather", "forward, layer 0"), out));
  CHECK(before(first("compute", "mlp.router", forward), out));
  CHECK(before(out, first("dispatch", "dispatch ", forward)));
  // Attention of the layer does not wait for its experts.
  CHECK(before(first("all_gather", "layer 2 all_gather", forward),
               first("compute", "attn.qkv", "forward, layer 2")));
  CHECK_FALSE(before(first("all_gather", "layer 2 experts all_gather", forward),
                     first("compute", "attn.qkv", "forward, layer 2")));
  const auto again = first("compute", "layer 1 experts copy out", backward);
  CHECK(before(again, first("dispatch", "combine backward ", backward)));
  const auto in = first("compute", "layer 1 experts copy in", backward);
  CHECK(before(first("compute", "experts.gate_up", backward), in));
  CHECK(before(in, first("compute", "attn.out", backward)));
  CHECK(before(in, first("reduce_scatter", "layer 1 experts reduce_scatter", backward)));
  CHECK_FALSE(before(first("reduce_scatter", "layer 1 experts reduce_scatter", backward),
                     first("compute", "attn.out", backward)));
}

TEST_CASE("experts and all else share two gather buffers and one reduction in flight") {
  const WrittenStep step = training_step(sharded_experts(), kShardedRanks);
  const HappensBefore before(step);
  const auto first = [&](const std::string& stream, const std::string& name) {
    const auto found = named(step, stream, name);
    REQUIRE(!found.empty());
    return found.front().place;
  };
  CHECK(before(first("compute", "layer 0 experts copy out"), first("all_gather", "layer 2 all_gather")));
  CHECK(before(first("reduce_scatter", "layer 1 experts reduce_scatter"), first("compute", "layer 1 copy in")));
  CHECK(before(first("reduce_scatter", "layer 2 reduce_scatter"), first("compute", "layer 1 experts copy in")));
}

TEST_CASE("what runs again in a backward pass finds the experts of that pass") {
  // Megatron-LM computes a layer again to its end.
  for (const KernelStyle style : {KernelStyle::eager, KernelStyle::megatron}) {
    TrainingSetup setup = sharded_experts();
    setup.recompute = Recompute::full;
    setup.framework.kernels = style;
    const WrittenStep step = training_step(setup, kShardedRanks);
    CHECK(launches_on(step, "compute", "experts copy out") ==
          std::vector<std::string>{"forward, layer 0: layer 0 experts copy out",
                                   "forward, layer 1: layer 1 experts copy out",
                                   "forward, layer 2: layer 2 experts copy out",
                                   "backward, layer 1, recompute: layer 1 experts copy out",
                                   "backward, layer 0, recompute: layer 0 experts copy out"});
    CHECK(launches_on(step, "reduce_scatter", "experts reduce_scatter").size() == 3);
    // Experts stay until the last product with their weights.
    setup.micro_batches = 2;
    const auto peak = training_step(setup, kShardedRanks).facts.memory.bytes;
    setup.micro_batches = 4;
    CHECK(training_step(setup, kShardedRanks).facts.memory.bytes == peak);
  }
}

TEST_CASE("where nobody has the same experts they are cast and copied, but neither gathered nor reduced") {
  TrainingSetup setup = sharded_experts();
  setup.experts.ranks = 8;
  const WrittenStep step = training_step(setup, 8);
  CHECK(of_groups(calls_of(step, "all_gather", CollectiveKind::all_gather), true).empty());
  CHECK(of_groups(calls_of(step, "reduce_scatter", CollectiveKind::reduce_scatter), true).empty());
  CHECK(calls_of(step, "all_gather", CollectiveKind::all_gather).size() == 6);
  CHECK(launches_on(step, "all_gather", "experts cast").size() == 5);
  CHECK(launches_on(step, "compute", "experts copy out").size() == 5);
}

TEST_CASE("all micro-batches of FSDP with experts need as much memory as two: nothing is left behind") {
  for (const Recompute recompute : {Recompute::none, Recompute::selective, Recompute::full}) {
    for (const int expert_ranks : {kShardedExpertRanks, 8}) {
      TrainingSetup setup = sharded_experts(4);
      setup.recompute = recompute;
      setup.experts.ranks = expert_ranks;
      setup.model.experts->dense_layers = 1;
      const auto peak = [&](std::int64_t micro_batches) {
        setup.micro_batches = micro_batches;
        return training_step(setup, kShardedRanks).facts.memory.bytes;
      };
      CHECK(peak(2) == peak(5));
    }
  }
}

TEST_CASE("replicas of a group divide the ranks with the same experts, too, and sum their shards of both") {
  // Two groups of eight of sixteen ranks: two of four ranks with the same experts share a shard's gather.
  for (const Sharding sharding : {Sharding::parameters, Sharding::optimizer}) {
    TrainingSetup setup = sharded_experts();
    setup.sharding = sharding;
    setup.shard_group = 8;
    const WrittenStep step = training_step(setup, kShardedRanks);
    const bool is_full = sharding == Sharding::parameters;
    std::vector<RankGroups> gathered;
    for (const char* stream : {"all_gather", "expert_all_gather"})
      for (const CollectiveCall& call : calls_of(step, stream, CollectiveKind::all_gather))
        gathered.push_back(call.groups.value());
    CHECK(std::ranges::count(gathered, RankGroups{.size = 2, .stride = 4}) == (is_full ? 5 : 1));
    const auto sums = calls_of(step, is_full ? "replicas" : "expert_gradients", CollectiveKind::all_reduce);
    const auto of_experts = std::ranges::count(sums, RankGroups{.size = 2, .stride = 8},
                                               [](const CollectiveCall& call) { return call.groups.value(); });
    CHECK(of_experts >= 1);
    Bytes summed;
    for (const CollectiveCall& call : sums)
      summed += call.bytes;
    if (is_full) CHECK(summed == Bytes{4.0 * (3 * kOfExperts / 2 + (3 * kOfOthers + kOfRoot) / 8)});
    if (!is_full) CHECK(summed.value == near(4.0 * 3 * kOfExperts / 2, 1e-3));
  }
}

TEST_CASE("FSDP with experts refuses what would gather them otherwise") {
  TrainingSetup setup = sharded_experts();
  setup.framework.flat_parameters = true;
  CHECK(refusal_of_sharded(setup).starts_with("sharding: fsdp with expert_parallel > 1 requires a framework"));
  setup = sharded_experts();
  setup.graphs = StepGraphs::layers;
  CHECK(refusal_of_sharded(setup).starts_with("graphs: cannot be \"layers\""));
  setup = sharded_experts();
  setup.shard_group = 2;
  CHECK(
      refusal_of_sharded(setup) ==
      "shard_group: makes 8 replicas, so that the 4 ranks that have the same experts must be a multiple of 8");
  setup = sharded_experts();
  setup.micro_batches = 2;
  setup.experts.micro_batch_overlap = true;
  CHECK(refusal_of_sharded(setup) ==
        "micro_batch_overlap: requires sharding = \"ddp\", \"zero1\" or \"zero2\" (it is \"fsdp\")");
}

}  // namespace c3::training_fsdp_experts_test
