// Collectives in several groups at once: each as if it were alone, and the same folded and explicit.

#include <doctest/doctest.h>

#include <vector>

#include "collectives/measure.hpp"
#include "tests/contract/collective_variants.hpp"
#include "tests/support/clusters.hpp"
#include "tests/support/near.hpp"

namespace c3::collectives_groups_test {

using namespace literals;
using namespace test;

namespace {

CollectivePlan in_groups(const Variant& variant, RankGroups groups) {
  CollectivePlan plan = variant.plan();
  plan.call.groups = groups;
  return plan;
}

/// Groups of eight ranks.
const std::vector<RankGroups> kGroups = {{2, 1}, {2, 2}, {2, 4}, {4, 1}, {4, 2}};

}  // namespace

TEST_CASE("on links and ports of their own groups take as long as one of them alone, and as one rank for all") {
  for (const NodeTopology topology : {NodeTopology::full_mesh, NodeTopology::switched}) {
    const ClusterSpec cluster = nodes_of(topology, 1, 8);
    for (const RankGroups groups : kGroups) {
      for_each_variant([&](const Variant& variant) {
        if (variant.folded) return;
        CAPTURE(static_cast<int>(topology));
        CAPTURE(groups.size);
        CAPTURE(groups.stride);
        const CollectivePlan all = in_groups(variant, groups);
        CollectivePlan one = variant.plan();
        one.call.ranks = group_of(groups, 7);
        CollectiveBench at_once(cluster, all, /*folded=*/false);
        CollectiveBench alone(cluster, one, /*folded=*/false);
        CollectiveBench folded(cluster, all, /*folded=*/true);
        const Seconds time = at_once.run();
        CHECK(time.value == near(alone.run().value));
        CHECK(time.value == near(folded.run().value, 2e-3));
        for (const Seconds end : at_once.ended)
          CHECK(end.value > 0.0);
      });
    }
  }
}

TEST_CASE("a switch adds for all groups at once, and one rank stands for them") {
  const ClusterSpec cluster = reducing_nodes_of(1, 8);
  for (const RankGroups groups : kGroups) {
    for (const CollectiveKind kind :
         {CollectiveKind::all_reduce, CollectiveKind::all_gather, CollectiveKind::reduce_scatter}) {
      const Variant variant{Backend::cu, kind, Algorithm::nvls, CollectiveGrain::edge, true};
      CollectiveBench explicitly(cluster, in_groups(variant, groups), false);
      CollectiveBench folded(cluster, in_groups(variant, groups), true);
      const Seconds time = explicitly.run();
      CHECK(time.value == near(folded.run().value));
      CHECK(explicitly.recording.total("port7.out") == near(folded.recording.total("port0.out")));
    }
  }
}

TEST_CASE("a folded mesh shares a link between what a rank sends and what comes from its group") {
  // Engines of 48 GB/s over links that carry 46.5 each way when both are busy: the pace is the shared part's.
  ClusterSpec cluster = mi300x_like_cluster();
  cluster.gpu.dma.engine_bandwidth = 48.0_GBps;
  const Variant variant{Backend::dma, CollectiveKind::all_gather, Algorithm::direct, CollectiveGrain::edge,
                        true};
  for (const RankGroups groups : {RankGroups{2, 1}, RankGroups{2, 4}}) {
    // One command, and both ranks' halves at once.
    CHECK(CollectiveBench(cluster, in_groups(variant, groups), true).run().value ==
          near(0.6e-6 + 2.5e-6 + 0.3e-6 + 500e6 / 46.5e9 + 2.0e-6));
  }
}

TEST_CASE("one host thread makes the commands of all groups, one after another") {
  Variant variant{Backend::dma, CollectiveKind::all_gather, Algorithm::direct, CollectiveGrain::edge, false};
  CollectivePlan plan = in_groups(variant, {2, 1});
  plan.dma.host = DmaHost::node;
  CHECK(CollectiveBench(mi300x_like_cluster(), plan, false).run().value ==
        near(8 * 0.6e-6 + 2.5e-6 + 0.3e-6 + 500e6 / 40e9 + 2.0e-6));
}

TEST_CASE("groups over nodes: within each, or a GPU of each, folded as explicit") {
  ClusterSpec tree = nodes_of(NodeTopology::switched, 4, 4);
  tree.fabric = tree_of(FabricTopology::fat_tree, 8, 4.0);
  const ClusterSpec clusters[] = {nodes_of(NodeTopology::switched, 4, 4),
                                  nodes_of(NodeTopology::switched, 4, 4, 2),
                                  nodes_of(NodeTopology::full_mesh, 4, 4), tree};
  for (const ClusterSpec& cluster : clusters) {
    for (const RankGroups groups : {RankGroups{4, 1}, RankGroups{2, 2}, RankGroups{4, 4}, RankGroups{2, 8}}) {
      for_each_variant([&](const Variant& variant) {
        const bool crosses = groups.block() > cluster.node.gpus;
        if (variant.folded || (crosses && variant.backend == Backend::dma)) return;
        CAPTURE(cluster.fabric->name);
        CAPTURE(groups.size);
        CAPTURE(groups.stride);
        const double whole = CollectiveBench(cluster, in_groups(variant, groups), false).run().value;
        CHECK(whole == near(CollectiveBench(cluster, in_groups(variant, groups), true).run().value, 2e-3));
      });
    }
  }
}

TEST_CASE("halving and doubling in groups behind switches, and PAT over a GPU of each node, fold") {
  const auto check = [](const ClusterSpec& cluster, CollectiveKind kind, Algorithm algorithm,
                        RankGroups groups) {
    CAPTURE(name_of(kind));
    CAPTURE(groups.stride);
    const CollectivePlan plan = in_groups({Backend::cu, kind, algorithm, CollectiveGrain::step, true}, groups);
    CHECK(is_symmetric(plan.call, algorithm, cluster));
    const double whole = CollectiveBench(cluster, plan, false).run().value;
    CHECK(whole == near(CollectiveBench(cluster, plan, true).run().value, 2e-3));
  };
  const ClusterSpec nodes = nodes_of(NodeTopology::switched, 4, 4);
  for (const CollectiveKind kind : {CollectiveKind::all_gather, CollectiveKind::reduce_scatter}) {
    for (const RankGroups groups : {RankGroups{4, 1}, RankGroups{2, 2}, RankGroups{4, 4}})
      check(nodes, kind, Algorithm::halving_doubling, groups);
    check(nodes, kind, Algorithm::pat, {4, 4});
  }
}

TEST_CASE("measured in groups: as long as one group alone, but that one process launches on every GPU") {
  const ClusterSpec cluster = nodes_of(NodeTopology::switched, 1, 8);
  CollectiveCall all{.kind = CollectiveKind::all_gather, .bytes = 1.0_MB};
  CollectiveCall one = all;
  all.groups = RankGroups{4, 2};
  one.ranks = {1, 3, 5, 7};
  MeasuredMethod how;
  how.method.algorithm = Algorithm::direct;
  const CollectiveMeasurement together = measure_collective(cluster, all, how);
  CHECK(together.time.value == near(measure_collective(cluster, one, how).time.value));
  CHECK(together.channels == measure_collective(cluster, one, how).channels);
  ClusterSpec launched = cluster;
  launched.library.host_launch = 1.0_ms;
  how.launch = LaunchPath::one_process;
  CHECK(measure_collective(launched, all, how).time == 8.0_ms);
  CHECK(measure_collective(launched, one, how).time == 4.0_ms);
}

TEST_CASE("a host takes its time for every send and receive of a group, and once for a collective") {
  // Eight ranks: 14 sends and receives of an all-to-all, two of a pair, seven of a gather's root.
  ClusterSpec cluster = nodes_of(NodeTopology::switched, 1, 8);
  cluster.library.host_launch = 1.0_ms;
  cluster.library.group_operation = 0.5_ms;
  const auto time = [&](CollectiveKind kind, LaunchPath launch, Algorithm algorithm = Algorithm::direct) {
    const CollectiveCall call{.kind = kind, .bytes = 1.0_KiB};
    return measure_collective(cluster, call, {.method = {algorithm}, .launch = launch}).time.value;
  };
  CHECK(time(CollectiveKind::all_to_all, LaunchPath::eager) == near(7.5e-3));
  CHECK(time(CollectiveKind::all_to_all, LaunchPath::one_process) == near(8 * 7.5e-3));
  CHECK(time(CollectiveKind::send_receive, LaunchPath::eager) == near(1.5e-3));
  CHECK(time(CollectiveKind::gather, LaunchPath::eager) == near(4e-3));
  CHECK(time(CollectiveKind::all_gather, LaunchPath::eager) == near(1e-3));
  CHECK(time(CollectiveKind::all_to_all, LaunchPath::eager, Algorithm::ring) == near(1e-3));
  CHECK(time(CollectiveKind::all_to_all, LaunchPath::graph) < 1e-3);
}

TEST_CASE("groups over two GPUs of each node share its NICs, and all of them are there") {
  // Groups {0, 1, 4, 5, ..}: not alike, so every rank runs; each NIC carries what its own rank sends.
  const ClusterSpec cluster = nodes_of(NodeTopology::switched, 2, 4);
  const Variant variant{Backend::cu, CollectiveKind::all_gather, Algorithm::direct, CollectiveGrain::edge,
                        false};
  CollectiveBench bench(cluster, in_groups(variant, {4, 2}), false);
  bench.run();
  for (const char* nic : {"node0.nic0.out", "node0.nic3.out", "node1.nic1.out"})
    CHECK(bench.recording.total(nic) == near(2 * 250e6));  // a quarter of 1 GB to each of two ranks elsewhere
}

}  // namespace c3::collectives_groups_test
