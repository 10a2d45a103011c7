// Pipelined and in-switch algorithms, and groups of ranks: bytes and times by hand, grains against each other.

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "collectives/backends/entry.hpp"
#include "engine/errors.hpp"
#include "tests/contract/collective_variants.hpp"
#include "tests/support/near.hpp"

namespace c3::collectives_rooted_test {

using namespace literals;
using namespace test;

namespace {

CollectivePlan plan_of(CollectiveKind kind, Algorithm algorithm,
                       CollectiveGrain grain = CollectiveGrain::edge) {
  CollectivePlan plan = Variant{Backend::cu, kind, algorithm, grain, false}.plan();
  plan.call.root = kind == CollectiveKind::broadcast || kind == CollectiveKind::reduce ? 2 : 0;
  return plan;
}

Seconds time_of(const CollectivePlan& plan, const ClusterSpec& cluster = mi300x_like_cluster(),
                bool folded = false) {
  return CollectiveBench(cluster, plan, folded).run();
}

/// Eight GPUs behind a switch that reduces; 16 channels and 280 GB/s of payload for that.
ClusterSpec reducing_cluster() {
  ClusterSpec cluster = mi300x_like_cluster();
  cluster.node = switched(8);
  cluster.node.switch_reduces = true;
  cluster.library.nvls_channels = 16;
  cluster.library.nvls_payload = 280.0_GBps;
  cluster.library.nvls_latency = 25.0_us;
  return cluster;
}

}  // namespace

TEST_CASE("a chain takes one link's time for its part, and a chunk's for each further hop") {
  // 1 GB on 7 chains of 142.9 MB, eight channels each: chunks of 4 MiB, 35 of them. The last rank has
  // everything after 35 + 6 chunk times and 7 hops. Channels of 8 GB/s could move 64 GB/s, the link gives 42.
  for (const CollectiveKind kind : {CollectiveKind::broadcast, CollectiveKind::reduce}) {
    for (const CollectiveGrain grain : kGrains) {
      CAPTURE(name_of(kind));
      CAPTURE(static_cast<int>(grain));
      const double chunk = 1e9 / 7 / 35;
      // Nothing comes back on a chain's links, but the seven chains together use every link both ways.
      CHECK(time_of(plan_of(kind, Algorithm::ring, grain)).value ==
            near(17e-6 + 7 * 2.2e-6 + 41 * chunk / 42e9, 0.05));
    }
  }
}

TEST_CASE("at 8 GB the grains of chains agree within 2 %, of trees within 3 %, a tree's gang within 5 %") {
  // A tree's edges in one flow go at the pace of the slowest; at 1 GB filling the pipeline is a sixth of the
  // time.
  for (const ClusterSpec& cluster : {mi300x_like_cluster(), reducing_cluster()}) {
    for (const CollectiveKind kind :
         {CollectiveKind::broadcast, CollectiveKind::reduce, CollectiveKind::all_reduce}) {
      for (const Algorithm algorithm : {Algorithm::ring, Algorithm::tree}) {
        CAPTURE(cluster.node.name);
        CAPTURE(name_of(kind));
        CAPTURE(name_of(algorithm));
        const auto time = [&](CollectiveGrain grain) {
          CollectivePlan plan = plan_of(kind, algorithm, grain);
          plan.call.bytes = 8.0_GB;
          return time_of(plan, cluster).value;
        };
        const bool is_tree = algorithm == Algorithm::tree;
        const double step = time(CollectiveGrain::step);
        CHECK(time(CollectiveGrain::edge) == near(step, is_tree ? 0.03 : 0.02));
        CHECK(time(CollectiveGrain::gang) == near(step, is_tree ? 0.05 : 0.02));
      }
    }
  }
}

TEST_CASE("the switch's operations load every port with their bytes, and HBM with what is read and stored") {
  const ClusterSpec cluster = reducing_cluster();
  struct Expected {
    CollectiveKind kind;
    double out, in, read, written;  // of 1 GB, at every rank; staging is 0.25 read and 0.25 written a byte
  };
  const Expected all_reduce{CollectiveKind::all_reduce, 1 + 1.0 / 8, 1 + 1.0 / 8, 1.5, 1.5};
  const Expected all_gather{CollectiveKind::all_gather, 1.0 / 8, 1.0, 1.0 / 8 + 0.25, 1.25};
  const Expected reduce_scatter{CollectiveKind::reduce_scatter, 1.0, 1.0 / 8, 1.25, 0.25 + 1.0 / 8};
  for (const Expected& expected : {all_reduce, all_gather, reduce_scatter}) {
    for (const CollectiveGrain grain : kGrains) {
      for (const bool folded : {true, false}) {
        CAPTURE(name_of(expected.kind));
        CAPTURE(folded);
        CollectiveBench bench(cluster, plan_of(expected.kind, Algorithm::nvls, grain), folded);
        bench.run();
        const double overhead = 350.0 / 280.0;
        for (int rank = 0; rank < bench.simulated_ranks(); ++rank) {
          const auto total = [&](const char* form) {
            return bench.recording.total(fmt::format(fmt::runtime(form), rank));
          };
          CHECK(total("port{}.out") == near(1e9 * expected.out * overhead));
          CHECK(total("port{}.in") == near(1e9 * expected.in * overhead));
          CHECK(total("gpu{}.hbm") == near(1e9 * (expected.read + expected.written)));
          CHECK(total("gpu{}.hbm.written") == near(1e9 * expected.written));
        }
      }
    }
  }
}

TEST_CASE(
    "an in-switch all-reduce takes S + S/N at the port's payload rate, a latency a pass, and two more passes") {
  const double pass = 16 * 8 * 65536.0;  // channels, heads, bytes: 119 of them, two to fill and drain
  for (const bool folded : {true, false}) {
    const double time =
        time_of(plan_of(CollectiveKind::all_reduce, Algorithm::nvls), reducing_cluster(), folded).value;
    CHECK(time == near(17e-6 + 25e-6 * (1e9 / pass + 2) + (1e9 + 2 * pass) * (1 + 1.0 / 8) / 280e9));
  }
}

TEST_CASE("a ring all-reduce puts 2S(N-1)/N on every port, and reads thrice and writes twice S(N-1)/N at HBM") {
  ClusterSpec cluster = reducing_cluster();
  cluster.library.staging_bytes = 0.0;
  CollectiveBench bench(cluster, plan_of(CollectiveKind::all_reduce, Algorithm::ring), false);
  bench.run();
  const double overhead = 350.0 / 42.0;
  for (int rank = 0; rank < 8; ++rank) {
    CHECK(bench.recording.total(fmt::format("port{}.out", rank)) == near(2e9 * 7 / 8 * overhead));
    CHECK(bench.recording.total(fmt::format("port{}.in", rank)) == near(2e9 * 7 / 8 * overhead));
    CHECK(bench.recording.total(fmt::format("gpu{}.hbm", rank)) == near(5e9 * 7 / 8));
    CHECK(bench.recording.total(fmt::format("gpu{}.hbm.written", rank)) == near(2e9 * 7 / 8));
  }
}

TEST_CASE("links and HBM carry the bytes of every transfer, whoever is root, in every algorithm over links") {
  const ClusterSpec cluster = mi300x_like_cluster();
  const double overhead = 46.5 / 42.0;
  for (const CollectiveKind kind : kCollectiveKinds) {
    for (const Algorithm algorithm : {Algorithm::direct, Algorithm::ring, Algorithm::tree}) {
      if (!supports(algorithm, kind)) continue;
      for (const CollectiveGrain grain : kGrains) {
        CAPTURE(name_of(kind));
        CAPTURE(name_of(algorithm));
        CAPTURE(static_cast<int>(grain));
        CollectivePlan plan = plan_of(kind, algorithm, grain);
        for (int pair = 0; kind == CollectiveKind::all_to_all_v && pair < 64; ++pair)
          plan.call.sends.push_back(Bytes{1e6 * (pair % 5)});
        const TransferGraph graph = make_transfer_graph(plan.call, algorithm, cluster);
        std::vector<double> read(8), written(8);
        std::map<std::string, double> links;
        for (const Transfer& t : graph.transfers) {
          const bool adds = t.op == TransferOp::update;
          const auto src = static_cast<std::size_t>(t.src), dst = static_cast<std::size_t>(t.dst);
          read[src] += t.bytes.value;
          read[dst] += t.bytes.value * (adds ? 1.0 : 0.25);  // the other operand, or half of the staging
          written[dst] += t.bytes.value * (adds ? 1.0 : 1.25);
          links[fmt::format("link{}-{}", t.src, t.dst)] += t.bytes.value * overhead;
        }
        CollectiveBench bench(cluster, plan, false);
        bench.run();
        // A byte more on both sides: who only sends writes none, and nothing is near 0 but 0.
        for (std::size_t rank = 0; rank < 8; ++rank) {
          const double used = bench.recording.total(fmt::format("gpu{}.hbm", rank));
          CHECK(used + 1.0 == near(read[rank] + written[rank] + 1.0));
          const double stored = bench.recording.total(fmt::format("gpu{}.hbm.written", rank));
          CHECK(stored + 1.0 == near(written[rank] + 1.0));
        }
        for (const auto& [link, bytes] : links)
          CHECK(bench.recording.total(link) == near(bytes));
      }
    }
  }
}

TEST_CASE("a group is as fast as a node of its size, and leaves other ranks' links and memory alone") {
  for (const Algorithm algorithm : kSymmetricAlgorithms) {
    CAPTURE(name_of(algorithm));
    CollectivePlan plan = plan_of(CollectiveKind::all_reduce, algorithm);
    const double whole = time_of(plan, mi300x_like_cluster(3)).value;
    plan.call.ranks = {6, 1, 4};
    CollectiveBench bench(mi300x_like_cluster(), plan, false);
    CHECK(bench.run().value == near(whole));
    for (const int rank : {0, 2, 3, 5, 7}) {
      CHECK(bench.recording.total(fmt::format("gpu{}.hbm", rank)) == 0.0);
      CHECK(bench.recording.total(fmt::format("gpu{}.cus", rank)) == 0.0);
      CHECK(bench.recording.total(fmt::format("link{}-6", rank)) == 0.0);
    }
  }
}

TEST_CASE("a member that never comes is named, ranks outside the group are not waited for") {
  CollectivePlan plan = plan_of(CollectiveKind::all_reduce, Algorithm::ring);
  plan.call.ranks = {1, 4, 6};
  std::vector<Seconds> delays(8, Seconds{});
  delays[4] = delays[6] = Seconds{-1.0};
  CollectiveBench bench(mi300x_like_cluster(), plan, false);
  CHECK_THROWS_WITH_AS(
      bench.run(delays),
      "deadlock: nothing is in flight that could end these waits: rank 1 waits for ranks 4, 6 to join gather",
      DeadlockError);
}

TEST_CASE("groups whose channels wait for each other's CU slots are a deadlock that says so") {
  // One slot a GPU: rank 1 holds it for the group of 1 and 2, rank 2 for the group of 2 and 1, enqueued in
  // turn.
  ClusterSpec cluster = mi300x_like_cluster();
  cluster.gpu.compute.xcds = 1;
  cluster.gpu.compute.cus_per_xcd = 1;
  cluster.library.channels = 2;
  Simulation simulation;
  Cluster machine(simulation, cluster, {.gpu = {.streams = {"a", "b"}, .isolation = {}}, .folded = false});
  std::vector<std::unique_ptr<CollectiveRun>> runs;
  for (const int stream : {0, 1}) {
    CollectivePlan plan = plan_of(CollectiveKind::all_reduce, Algorithm::ring);
    plan.call.ranks = {1, 2};
    plan.name = stream == 0 ? "first" : "second";
    plan.stream = plan.order = stream;
    plan.range = {0, 1};
    runs.push_back(make_collective(machine, plan));
  }
  // Rank 1 is asked for the first one sooner, rank 2 for the second one.
  simulation.spawn("1 first", runs[0]->join(1, 1.0_us, nullptr));
  simulation.spawn("2 first", runs[0]->join(2, 2.0_us, nullptr));
  simulation.spawn("1 second", runs[1]->join(1, 2.0_us, nullptr));
  simulation.spawn("2 second", runs[1]->join(2, 1.0_us, nullptr));
  CHECK_THROWS_WITH_AS(simulation.run(),
                       "deadlock: nothing is in flight that could end these waits: "
                       "1 first waits for CU slots for the channels of first; "
                       "2 first waits for CU slots for the channels of first; "
                       "1 second waits for CU slots for the channels of second; "
                       "2 second waits for CU slots for the channels of second",
                       DeadlockError);
}

TEST_CASE("a barrier costs latency only, and a shift S on one link") {
  CHECK(time_of(plan_of(CollectiveKind::barrier, Algorithm::direct)).value == near(17e-6 + 2.2e-6, 1e-3));
  const ClusterSpec cluster = mi300x_like_cluster();
  CHECK(time_of(plan_of(CollectiveKind::send_receive, Algorithm::direct), cluster).value ==
        near(17e-6 + 2.2e-6 + 1e9 / (48.4e9 * 42.0 / 46.5)));
  for (const bool folded : {true, false}) {
    CAPTURE(folded);
    CHECK(time_of(plan_of(CollectiveKind::send_receive, Algorithm::direct), cluster, folded) ==
          time_of(plan_of(CollectiveKind::send_receive, Algorithm::direct), cluster, true));
  }
}

TEST_CASE("copy engines broadcast and exchange unequal sizes") {
  CollectivePlan plan = plan_of(CollectiveKind::broadcast, Algorithm::direct);
  plan.backend = Backend::dma;
  // Seven commands of one host, then each peer has an engine: 1 GB at 40 GB/s.
  CHECK(time_of(plan).value == near(7 * 0.6e-6 + 2.5e-6 + 0.3e-6 + 1e9 / 40e9 + 2.0e-6));
  plan = plan_of(CollectiveKind::all_to_all_v, Algorithm::direct);
  plan.backend = Backend::dma;
  plan.call.ranks = {3, 5};
  plan.call.sends = {0.0_MB, 100.0_MB, 400.0_MB, 0.0_MB};
  CHECK(time_of(plan).value == near(0.6e-6 + 2.5e-6 + 0.3e-6 + 400e6 / 40e9 + 2.0e-6));
}

}  // namespace c3::collectives_rooted_test
