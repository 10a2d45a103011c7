// Hybrid-EP: tokens go once to each other node over the network, and from there to ranks within nodes.

#include <doctest/doctest.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/support/near.hpp"
#include "tests/support/print_units.hpp"
#include "tests/unit/training_setups.hpp"
#include "workloads/training/routing.hpp"

namespace c3::training_hybridep_test {

using namespace test;

namespace {

constexpr int kHybridRanks = 16, kHybridNode = 4;
constexpr std::int64_t kHybridLayers = 2, kHybridHidden = 512;
constexpr double kHybridTokens = 256, kTokenBytes = 2.0 * kHybridHidden;

/// Sixteen experts on eight ranks of two nodes, three of them a token.
TrainingSetup hybrid_setup(Dispatch dispatch = Dispatch::hybridep) {
  TrainingSetup setup = llama_setup(kHybridLayers);
  setup.framework = megatron_framework();
  setup.framework.attention = AttentionCode::flash2;
  setup.framework.dropout = false;
  setup.sharding = Sharding::none;
  setup.model.experts = ExpertDimensions{.experts = 16, .per_token = 3, .width = 96};
  setup.experts.ranks = 8;
  setup.experts.dispatch = dispatch;
  setup.experts.node_ranks = kHybridNode;
  return setup;
}

/// All exchanges of \p stream, each of as many bytes and among the same groups.
CollectiveCall each_of(const WrittenStep& step, const std::string& stream) {
  const auto calls = calls_of(step, stream, CollectiveKind::all_to_all);
  REQUIRE(calls.size() == 4 * kHybridLayers);  // dispatch and combine, forward and backward
  for (const CollectiveCall& call : calls) {
    CHECK(call.bytes == calls.front().bytes);
    CHECK(call.groups == calls.front().groups);
  }
  return calls.front();
}

std::string refusal_of_hybrid(const TrainingSetup& setup) { return refusal_of_step(setup, kHybridRanks); }

}  // namespace

TEST_CASE("a token crosses the network once for each node, and is handed to each rank that has its experts") {
  const WrittenStep step = training_step(hybrid_setup(), kHybridRanks);
  // None of three of sixteen experts is among the eight of a node with 8/16 x 7/15 x 6/14, nor among the two of
  // a rank with 14/16 x 13/15 x 12/14.
  const double nodes = 2 * (1 - 8.0 * 7 * 6 / (16 * 15 * 14)),
               ranks = 8 * (1 - 14.0 * 13 * 12 / (16 * 15 * 14));
  const CollectiveCall network = each_of(step, "dispatch_network"), within = each_of(step, "dispatch");
  CHECK(network.bytes.value == near(kHybridTokens * nodes * kTokenBytes, 1e-12));
  CHECK(within.bytes.value == near(kHybridTokens * ranks * kTokenBytes, 1e-12));
  CHECK(*network.groups == RankGroups{.size = 2, .stride = 4});
  CHECK(*within.groups == RankGroups{.size = 4, .stride = 1});
  // Half of what goes to both nodes stays in a rank's own.
  CHECK(least_bytes(network, {0, 4}, 0, false).out.value == near(network.bytes.value / 2, 1e-12));
  // DeepEP's copies would all cross: 8 ranks, of which 4 are in the other node.
  const CollectiveCall flat = each_of(training_step(hybrid_setup(Dispatch::deepep), kHybridRanks), "dispatch");
  CHECK(flat.bytes == within.bytes);
  CHECK(*flat.groups == RankGroups{.size = 8, .stride = 1});
}

TEST_CASE(
    "within one node Hybrid-EP sends what DeepEP sends, and with one rank a node all goes over the network") {
  TrainingSetup setup = hybrid_setup();
  for (const int node_ranks : {0, 8, 16}) {
    CAPTURE(node_ranks);
    setup.experts.node_ranks = node_ranks;
    const WrittenStep step = training_step(setup, kHybridRanks);
    CHECK(operations_of(step, "dispatch_network").empty());
    CHECK(each_of(step, "dispatch").bytes ==
          each_of(training_step(hybrid_setup(Dispatch::deepep), kHybridRanks), "dispatch").bytes);
  }
  setup.experts.node_ranks = 1;
  const WrittenStep step = training_step(setup, kHybridRanks);
  CHECK(calls_of(step, "dispatch", CollectiveKind::all_to_all).empty());
  CHECK(*each_of(step, "dispatch_network").groups == RankGroups{.size = 8, .stride = 1});
}

TEST_CASE("ranks that share experts are one place of a node") {
  TrainingSetup setup = hybrid_setup();
  setup.experts.ranks = 4;
  setup.experts.tensor = 2;
  const WrittenStep step = training_step(setup, kHybridRanks);
  CHECK(*calls_of(step, "dispatch", CollectiveKind::all_to_all).front().groups ==
        RankGroups{.size = 2, .stride = 2});
  CHECK(*each_of(step, "dispatch_network").groups == RankGroups{.size = 2, .stride = 4});
}

TEST_CASE("tokens in FP8 are half as large on both ways to experts, and on none back") {
  TrainingSetup setup = hybrid_setup();
  const double whole = each_of(training_step(setup, kHybridRanks), "dispatch_network").bytes.value;
  setup.experts.fp8_dispatch = true;
  for (const char* stream : {"dispatch", "dispatch_network"}) {
    const auto calls = calls_of(training_step(setup, kHybridRanks), stream, CollectiveKind::all_to_all);
    const auto narrow = std::ranges::count(calls, DType::fp8, &CollectiveCall::dtype);
    CHECK(narrow == kHybridLayers);
  }
  const auto calls =
      calls_of(training_step(setup, kHybridRanks), "dispatch_network", CollectiveKind::all_to_all);
  CHECK(calls.front().bytes.value == near(whole * (1 + 4.0 / 128) / 2, 1e-12));
}

TEST_CASE("experts wait for tokens of both ways, which leave together behind the router") {
  const WrittenStep step = training_step(hybrid_setup(), kHybridRanks);
  const HappensBefore before(step);
  const auto first = [&](const std::string& stream, const std::string& name, const std::string& range) {
    for (const Placed& placed : named(step, stream, name))
      if (placed.range == range) return placed.place;
    FAIL("no ", name, " in ", range);
    return OperationPlace{};
  };
  const std::string forward = "forward, layer 1", backward = "backward, layer 1";
  const auto network = first("dispatch_network", "dispatch network ", forward);
  const auto within = first("dispatch", "dispatch all_to_all", forward);
  CHECK(before(first("compute", "mlp.router", forward), network));
  CHECK(before(network, first("compute", "experts.gate_up", forward)));
  CHECK(before(within, first("compute", "experts.gate_up", forward)));
  CHECK_FALSE(before(network, within));
  CHECK_FALSE(before(within, network));
  CHECK(before(first("compute", "experts.down", forward),
               first("dispatch_network", "combine network ", forward)));
  CHECK(before(first("dispatch_network", "combine network ", forward),
               first("compute", "mlp.residual", forward)));
  CHECK(before(first("dispatch_network", "dispatch backward network ", backward),
               first("compute", "mlp.router", backward)));
}

TEST_CASE("experts get as many rows and memory as with DeepEP") {
  const TrainingSetup setup = hybrid_setup(), flat = hybrid_setup(Dispatch::deepep);
  CHECK(balanced_tokens(setup).received == balanced_tokens(flat).received);
  CHECK(training_step(setup, kHybridRanks).facts.memory.bytes ==
        training_step(flat, kHybridRanks).facts.memory.bytes);
}

TEST_CASE("Hybrid-EP refuses parts of nodes, and experts that are not equally busy") {
  TrainingSetup setup = hybrid_setup();
  setup.experts.node_ranks = 3;
  CHECK(refusal_of_hybrid(setup) ==
        "dispatch: \"hybridep\" requires that experts are divided among whole nodes, or several times within "
        "one: 8 "
        "ranks, with 3 of a node, are neither");
  setup.experts.node_ranks = 12;
  CHECK(refusal_of_hybrid(setup).starts_with("dispatch: \"hybridep\" requires that experts are divided among"));
  setup = hybrid_setup();
  setup.experts.routing = Routing::dirichlet;
  CHECK(refusal_of_hybrid(setup) ==
        "dispatch: \"hybridep\" requires routing = \"balanced\" (it is \"dirichlet\")");
}

}  // namespace c3::training_hybridep_test
