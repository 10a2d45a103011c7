// The contract of collectives over several nodes: times at every grain, folded and explicit, and bytes on NICs.

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "collectives/planned_flows.hpp"
#include "tests/contract/collective_variants.hpp"
#include "tests/support/clusters.hpp"
#include "tests/support/near.hpp"

namespace c3::collectives_nodes_test {

using namespace literals;
using namespace test;

namespace {

/// NICs of 45 GB/s both ways; channels that nothing else limits, so that links do.
ClusterSpec fast_channels(ClusterSpec cluster) {
  cluster.library.simple.channel_rate = cluster.library.cu_rate = 100.0_GBps;
  return cluster;
}
ClusterSpec meshes(int nodes, int gpus) {
  return fast_channels(nodes_of(NodeTopology::full_mesh, nodes, gpus));
}
ClusterSpec switches(int nodes, int gpus) { return fast_channels(reducing_nodes_of(nodes, gpus)); }

struct Case {
  CollectiveKind kind;
  Algorithm algorithm;
  ClusterSpec cluster;
};

CollectivePlan plan_of(const Case& c, CollectiveGrain grain, Bytes bytes = 1.0_GB) {
  CollectivePlan plan;
  plan.name = name_of(c.kind);
  plan.call = {.kind = c.kind, .bytes = bytes};
  plan.method.algorithm = c.algorithm;
  plan.grain = grain;
  return plan;
}

double time_of(const Case& c, CollectiveGrain grain, bool folded, Bytes bytes = 1.0_GB) {
  return CollectiveBench(c.cluster, plan_of(c, grain, bytes), folded).run().value;
}

/// Every algorithm over nodes with each kind that it runs.
std::vector<Case> all_cases() {
  std::vector<Case> cases;
  const auto add = [&](Algorithm algorithm, const ClusterSpec& cluster) {
    for (const CollectiveKind kind :
         {CollectiveKind::all_reduce, CollectiveKind::all_gather, CollectiveKind::reduce_scatter,
          CollectiveKind::all_to_all, CollectiveKind::broadcast, CollectiveKind::reduce, CollectiveKind::gather,
          CollectiveKind::scatter}) {
      const bool forwards =
          kind == CollectiveKind::all_to_all && algorithm == Algorithm::ring;  // unequal steps
      if (supports(algorithm, kind) && !forwards) cases.push_back({kind, algorithm, cluster});
    }
  };
  add(Algorithm::direct, meshes(2, 4));
  add(Algorithm::direct, switches(3, 2));
  add(Algorithm::ring, meshes(2, 4));
  add(Algorithm::ring, meshes(3, 3));
  add(Algorithm::ring, switches(4, 2));
  add(Algorithm::tree, switches(4, 2));
  add(Algorithm::tree, meshes(3, 4));
  add(Algorithm::nvls_tree, switches(4, 4));
  add(Algorithm::hierarchical, meshes(3, 4));
  add(Algorithm::hierarchical, switches(4, 4));
  add(Algorithm::collnet, switches(3, 4));
  add(Algorithm::halving_doubling, switches(4, 2));
  add(Algorithm::pat, switches(5, 1));
  return cases;
}

template <class Check>
void for_each_case(Check check) {
  for (const Case& c : all_cases()) {
    CAPTURE(name_of(c.kind));
    CAPTURE(name_of(c.algorithm));
    CAPTURE(c.cluster.nodes);
    CAPTURE(c.cluster.node.gpus);
    check(c);
  }
}

}  // namespace

TEST_CASE(
    "over nodes grain edge takes as long as step within 2 %, gang too but where stages go at unlike rates") {
  for_each_case([](const Case& c) {
    const double step = time_of(c, CollectiveGrain::step, false);
    CHECK(time_of(c, CollectiveGrain::edge, false) == near(step, 2e-2));
    const bool has_stages = c.algorithm == Algorithm::tree || c.algorithm == Algorithm::nvls_tree ||
                            c.algorithm == Algorithm::hierarchical;
    CHECK(time_of(c, CollectiveGrain::gang, false) == near(step, has_stages ? 6e-2 : 2e-2));
  });
}

TEST_CASE("a ring's fast edges hide latency behind its slow one, whatever the grain, at all sizes") {
  // NICs of a link and of a quarter: at 64 MB an edge's own time is about a step's latency, at 8 GB far more.
  for (const int nodes : {2, 3}) {
    ClusterSpec cluster = meshes(nodes, 4);
    cluster.library.simple.network_latency = 10.0_us;
    for (const double slower : {1.0, 4.0}) {
      cluster.fabric->nic.both_ways = cluster.fabric->nic.one_way = 40.0_GBps * (1.0 / slower);
      for (const CollectiveKind kind :
           {CollectiveKind::all_reduce, CollectiveKind::all_gather, CollectiveKind::reduce_scatter}) {
        const Case c{kind, Algorithm::ring, cluster};
        for (const Bytes bytes : {1.0_MB, 16.0_MB, 64.0_MB, 256.0_MB, 1.0_GB, 8.0_GB}) {
          CAPTURE(bytes.value);
          const double step = time_of(c, CollectiveGrain::step, false, bytes);
          CHECK(time_of(c, CollectiveGrain::edge, false, bytes) == near(step, 2e-2));
          CHECK(time_of(c, CollectiveGrain::gang, false, bytes) == near(step, 2e-2));
        }
      }
    }
  }
}

TEST_CASE("where channels limit a tree over nodes, every edge has its lane's rate at all grains") {
  for (const ClusterSpec& cluster : {reducing_nodes_of(8, 4), nodes_of(NodeTopology::full_mesh, 3, 4)}) {
    ClusterSpec slow = cluster;  // 8 GB/s a lane at most, where links carry 42
    slow.library.simple.channel_rate = 0.5_GBps;
    for (const CollectiveKind kind :
         {CollectiveKind::all_reduce, CollectiveKind::broadcast, CollectiveKind::reduce}) {
      CAPTURE(name_of(kind));
      const Case c{kind, Algorithm::tree, slow};
      const double edge = time_of(c, CollectiveGrain::edge, false, 8.0_GB);
      CHECK(time_of(c, CollectiveGrain::gang, false, 8.0_GB) == near(edge, 2e-2));
    }
  }
}

TEST_CASE("a small chain pays each way between nodes once at all grains, although its rings take it in turns") {
  for (const CollectiveKind kind : {CollectiveKind::broadcast, CollectiveKind::reduce}) {
    Case c{kind, Algorithm::ring, meshes(3, 4)};
    c.cluster.library.simple.network_latency = 10.0_us;
    const double step = time_of(c, CollectiveGrain::step, false, 1.0_kB);
    CHECK(time_of(c, CollectiveGrain::edge, false, 1.0_kB) == near(step, 2e-2));
    CHECK(time_of(c, CollectiveGrain::gang, false, 1.0_kB) == near(step, 2e-2));
  }
}

TEST_CASE("over nodes one rank for all takes as long as all of them, within 0.2 %") {
  int folds = 0;
  for_each_case([&](const Case& c) {
    if (!is_symmetric({.kind = c.kind}, c.algorithm, c.cluster)) return;
    for (const CollectiveGrain grain : kGrains) {
      CHECK(time_of(c, grain, true) == near(time_of(c, grain, false), 2e-3));
      ++folds;
    }
  });
  CHECK(folds >= 3 * 12);
}

TEST_CASE("over nodes every NIC carries what its GPU's transfers send and get") {
  for_each_case([](const Case& c) {
    const TransferGraph graph = make_transfer_graph({.kind = c.kind, .bytes = 1.0_GB}, c.algorithm, c.cluster);
    std::map<std::string, double> bytes;
    for (const Transfer& t : graph.transfers) {
      const int gpus = c.cluster.node.gpus;
      if (!graph.crosses(t)) continue;
      bytes[fmt::format("node{}.nic{}.out", t.src / gpus, t.src % gpus)] += t.bytes.value;
      bytes[fmt::format("node{}.nic{}.in", t.dst / gpus, t.dst % gpus)] += t.bytes.value;
    }
    CHECK_FALSE(bytes.empty());
    for (const CollectiveGrain grain : kGrains) {
      CollectiveBench bench(c.cluster, plan_of(c, grain), false);
      bench.run();
      for (const auto& [nic, sum] : bytes)
        CHECK(bench.recording.total(nic) == near(sum));
    }
  });
}

TEST_CASE("a ring over two meshes of eight goes at the pace of its slowest link: S (N-1)/N / 8 at 42 GB/s") {
  // Eight rings of S/8 over links of 42 GB/s of payload and NICs of 45 GB/s; latencies are 1 % at 8 GB.
  const Case c{CollectiveKind::all_gather, Algorithm::ring, meshes(2, 8)};
  CHECK(time_of(c, CollectiveGrain::edge, false, 8.0_GB) == near(8e9 / 8 * 15 / 16 / 42e9, 1e-2));
}

TEST_CASE("an NVLS tree over two nodes is limited by S + S/g at its ports, over four by 2S/g at its NICs") {
  // 9 GB at 280 GB/s are 32 ms, S/g at 45 GB/s 22 ms, 2S/g 44 ms.
  for (const int nodes : {2, 4}) {
    const Case c{CollectiveKind::all_reduce, Algorithm::nvls_tree, switches(nodes, 8)};
    const double expected = nodes == 2 ? 8e9 * (1 + 1.0 / 8) / 280e9 : 2 * 8e9 / 8 / 45e9;
    CHECK(time_of(c, CollectiveGrain::edge, false, 8.0_GB) == near(expected, 4e-2));
  }
}

TEST_CASE("hierarchical over three meshes of eight: NICs carry 2S/g (n-1)/n, links 2S/g") {
  // The links of a mesh are the slowest here: 2S/8 at 42 GB/s. The first chunk goes through two other phases.
  const Case c{CollectiveKind::all_reduce, Algorithm::hierarchical, meshes(3, 8)};
  CHECK(time_of(c, CollectiveGrain::edge, true, 8.0_GB) == near(2 * 8e9 / 8 / 42e9, 2e-2));
}

TEST_CASE("hierarchical, whose phases go at paces of their own, takes as long at edge as at step within 5 %") {
  // Few chunks, as many as a ring's steps hide, and many; NICs as fast as links and far slower.
  for (const int nodes : {2, 4, 9}) {
    ClusterSpec cluster = meshes(nodes, 4);
    cluster.library.simple.network_latency = 15.0_us;
    for (const double nic : {40.0, 10.0}) {
      cluster.fabric->nic.both_ways = cluster.fabric->nic.one_way = nic * 1.0_GBps;
      for (const CollectiveKind kind :
           {CollectiveKind::all_reduce, CollectiveKind::all_gather, CollectiveKind::reduce_scatter}) {
        const Case c{kind, Algorithm::hierarchical, cluster};
        for (const Bytes bytes : {4.0_MB, 32.0_MB, 256.0_MB, 2.0_GB}) {
          CAPTURE(nodes);
          CAPTURE(nic);
          CAPTURE(name_of(kind));
          CAPTURE(bytes.value);
          const double step = time_of(c, CollectiveGrain::step, true, bytes);
          CHECK(time_of(c, CollectiveGrain::edge, true, bytes) == near(step, 5e-2));
        }
      }
    }
  }
}

TEST_CASE("a tree over 32 ranks in hundreds of chunks takes as long at edge as at step within 3 %") {
  Case c{CollectiveKind::all_reduce, Algorithm::tree, switches(8, 4)};
  c.cluster.library.chunk_size = 64.0_KiB;
  const double step = time_of(c, CollectiveGrain::step, false, 64.0_MB);
  CHECK(time_of(c, CollectiveGrain::edge, false, 64.0_MB) == near(step, 3e-2));
}

TEST_CASE("grain auto takes step, edge or gang by the number of flows, and agrees with step") {
  for_each_case([](const Case& c) {
    const double step = time_of(c, CollectiveGrain::step, false);
    CHECK(time_of(c, CollectiveGrain::automatic, false) == near(step, 2e-2));
  });
  const CollectiveCall call{.kind = CollectiveKind::all_reduce, .bytes = 1.0_GB};
  const auto chosen = [&](Algorithm algorithm, const ClusterSpec& cluster, int chunks) {
    GraphForm form;
    form.every_step = false;
    return choose_grain(make_transfer_graph(call, algorithm, cluster, form), chunks);
  };
  CHECK(chosen(Algorithm::ring, mi300x_like_cluster(), 1) == CollectiveGrain::step);  // 784 flows
  CHECK(chosen(Algorithm::ring, meshes(8, 8), 1) == CollectiveGrain::edge);           // 64,512; 512 edges
  CHECK(chosen(Algorithm::ring, meshes(512, 8), 1) == CollectiveGrain::gang);         // 32,768 edges
  CHECK(chosen(Algorithm::tree, switches(4, 8), 1) == CollectiveGrain::step);
  CHECK(chosen(Algorithm::tree, switches(4, 8), 10) == CollectiveGrain::edge);
}

TEST_CASE("more rings or pairs than channels: fewer rings, and pairs that share channels one after another") {
  ClusterSpec cluster = mi300x_like_cluster(12);
  cluster.library.channels = 4;
  for (const CollectiveGrain grain : kGrains) {
    const Case ring{CollectiveKind::all_gather, Algorithm::ring, cluster};
    // Four rings of one channel of 8 GB/s each.
    CHECK(time_of(ring, grain, true) == near(1e9 * 11 / 12 / 4 / 8e9, 2e-2));
    const Case direct{CollectiveKind::all_gather, Algorithm::direct, cluster};
    CHECK(time_of(direct, grain, true) == near(1e9 * 11 / 12 / 4 / 8e9, 0.1));  // eleven pairs on four lanes
  }
}

}  // namespace c3::collectives_nodes_test
