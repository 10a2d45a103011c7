// Collectives in several groups at once: each as if it were alone, and the same folded and explicit.

#include <doctest/doctest.h>

#include <vector>

#include "tests/contract/collective_variants.hpp"
#include "tests/support/clusters.hpp"
#include "tests/support/near.hpp"

using namespace c3;
using namespace c3::literals;
using namespace c3::test;

namespace {

CollectivePlan in_groups(const Variant& variant, RankGroups groups) {
  CollectivePlan plan = variant.plan();
  plan.call.groups = groups;
  return plan;
}

/// Those of eight ranks.
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
  for (const int nics : {2, 4}) {
    const ClusterSpec cluster = nodes_of(NodeTopology::switched, 4, 4, nics);
    for (const RankGroups groups : {RankGroups{4, 1}, RankGroups{2, 2}, RankGroups{4, 4}, RankGroups{2, 8}}) {
      for (const CollectiveKind kind : kinds_of(Backend::cu)) {
        for (const Algorithm algorithm : kSymmetricAlgorithms) {
          for (const CollectiveGrain grain : kGrains) {
            CAPTURE(nics);
            CAPTURE(groups.size);
            CAPTURE(groups.stride);
            CAPTURE(name_of(kind));
            CAPTURE(name_of(algorithm));
            CAPTURE(static_cast<int>(grain));
            const Variant variant{Backend::cu, kind, algorithm, grain, true};
            const double folded = CollectiveBench(cluster, in_groups(variant, groups), true).run().value;
            CHECK(folded ==
                  near(CollectiveBench(cluster, in_groups(variant, groups), false).run().value, 2e-3));
          }
        }
      }
    }
  }
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
