// One contract for every way to run a collective: backends, kinds, algorithms, grains, folded and explicit.

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <map>

#include "tests/contract/collective_variants.hpp"
#include "tests/support/bytes_sent.hpp"
#include "tests/support/near.hpp"

namespace c3::collectives_bytes_test {

using namespace test;

namespace {

/// A run of one variant, and the transfers that it had to make.
struct Execution {
  explicit Execution(const Variant& v, const ClusterSpec& cluster)
      : graph(make_transfer_graph(v.call(), v.algorithm, cluster)), bench(cluster, v.plan(), v.folded) {
    time = bench.run();
  }
  TransferGraph graph;
  CollectiveBench bench;
  Seconds time;
};

std::map<std::string, double> bytes_by_link(const TransferGraph& graph, int senders) {
  std::map<std::string, double> bytes;
  for (const Transfer& t : graph.transfers) {
    if (t.src < senders) bytes[fmt::format("link{}-{}", t.src, t.dst)] += t.bytes.value;
  }
  return bytes;
}

/// What reaches a rank: bytes that it stores, and bytes that it adds to what it holds.
struct Received {
  Bytes stored, added;
};

Received bytes_received(const TransferGraph& graph, int rank) {
  Received received;
  for (const Transfer& t : graph.transfers) {
    if (t.dst == rank) (t.op == TransferOp::update ? received.added : received.stored) += t.bytes;
  }
  return received;
}

}  // namespace

TEST_CASE("every link carries its transfers' bytes, in channels of a library with the protocol's overhead") {
  const ClusterSpec cluster = mi300x_like_cluster();
  for_each_variant([&](const Variant& v) {
    const Execution run(v, cluster);
    const double overhead = v.backend == Backend::cu ? 46.5 / 42.0 : 1.0;
    for (const auto& [link, bytes] : bytes_by_link(run.graph, run.bench.simulated_ranks())) {
      CAPTURE(link);
      CHECK(run.bench.recording.total(link) == near(bytes * overhead));
    }
  });
}

TEST_CASE(
    "HBM reads what a rank sends and writes what it receives, half of the staging each way, and reads what a "
    "sum "
    "is added to") {
  const ClusterSpec cluster = mi300x_like_cluster();
  for_each_variant([&](const Variant& v) {
    const Execution run(v, cluster);
    const double staging = v.backend == Backend::cu ? 0.5 : 0.0;
    for (int rank = 0; rank < run.bench.simulated_ranks(); ++rank) {
      const auto [stored, added] = bytes_received(run.graph, rank);
      const Bytes read = bytes_sent(run.graph, rank) + stored * (0.5 * staging) + added;
      const Bytes written = stored * (1.0 + 0.5 * staging) + added;
      CHECK(run.bench.recording.total(fmt::format("gpu{}.hbm", rank)) == near((read + written).value));
      CHECK(run.bench.recording.total(fmt::format("gpu{}.hbm.written", rank)) == near(written.value));
      CHECK(run.bench.recording.total(fmt::format("gpu{}.llc", rank)) == near((read + written).value));
    }
  });
}

TEST_CASE("channels hold a CU each, and pass what they send, stage and add through L2") {
  const ClusterSpec cluster = mi300x_like_cluster();
  for_each_variant([&](const Variant& v) {
    if (v.backend != Backend::cu) return;
    const Execution run(v, cluster);
    const Recording& recording = run.bench.recording;
    for (int rank = 0; rank < run.bench.simulated_ranks(); ++rank) {
      const auto [stored, added] = bytes_received(run.graph, rank);
      const Bytes through_l2 = bytes_sent(run.graph, rank) + 0.5 * stored + added;
      for (int xcd = 0; xcd < 8; ++xcd) {
        CHECK(recording.total(fmt::format("gpu{}.xcd{}.l2", rank, xcd)) == near(through_l2.value / 8));
        CHECK(recording.total(fmt::format("gpu{}.xcd{}.port", rank, xcd)) == near(through_l2.value / 8));
      }
      CHECK(recording.total(fmt::format("gpu{}.cus", rank)) == near(56 * run.time.value));
      for (int engine = 0; engine < 14; ++engine)
        CHECK(recording.total(fmt::format("gpu{}.dma{}", rank, engine)) == 0.0);
    }
  });
}

TEST_CASE("copy engines share the bytes, and use no CU and no L2") {
  const ClusterSpec cluster = mi300x_like_cluster();
  for_each_variant([&](const Variant& v) {
    if (v.backend != Backend::dma) return;
    const Execution run(v, cluster);
    const Recording& recording = run.bench.recording;
    for (int rank = 0; rank < run.bench.simulated_ranks(); ++rank) {
      for (int engine = 0; engine < 7; ++engine) {
        const double copied = recording.total(fmt::format("gpu{}.dma{}", rank, engine));
        CHECK(copied == near(bytes_sent(run.graph, rank).value / 7));
      }
      CHECK(recording.total(fmt::format("gpu{}.cus", rank)) == 0.0);
      for (int xcd = 0; xcd < 8; ++xcd) {
        CHECK(recording.total(fmt::format("gpu{}.xcd{}.l2", rank, xcd)) == 0.0);
        CHECK(recording.total(fmt::format("gpu{}.xcd{}.port", rank, xcd)) == 0.0);
      }
    }
  });
}

TEST_CASE("every rank ends, none before all its bytes are there") {
  // Nothing is faster than the bytes of a rank over all its links at the one-way rate.
  const ClusterSpec cluster = mi300x_like_cluster();
  for_each_variant([&](const Variant& v) {
    const Execution run(v, cluster);
    const Seconds least = bytes_sent(run.graph, 0) / (7.0 * cluster.node.link.one_way);
    for (const Seconds ended : run.bench.ended)
      CHECK(ended > least);
    for (const auto* activity : run.bench.recording.of_kind(ActivityKind::collective)) {
      CHECK(activity->end == run.bench.ended[static_cast<std::size_t>(activity->gpu)]);
      CHECK(activity->name == "gather");
    }
    for (const auto& activity : run.bench.recording.activities)
      CHECK(activity.end >= activity.start);
  });
}

TEST_CASE("transfers that the observer sees carry the graph's bytes") {
  const ClusterSpec cluster = mi300x_like_cluster();
  for_each_variant([&](const Variant& v) {
    const Execution run(v, cluster);
    Bytes seen;
    for (const auto* transfer : run.bench.recording.of_kind(ActivityKind::transfer))
      seen += transfer->bytes;
    Bytes expected;
    for (int rank = 0; rank < run.bench.simulated_ranks(); ++rank)
      expected += bytes_sent(run.graph, rank);
    CHECK(seen.value == near(expected.value));
  });
}

TEST_CASE("grain step starts a transfer no sooner than its predecessors ended, and says so") {
  const ClusterSpec cluster = mi300x_like_cluster();
  for (const Backend backend : {Backend::cu, Backend::dma}) {
    const Execution run({backend, CollectiveKind::all_gather, Algorithm::ring, CollectiveGrain::step, false},
                        cluster);
    const Recording& recording = run.bench.recording;
    int data_edges = 0;
    for (const auto& edge : recording.dependencies) {
      if (edge.kind != DependencyKind::data) continue;
      ++data_edges;
      CHECK(recording.activity(edge.successor).start >= recording.activity(edge.predecessor).end);
    }
    CHECK(data_edges == 7 * 8 * 6);  // rings x ranks x steps after the first
  }
}

}  // namespace c3::collectives_bytes_test
