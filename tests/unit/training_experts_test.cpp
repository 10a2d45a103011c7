// Expert parallelism in a training step: bytes of dispatch and combine, order, memory, replicas of experts.

#include <doctest/doctest.h>

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "gpu/kernels/operator_table.hpp"
#include "tests/support/near.hpp"
#include "tests/support/print_units.hpp"
#include "tests/unit/training_setups.hpp"
#include "workloads/training/expert_exchange.hpp"
#include "workloads/training/routing.hpp"

namespace c3::training_experts_test {

using namespace test;

namespace {

constexpr int kMoeStepRanks = 16, kMoeStepExpertRanks = 4;
constexpr std::int64_t kMoeStepLayers = 3, kMoeStepHidden = 512, kMoeStepWidth = 96, kMoeStepExperts = 8,
                       kMoeStepChosen = 2;
constexpr double kMoeStepTokens = 256;

/// Two sequences of 128 tokens, each token to two of eight experts of width 96.
TrainingSetup setup_with(Dispatch dispatch = Dispatch::alltoall) {
  TrainingSetup setup = llama_setup(kMoeStepLayers);
  setup.framework = megatron_framework();
  setup.framework.attention = AttentionCode::flash2;
  setup.framework.dropout = false;
  setup.sharding = Sharding::none;
  setup.model.experts =
      ExpertDimensions{.experts = kMoeStepExperts, .per_token = kMoeStepChosen, .width = kMoeStepWidth};
  setup.experts.ranks = kMoeStepExpertRanks;
  setup.experts.dispatch = dispatch;
  return setup;
}

Bytes each_way(const TrainingSetup& setup, CollectiveKind kind) {
  const auto calls = calls_of(training_step(setup, kMoeStepRanks), "dispatch", kind);
  REQUIRE(calls.size() == 4 * kMoeStepLayers);  // dispatch and combine, forward and backward
  for (const CollectiveCall& call : calls) {
    CHECK(call.bytes == calls.front().bytes);
    REQUIRE(call.groups);
    CHECK(*call.groups == RankGroups{.size = kMoeStepExpertRanks, .stride = 1});
  }
  return calls.front().bytes;
}

std::string refusal(const TrainingSetup& setup, int ranks = kMoeStepRanks) {
  return refusal_of_step(setup, ranks);
}

}  // namespace

TEST_CASE("experts have fewer replicas than all else, and buckets of the same size") {
  // 16 ranks in fp16, 4 replicas of each expert: 16 x 8 kB make a bucket, not 4 x 8 kB.
  TrainingSetup setup = setup_with();
  setup.framework.overlaps_gradients = true;
  setup.framework.bucket = setup.framework.first_bucket = Bytes{1e3};
  setup.framework.per_rank_bucket = Bytes{8e3};
  const WrittenStep step = training_step(setup, kMoeStepRanks);
  for (const char* const stream : {"gradients", "expert_gradients"}) {
    CAPTURE(stream);
    const auto calls = calls_of(step, stream, CollectiveKind::all_reduce);
    REQUIRE(calls.size() > 2);
    CHECK(calls.front().bytes == Bytes{128e3});
  }
}

TEST_CASE(
    "dispatch and combine move a copy of each token for each of its experts, or all tokens, or each once") {
  const double token = 2.0 * kMoeStepHidden;  // bytes
  CHECK(each_way(setup_with(), CollectiveKind::all_to_all) == Bytes{kMoeStepTokens * kMoeStepChosen * token});
  // A quarter of what a rank sends is for its own experts.
  const auto copied =
      calls_of(training_step(setup_with(), kMoeStepRanks), "dispatch", CollectiveKind::all_to_all);
  CHECK(least_bytes(copied.front(), {0, 1, 2, 3}, 0, false).out ==
        Bytes{0.75 * kMoeStepTokens * kMoeStepChosen * token});
  // Sums are scattered on the way back: half of the calls gather.
  const WrittenStep gathered = training_step(setup_with(Dispatch::allgather), kMoeStepRanks);
  const auto out = calls_of(gathered, "dispatch", CollectiveKind::all_gather);
  const auto back = calls_of(gathered, "dispatch", CollectiveKind::reduce_scatter);
  CHECK(out.size() == 2 * kMoeStepLayers);
  CHECK(back.size() == 2 * kMoeStepLayers);
  CHECK(out.front().bytes == Bytes{kMoeStepExpertRanks * kMoeStepTokens * token});
  CHECK(back.front().bytes == out.front().bytes);
  // Two of eight experts on four ranks of two: the second is on the first one's rank once in seven times.
  const double destinations = 2.0 - 1.0 / 7.0;
  CHECK(each_way(setup_with(Dispatch::deepep), CollectiveKind::all_to_all).value ==
        near(kMoeStepTokens * destinations * token, 1e-12));
}

TEST_CASE("a token chooses experts of some groups only: fewer ranks get it") {
  ExpertDimensions experts{.experts = 16, .per_token = 3};
  // Four of sixteen on a rank: none of three is there with 12/16 x 11/15 x 10/14.
  CHECK(destinations(experts, 4) == near(4 * (1 - 12.0 * 11 * 10 / (16 * 15 * 14)), 1e-12));
  CHECK(destinations(experts, 1) == near(1.0, 1e-12));
  // Two of four groups, of a rank each: a rank is in half of all choices, then none of 3 of 8 is its.
  experts.groups = 4;
  experts.groups_per_token = 2;
  CHECK(destinations(experts, 4) == near(4 * 0.5 * (1 - 4.0 * 3 * 2 / (8 * 7 * 6)), 1e-12));
}

TEST_CASE("tokens in FP8 are half as large, with a scale for each 128 numbers, on their way to experts only") {
  TrainingSetup setup = setup_with();
  setup.experts.fp8_dispatch = true;
  const auto calls = calls_of(training_step(setup, kMoeStepRanks), "dispatch", CollectiveKind::all_to_all);
  const double numbers = kMoeStepTokens * kMoeStepChosen * kMoeStepHidden;
  std::vector<double> bytes;
  for (const CollectiveCall& call : calls)
    bytes.push_back(call.bytes.value);
  CHECK(std::ranges::count(bytes, numbers * (1 + 4.0 / 128)) == kMoeStepLayers);
  CHECK(std::ranges::count(bytes, 2 * numbers) == 3 * kMoeStepLayers);
}

TEST_CASE("experts that share their weights gather tokens and scatter sums among themselves") {
  TrainingSetup setup = setup_with();
  setup.experts.tensor = 2;
  const WrittenStep step = training_step(setup, kMoeStepRanks);
  const auto gathers = calls_of(step, "dispatch", CollectiveKind::all_gather);
  REQUIRE(gathers.size() == 2 * kMoeStepLayers);
  CHECK(gathers.front().bytes == Bytes{2 * kMoeStepTokens * kMoeStepChosen * 2.0 * kMoeStepHidden});
  CHECK(*gathers.front().groups == RankGroups{.size = 2, .stride = 1});
  CHECK(*calls_of(step, "dispatch", CollectiveKind::all_to_all).front().groups ==
        RankGroups{.size = kMoeStepExpertRanks, .stride = 2});
  // A layer's order: tokens leave, then are gathered; sums are scattered, then return.
  const auto forward = named(step, "dispatch", "");
  CHECK(forward[0].name == "dispatch all_to_all");
  CHECK(forward[1].name == "dispatch all_gather");
  CHECK(forward[2].name == "combine reduce_scatter");
  CHECK(forward[3].name == "combine all_to_all");
  const auto products = named(step, "compute", "experts.down");
  const auto* gemm = products.front().operation == nullptr ? nullptr : kernel_of(*products.front().operation);
  REQUIRE(gemm != nullptr);
  CHECK(matrix_flops(*gemm).value ==
        near(2 * 2 * kMoeStepTokens * kMoeStepChosen * kMoeStepHidden * kMoeStepWidth / 2, 1e-12));
}

TEST_CASE("experts wait for tokens, tokens for the router, and what follows for what experts have made") {
  for (const Dispatch dispatch : {Dispatch::alltoall, Dispatch::allgather, Dispatch::deepep}) {
    CAPTURE(name_of(dispatch));
    const WrittenStep step = training_step(setup_with(dispatch), kMoeStepRanks);
    const HappensBefore before(step);
    const auto first = [&](const std::string& stream, const std::string& name, const std::string& range) {
      for (const Placed& placed : named(step, stream, name))
        if (placed.range == range) return placed.place;
      FAIL("no ", name, " in ", range);
      return OperationPlace{};
    };
    const std::string forward = "forward, layer 1", backward = "backward, layer 1";
    CHECK(before(first("compute", "mlp.router", forward), first("dispatch", "dispatch ", forward)));
    CHECK(before(first("dispatch", "dispatch ", forward), first("compute", "experts.gate_up", forward)));
    CHECK(before(first("compute", "experts.down", forward), first("dispatch", "combine ", forward)));
    CHECK(before(first("dispatch", "combine ", forward), first("compute", "mlp.residual", forward)));
    CHECK(before(first("dispatch", "combine backward ", backward), first("compute", "experts.down", backward)));
    CHECK(before(first("compute", "experts.gate_up", backward),
                 first("dispatch", "dispatch backward ", backward)));
    CHECK(before(first("dispatch", "dispatch backward ", backward), first("compute", "mlp.router", backward)));
  }
}

TEST_CASE(
    "shared experts run beside tokens that travel where they overlap, and before them where they do not") {
  for (const bool overlaps : {false, true}) {
    CAPTURE(overlaps);
    TrainingSetup setup = setup_with();
    setup.model.experts->shared_width = 160;
    setup.experts.shared_overlap = overlaps;
    const WrittenStep step = training_step(setup, kMoeStepRanks);
    const HappensBefore before(step);
    for (const char* range : {"forward, layer 1", "backward, layer 1"}) {
      const bool forward = range[0] == 'f';
      const auto in_range = [&](const std::string& stream, const std::string& name) {
        std::vector<Placed> found = named(step, stream, name);
        std::erase_if(found, [&](const Placed& placed) { return placed.range != range; });
        return found;
      };
      const auto tokens = in_range("dispatch", forward ? "dispatch " : "dispatch backward ");
      const auto shared = in_range("compute", "shared.down");
      REQUIRE(tokens.size() == 1);
      REQUIRE(!shared.empty());
      const bool waits = before(tokens[0].place, shared[0].place);
      const bool is_waited_for = before(shared[0].place, tokens[0].place);
      CHECK((waits || is_waited_for) == !overlaps);
    }
  }
}

TEST_CASE("what runs beside tokens that travel is launched before the event that tells of their end") {
  // If both are in one hardware queue, it would wait for that event, and so for the tokens.
  TrainingSetup setup = setup_with();
  setup.model.experts->shared_width = 160;
  setup.experts.shared_overlap = true;
  const WrittenStep step = training_step(setup, kMoeStepRanks);
  const OperationPlace shared = named(step, "compute", "shared.gate_up").front().place;
  const OperationPlace tokens = named(step, "dispatch", "dispatch ").front().place;
  const auto& launches = host_of(step).steps;
  const auto at = [&](OperationPlace place) {
    return std::ranges::find(launches, std::optional(place), &HostStep::launches) - launches.begin();
  };
  CHECK(at(tokens) < at(shared));
  CHECK(at(shared) < at({tokens.stream, tokens.operation + 1}));
}

TEST_CASE("gradients of experts are summed over the ranks that have the same, others over all replicas") {
  const TrainingSetup setup = setup_with();
  const WrittenStep step = training_step(setup, kMoeStepRanks);
  const auto sums = [&](const char* stream) {
    const auto calls = calls_of(step, stream, CollectiveKind::all_reduce);
    REQUIRE(!calls.empty());
    return calls;
  };
  // A layer's experts: three matrices of two of eight; gradients are fp16.
  CHECK(bytes_of(sums("expert_gradients")) ==
        Bytes{2.0 * kMoeStepLayers * 2 * 3 * kMoeStepHidden * kMoeStepWidth});
  CHECK(*sums("expert_gradients").front().groups == RankGroups{.size = 4, .stride = 4});
  const double layer =
      3.0 * kMoeStepHidden * kMoeStepHidden + 2 * kMoeStepHidden + kMoeStepHidden * kMoeStepExperts;
  const double rest = 2.0 * 1000 * kMoeStepHidden + kMoeStepHidden;
  const double padded = 16.0 * static_cast<double>(sums("gradients").size());
  CHECK(bytes_of(sums("gradients")).value >= 2 * (kMoeStepLayers * layer + rest));
  CHECK(bytes_of(sums("gradients")).value <= 2 * (kMoeStepLayers * layer + rest + padded));
  CHECK_FALSE(sums("gradients").front().groups);
}

TEST_CASE("a rank holds its part of the experts, and shards their states among their replicas") {
  TrainingSetup setup = setup_with();
  setup.sharding = Sharding::optimizer;
  const MemoryPeak peak = training_step(setup, kMoeStepRanks).facts.memory;
  const double experts = kMoeStepLayers * 2.0 * 3 * kMoeStepHidden * kMoeStepWidth;
  const double others = kMoeStepLayers * (3.0 * kMoeStepHidden * kMoeStepHidden + 2 * kMoeStepHidden +
                                          kMoeStepHidden * kMoeStepExperts) +
                        2.0 * 1000 * kMoeStepHidden + kMoeStepHidden;
  CHECK(peak.of(MemoryClass::weights) == Bytes{2 * (experts + others)});
  // Master copy and two moments in fp32: a quarter of the experts', a sixteenth of the others', rounded up.
  const double states = 12 * (experts / 4 + others / 16);
  CHECK(peak.of(MemoryClass::optimizer).value == near(states, 1e-3));
  CHECK(peak.of(MemoryClass::optimizer).value >= states);
}

TEST_CASE("weights of experts that are kept cast are held once in their type, and no others twice") {
  TrainingSetup setup = setup_with();
  setup.sharding = Sharding::optimizer;
  setup.precision.recipe = *std::ranges::find(kPrecisionRecipes, "fp8_tensorwise",
                                              [](PrecisionRecipe recipe) { return name_of(recipe); });
  setup.precision.takes_any_layout = true;
  const double experts = kMoeStepLayers * 2.0 * 3 * kMoeStepHidden * kMoeStepWidth;
  const double products = kMoeStepLayers * 3.0 * kMoeStepHidden * kMoeStepHidden;
  const double narrow = experts + products;  // a layer's products are attention's and the experts'
  const double wide = kMoeStepLayers * (2.0 * kMoeStepHidden + kMoeStepHidden * kMoeStepExperts) +
                      2.0 * 1000 * kMoeStepHidden + kMoeStepHidden;
  CHECK(training_step(setup, kMoeStepRanks).facts.memory.of(MemoryClass::weights) ==
        Bytes{2 * (narrow + wide) + narrow});
  setup.precision.parameters = true;
  CHECK(training_step(setup, kMoeStepRanks).facts.memory.of(MemoryClass::weights) == Bytes{2 * wide + narrow});
}

TEST_CASE("one rank has all experts, sends nothing and has no replicas of its own") {
  TrainingSetup setup = setup_with();
  setup.experts.ranks = 1;
  const WrittenStep step = training_step(setup, kMoeStepRanks);
  CHECK(operations_of(step, "dispatch").empty());
  CHECK(operations_of(step, "expert_gradients").empty());
  CHECK(bytes_of(calls_of(step, "gradients", CollectiveKind::all_reduce)).value >=
        2.0 * kMoeStepLayers * kMoeStepExperts * 3 * kMoeStepHidden * kMoeStepWidth);
}

TEST_CASE("a capacity bounds what experts get: rows for each of them, whatever their tokens") {
  TrainingSetup setup = setup_with();
  setup.experts.capacity_factor = 1.25;
  // 256 x 2 rows are 64 for each expert, 80 with room.
  const RoutedTokens routed = balanced_tokens(setup);
  CHECK(routed.sent == 8 * 80);
  CHECK(routed.rows == 8 * 80);
  CHECK(each_way(setup, CollectiveKind::all_to_all) == Bytes{8 * 80 * 2.0 * kMoeStepHidden});
}

TEST_CASE("the host waits for numbers of tokens where the framework needs them and no capacity says them") {
  TrainingSetup setup = setup_with();
  const auto waits = [&] {
    const WrittenStep step = training_step(setup, kMoeStepRanks);
    return std::ranges::count_if(host_of(step).steps,
                                 [](const HostStep& does) { return does.waits_for.has_value(); });
  };
  const auto without = waits();
  setup.framework.syncs_routing = true;
  CHECK(waits() == without + kMoeStepLayers);
  setup.experts.capacity_factor = 1.0;
  CHECK(waits() == without);
}

TEST_CASE("layers with and without experts stand side by side in one step") {
  TrainingSetup setup = setup_with();
  setup.model.experts->dense_layers = 1;
  const WrittenStep step = training_step(setup, kMoeStepRanks);
  CHECK(calls_of(step, "dispatch", CollectiveKind::all_to_all).size() == 4 * (kMoeStepLayers - 1));
  const auto dense = named(step, "compute", "mlp.gate_up");
  CHECK(std::ranges::all_of(dense, [](const Placed& placed) { return placed.range.ends_with("layer 0"); }));
  CHECK_FALSE(dense.empty());
}

TEST_CASE("a step with experts refuses what does not divide, and what it cannot do") {
  TrainingSetup setup = setup_with();
  setup.experts.ranks = 3;
  CHECK(refusal(setup) == "expert_parallel: 3 does not divide the model's 8 experts");
  setup.experts.ranks = 8;
  CHECK(refusal(setup, 12) ==
        "expert_parallel: 8 expert-parallel ranks times 1 expert-tensor-parallel ones do not divide the 12 "
        "ranks of "
        "a stage");
  setup = setup_with();
  setup.tensor_parallel = 2;
  CHECK(refusal(setup) ==
        "tensor_parallel: with experts requires sequence_parallel = true, so that no token is routed twice");
  setup = setup_with();
  setup.experts.shared_overlap = true;
  CHECK(refusal(setup) == "shared_expert_overlap: requires a model with shared experts");
  setup = setup_with();
  setup.model.experts.reset();
  CHECK(refusal(setup) == "expert_parallel: and other keys of experts require a model with experts");
}

}  // namespace c3::training_experts_test
