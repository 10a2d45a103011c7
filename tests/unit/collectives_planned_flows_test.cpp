// What becomes one flow at each grain.

#include <doctest/doctest.h>

#include <stdexcept>

#include "collectives/algorithms/algorithm.hpp"
#include "collectives/planned_flows.hpp"
#include "tests/support/mi300x_like.hpp"
#include "tests/support/near.hpp"

namespace c3::collectives_planned_flows_test {

using namespace literals;

namespace {

TransferGraph ring_of_four() {
  // 4 ranks have 2 disjoint rings: 2 lanes, 3 steps, 24 transfers of 1 GB / 4 / 2 = 125 MB.
  return make_transfer_graph({CollectiveKind::all_gather, 1.0_GB}, Algorithm::ring,
                             test::mi300x_like_cluster(4));
}

Bytes bytes_of(const std::vector<PlannedFlow>& flows) {
  Bytes sum;
  for (const PlannedFlow& flow : flows) {
    for (const Leg& leg : flow.legs)
      sum += leg.bytes;
  }
  return sum;
}

}  // namespace

TEST_CASE("grain step has a flow for each transfer, with its dependencies") {
  const TransferGraph graph = ring_of_four();
  const auto flows = plan_flows(graph, CollectiveGrain::step);
  REQUIRE(flows.size() == 24);
  for (std::size_t i = 0; i < flows.size(); ++i) {
    CHECK(flows[i].after == graph.transfers[i].after);
    CHECK(flows[i].hops == 1);
    CHECK(flows[i].network_hops == 0);
    REQUIRE(flows[i].legs.size() == 1);
    CHECK(flows[i].legs[0].bytes.value == near(125e6));
  }
}

TEST_CASE("grain edge has a flow for each lane of each rank: all its steps' bytes, the latency of each") {
  const auto flows = plan_flows(ring_of_four(), CollectiveGrain::edge);
  REQUIRE(flows.size() == 8);
  for (const PlannedFlow& flow : flows) {
    CHECK(flow.after.empty());
    CHECK(flow.hops == 3);
    REQUIRE(flow.legs.size() == 1);
    CHECK(flow.legs[0].bytes.value == near(375e6));
  }
}

TEST_CASE("grain gang is one flow with a leg for each lane of each rank") {
  const auto flows = plan_flows(ring_of_four(), CollectiveGrain::gang);
  REQUIRE(flows.size() == 1);
  CHECK(flows[0].hops == 3);
  CHECK(flows[0].legs.size() == 8);
}

TEST_CASE("no grain loses bytes") {
  const TransferGraph graph = ring_of_four();
  for (const CollectiveGrain grain : {CollectiveGrain::step, CollectiveGrain::edge, CollectiveGrain::gang}) {
    CHECK(bytes_of(plan_flows(graph, grain)).value == near(3e9));
  }
}

TEST_CASE("every grain sends as many messages: one for each step, and parts of one for its chunks") {
  const auto messages = [](const TransferGraph& graph, CollectiveGrain grain, int chunks) {
    double sum = 0.0;
    for (const PlannedFlow& flow : plan_flows(graph, grain, equal_chunks(chunks))) {
      for (const Leg& leg : flow.legs)
        sum += leg.messages;
    }
    return sum;
  };
  GraphForm whole;
  whole.every_step = false;
  const TransferGraph ring = make_transfer_graph({CollectiveKind::all_gather, 1.0_GB}, Algorithm::ring,
                                                 test::mi300x_like_cluster(4), whole);
  CHECK(messages(ring_of_four(), CollectiveGrain::step, 1) == near(24));
  CHECK(messages(ring, CollectiveGrain::edge, 1) == near(24));
  CHECK(messages(ring, CollectiveGrain::gang, 1) == near(24));
  const TransferGraph chain =
      make_transfer_graph({CollectiveKind::broadcast, 1.0_GB}, Algorithm::ring, test::mi300x_like_cluster(4));
  for (const CollectiveGrain grain : {CollectiveGrain::step, CollectiveGrain::edge, CollectiveGrain::gang}) {
    for (const int chunks : {1, 2, 10})
      CHECK(messages(chain, grain, chunks) == near(double(chain.transfers.size())));
  }
}

TEST_CASE("of very many chunks a thousand are flows, and carry all bytes") {
  const TransferGraph chain =
      make_transfer_graph({CollectiveKind::broadcast, 1.0_GB}, Algorithm::ring, test::mi300x_like_cluster(4));
  const auto flows = plan_flows(chain, CollectiveGrain::step, equal_chunks(1'000'000));
  CHECK(flows.size() == 1'000 * chain.transfers.size());
  CHECK(bytes_of(flows).value ==
        near(bytes_of(plan_flows(chain, CollectiveGrain::edge, equal_chunks(1))).value));
}

TEST_CASE("what a rank sends on one lane goes one after another, at grains step and edge") {
  // Three lanes for seven peers of each rank: lane 0 has three of them, one behind the other.
  GraphForm form;
  form.most_lanes = 3;
  const TransferGraph graph = make_transfer_graph({CollectiveKind::all_gather, 1.0_GB}, Algorithm::direct,
                                                  test::mi300x_like_cluster(8), form);
  for (const CollectiveGrain grain : {CollectiveGrain::step, CollectiveGrain::edge}) {
    const auto flows = plan_flows(graph, grain);
    REQUIRE(flows.size() == 56);
    int first = 0;
    for (const PlannedFlow& flow : flows) {
      if (!flow.behind) {
        ++first;
        continue;
      }
      CHECK(flows[*flow.behind].legs[0].src == flow.legs[0].src);
      CHECK(flows[*flow.behind].legs[0].lane == flow.legs[0].lane);
      CHECK(flows[*flow.behind].legs[0].dst != flow.legs[0].dst);
    }
    CHECK(first == 24);
  }
}

namespace {

/// A broadcast from rank 0 along a chain of four: 2 lanes of 500 MB, three transfers each.
TransferGraph chain_of_four() {
  return make_transfer_graph({.kind = CollectiveKind::broadcast, .bytes = 1.0_GB}, Algorithm::ring,
                             test::mi300x_like_cluster(4));
}

}  // namespace

TEST_CASE("grain step cuts a pipelined graph into chunks, each behind the one before on its edge") {
  const TransferGraph graph = chain_of_four();
  REQUIRE(graph.pipelined);
  const auto flows = plan_flows(graph, CollectiveGrain::step, equal_chunks(10));
  REQUIRE(flows.size() == 60);
  for (std::size_t i = 0; i < flows.size(); ++i) {
    CHECK(flows[i].legs[0].bytes.value == near(50e6));
    CHECK(flows[i].behind.has_value() == (i >= 6));
    if (flows[i].behind) CHECK(*flows[i].behind == i - 6);
    for (const std::uint32_t before : flows[i].after) {
      CHECK(before / 6 == i / 6);  // the same chunk
      CHECK(flows[before].legs[0].dst == flows[i].legs[0].src);
    }
  }
}

TEST_CASE(
    "grain edge sends a first and a last chunk through a pipelined graph, and what is between on each edge") {
  const auto flows = plan_flows(chain_of_four(), CollectiveGrain::edge, equal_chunks(10));
  REQUIRE(flows.size() == 18);
  for (std::uint32_t i = 0; i < 6; ++i) {
    CHECK(flows[i].legs[0].bytes.value == near(50e6));
    CHECK(flows[i].hops == 1);
    CHECK(flows[i + 6].legs[0].bytes.value == near(400e6));
    CHECK(flows[i + 6].hops == 0);
    CHECK(flows[i + 6].after.empty());
    CHECK(flows[i + 6].behind == i);
    CHECK(flows[i + 12].legs[0].bytes.value == near(50e6));
    CHECK(flows[i + 12].hops == 1);
    CHECK(flows[i + 12].behind == i + 6);
    REQUIRE(flows[i + 12].after.size() == flows[i].after.size());
    for (std::size_t k = 0; k < flows[i].after.size(); ++k)
      CHECK(flows[i + 12].after[k] == flows[i].after[k] + 12);
  }
}

TEST_CASE("a pipelined graph of two chunks has nothing between the first and the last") {
  const auto flows = plan_flows(chain_of_four(), CollectiveGrain::edge, equal_chunks(2));
  REQUIRE(flows.size() == 12);
  CHECK(bytes_of(flows).value == near(3e9));
}

TEST_CASE("a last chunk that is smaller follows a whole one, which it waits for") {
  // 500 MB an edge in chunks of 150 MB: 150, 150, 150 and 50 MB.
  const auto flows = plan_flows(chain_of_four(), CollectiveGrain::edge, whole_chunks(500.0_MB, 150.0_MB));
  REQUIRE(flows.size() == 24);
  const std::vector<double> parts = {150e6, 150e6, 150e6, 50e6};
  for (std::uint32_t i = 0; i < flows.size(); ++i) {
    CHECK(flows[i].legs[0].bytes.value == near(parts[i / 6]));
    CHECK(flows[i].hops == (i / 6 == 1 ? 0 : 1));
  }
  CHECK(whole_chunks(500.0_MB, 500.0_MB).count == 1);
  CHECK(whole_chunks(500.0_MB, 250.0_MB).count == 2);
  CHECK(whole_chunks(500.0_MB, 250.0_MB).last() == near(0.5));
}

TEST_CASE("grain gang has a first chunk, one between and a last for each of few stages") {
  const auto flows = plan_flows(chain_of_four(), CollectiveGrain::gang, equal_chunks(10));
  REQUIRE(flows.size() == 9);
  for (std::uint32_t stage = 0; stage < 3; ++stage) {
    CHECK(bytes_of({flows[stage]}).value == near(100e6));
    CHECK(bytes_of({flows[stage + 3]}).value == near(800e6));
    CHECK(bytes_of({flows[stage + 6]}).value == near(100e6));
    CHECK(flows[stage].legs.size() == 2);
    CHECK(flows[stage].after == (stage == 0 ? std::vector<std::uint32_t>{} : std::vector{stage - 1}));
    CHECK(flows[stage + 6].after == (stage == 0 ? std::vector<std::uint32_t>{} : std::vector{stage + 5}));
    CHECK(flows[stage + 6].behind == stage + 3);
  }
}

TEST_CASE("grain gang fills a pipeline of many stages one by one, then flows the rest at once") {
  const auto chain = make_transfer_graph({.kind = CollectiveKind::broadcast, .bytes = 1.0_GB}, Algorithm::ring,
                                         test::mi300x_like_cluster(8));
  const auto flows = plan_flows(chain, CollectiveGrain::gang, equal_chunks(10));
  REQUIRE(flows.size() == 8);
  for (std::size_t stage = 0; stage < 7; ++stage)
    CHECK(bytes_of({flows[stage]}).value == near(100e6));
  CHECK(bytes_of({flows[7]}).value == near(6300e6));
  CHECK(flows[7].behind == 6U);
}

TEST_CASE("a pipelined graph of one chunk has nothing behind it") {
  for (const CollectiveGrain grain : {CollectiveGrain::step, CollectiveGrain::edge, CollectiveGrain::gang}) {
    for (const PlannedFlow& flow : plan_flows(chain_of_four(), grain, equal_chunks(1)))
      CHECK_FALSE(flow.behind.has_value());
    CHECK(bytes_of(plan_flows(chain_of_four(), grain, equal_chunks(1))).value == near(3e9));
  }
}

TEST_CASE("an edge that first adds and then stores is one flow with a leg for each") {
  const auto flows = plan_flows(make_transfer_graph({.kind = CollectiveKind::all_reduce, .bytes = 1.0_GB},
                                                    Algorithm::ring, test::mi300x_like_cluster(4)),
                                CollectiveGrain::edge);
  REQUIRE(flows.size() == 8);
  for (const PlannedFlow& flow : flows) {
    CHECK(flow.hops == 6);
    REQUIRE(flow.legs.size() == 2);
    CHECK(flow.legs[0].op == TransferOp::update);
    CHECK(flow.legs[1].op == TransferOp::store);
    CHECK(flow.legs[0].bytes.value == near(375e6));
    CHECK(flow.legs[1].bytes.value == near(375e6));
  }
}

}  // namespace c3::collectives_planned_flows_test
