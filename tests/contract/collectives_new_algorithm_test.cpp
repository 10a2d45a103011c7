// An algorithm that is one AlgorithmEntry and nothing else runs as those of the table do: its graph passes the
// replay, its times the closed form, folded and explicit, at every grain, through plan, backend and record.

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "collectives/algorithms/entry.hpp"
#include "collectives/library/tuner.hpp"
#include "engine/errors.hpp"
#include "tests/contract/collective_variants.hpp"
#include "tests/support/bytes_sent.hpp"
#include "tests/support/graph_replay.hpp"

namespace c3::collectives_new_algorithm_test {

using namespace literals;
using namespace test;

namespace {

constexpr int kRanks = 4;

// --- The whole of a new algorithm: one ring on one lane, in which every rank passes on what has come.

TransferGraph one_ring(const GraphRequest& request) {
  if (request.layout.node_count() > 1) request.refuse("stays within a node");
  const int n = request.ranks();
  GraphBuilder builder = request.builder(1);
  Rounds rounds(builder, request.members, request.form.folded);
  std::vector<std::uint32_t> before;
  for (int step = 0; step < n - 1; ++step) {
    Transfer pattern;
    pattern.step = pattern.stage = step;
    pattern.bytes = request.call.bytes / static_cast<double>(n);
    before = {rounds.add(pattern, shift(1, n), before)};
  }
  return builder.take();
}

bool gathers(CollectiveKind kind) { return kind == CollectiveKind::all_gather; }

bool is_alike(CollectiveKind, const GroupShape& group, const NodeSpec&) { return group.nodes == 1; }

constexpr AlgorithmEntry kOneRing = {
    .name = "one_ring", .supports = gathers, .graph = one_ring, .is_symmetric = is_alike};

// ---

constexpr Algorithm kToy(kOneRing);

Variant toy(Backend backend, CollectiveGrain grain, bool folded) {
  return {backend, CollectiveKind::all_gather, kToy, grain, folded};
}

double time_of(const Variant& v) {
  return CollectiveBench(mi300x_like_cluster(kRanks), v.plan(), v.folded).run().value;
}

}  // namespace

TEST_CASE(
    "a new algorithm's graph passes the replay: nothing is sent before it has come, all ends everywhere") {
  const TransferGraph graph =
      make_transfer_graph({CollectiveKind::all_gather, Bytes{1e9}}, kToy, mi300x_like_cluster(kRanks));
  const Replay replay(graph);
  CHECK(replay.in_order);
  CHECK(replay.waits_at_sender);
  for (const int rank : graph.members) {
    Ranks come = {rank};
    for (std::size_t i = 0; i < graph.transfers.size(); ++i) {
      if (graph.transfers[i].dst == rank) come.insert(replay.cargo(i).begin(), replay.cargo(i).end());
    }
    CHECK(static_cast<int>(come.size()) == kRanks);
    CHECK(bytes_sent(graph, rank).value == near(1e9 * (kRanks - 1) / kRanks));
  }
}

TEST_CASE("a new algorithm takes on channels what its steps say, at every grain, one rank for all or each") {
  // Launch and set-up once (17 us); then three steps of 2.2 us and 250 MB over a link of which nobody uses the
  // other direction: 48.4 GB/s, less what the protocol takes of 46.5 to leave 42.
  const ClusterSpec cluster = mi300x_like_cluster(kRanks);
  const LinkSpec& link = cluster.node.link;
  const BytesPerSecond payload = cluster.library.link_payload * (link.one_way / link.both_ways);
  const double step = cluster.library.simple.hop_latency.value + 250e6 / payload.value;
  const double expected = cluster.library.simple.base_latency.value + 3.0 * step;
  for (const CollectiveGrain grain : kGrains) {
    for (const bool folded : {true, false}) {
      CAPTURE(static_cast<int>(grain));
      CAPTURE(folded);
      CHECK(time_of(toy(Backend::cu, grain, folded)) == near(expected, 2e-3));
    }
  }
}

TEST_CASE("a new algorithm runs on copy engines, too") {
  const double all = time_of(toy(Backend::dma, CollectiveGrain::step, false));
  CHECK(all > 3.0 * 250e6 / 50e9);
  CHECK(time_of(toy(Backend::dma, CollectiveGrain::edge, true)) == near(all, 2e-2));
}

TEST_CASE("what a new algorithm cannot run is refused by its name, and the tuner never takes it unasked") {
  const ClusterSpec cluster = mi300x_like_cluster(kRanks);
  CHECK_THROWS_WITH_AS(make_transfer_graph({CollectiveKind::all_reduce, Bytes{1e9}}, kToy, cluster),
                       "all_reduce: the one_ring algorithm does not support it", InfeasibleError);
  const CollectiveCall call{CollectiveKind::all_gather, Bytes{1e9}};
  CHECK_FALSE(expected_time(call, kToy, Protocol::simple, cluster));
  CHECK(choose_method(call, cluster, {.algorithm = kToy}).algorithm == kToy);
  CHECK(choose_method(call, cluster).algorithm != kToy);
}

TEST_CASE("every algorithm of the table has a name of its own and supports something") {
  std::set<std::string_view> names;
  for (const Algorithm algorithm : kAlgorithms) {
    CAPTURE(name_of(algorithm));
    CHECK(names.insert(name_of(algorithm)).second);
    CHECK(
        std::ranges::any_of(kCollectiveKinds, [&](CollectiveKind kind) { return supports(algorithm, kind); }));
  }
  CHECK(names.contains("ring"));
}

}  // namespace c3::collectives_new_algorithm_test
