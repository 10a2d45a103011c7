// Which method and how many channels RCCL takes: a table of its choices by release, GPU and size.
//
// The table was worked out apart from the code under test, by a script that reads the rules and tables in
// src/graph/tuning.cc, rccl_wrap.cc, enqueue.cc and collectives.cc of RCCL 2.21.5 (commit 0cbce2a7), 2.22.3
// (36343be8), 2.26.6 (5e7937ef), 2.27.7 (0f99fd84) and 2.28.3 (3d4813d9). Gathers and scatters within a node
// are ours, direct instead of along its rings. As an example, two nodes of MI355X, 2.26.6, all-reduce of 16
// MiB: the tuner expects least of a ring, and 131,071 to 17,660,227 B go in LL128.

#include <doctest/doctest.h>
#include "collectives/library/channel_protocol.hpp"
#include "collectives/library/rccl_rules.hpp"

#include <vector>

#include "tests/support/clusters.hpp"
#include "tests/support/method_choices.hpp"

namespace c3::collectives_rccl_choice_test {

using namespace literals;
using namespace test;

namespace {

struct Row {
  TunedGpu gpu;
  LibraryVersion version;
  int nodes;
  CollectiveKind kind;
  std::vector<Choice> choices;
};

// clang-format off
const std::vector<Row> kRows{
    {TunedGpu::mi300x, {2, 21, 5}, 1, CollectiveKind::all_reduce, {{18, "ring ll"}, {34, "ring simple"}}},
    {TunedGpu::mi300x, {2, 21, 5}, 2, CollectiveKind::all_reduce, {{18, "tree ll"}, {19, "ring ll"}, {21, "tree ll"}, {28, "tree simple"}, {34, "ring simple"}}},
    {TunedGpu::mi300x, {2, 21, 5}, 4, CollectiveKind::all_reduce, {{20, "tree ll"}, {29, "tree simple"}, {34, "ring simple"}}},
    {TunedGpu::mi300x, {2, 21, 5}, 2, CollectiveKind::all_gather, {{21, "ring ll"}, {34, "ring simple"}}},
    {TunedGpu::mi300x, {2, 22, 3}, 2, CollectiveKind::all_reduce, {{18, "tree ll"}, {19, "ring ll"}, {21, "tree ll"}, {28, "tree simple"}, {34, "ring simple"}}},
    {TunedGpu::mi300x, {2, 26, 6}, 1, CollectiveKind::all_reduce, {{18, "ring ll"}, {34, "ring simple"}}},
    {TunedGpu::mi300x, {2, 26, 6}, 2, CollectiveKind::all_reduce, {{18, "tree ll"}, {19, "ring ll"}, {20, "tree ll"}, {23, "tree ll128"}, {26, "tree simple"}, {34, "ring simple"}}},
    {TunedGpu::mi300x, {2, 26, 6}, 4, CollectiveKind::all_reduce, {{20, "tree ll"}, {25, "tree ll128"}, {27, "tree simple"}, {34, "ring simple"}}},
    {TunedGpu::mi300x, {2, 26, 6}, 2, CollectiveKind::all_gather, {{20, "ring ll"}, {26, "ring ll128"}, {34, "ring simple"}}},
    {TunedGpu::mi300x, {2, 26, 6}, 2, CollectiveKind::reduce_scatter, {{21, "ring ll"}, {25, "ring ll128"}, {34, "ring simple"}}},
    {TunedGpu::mi300x, {2, 26, 6}, 2, CollectiveKind::broadcast, {{21, "ring ll"}, {34, "ring simple"}}},
    {TunedGpu::mi300x, {2, 27, 7}, 1, CollectiveKind::all_reduce, {{18, "ring ll"}, {34, "ring simple"}}},
    {TunedGpu::mi300x, {2, 27, 7}, 2, CollectiveKind::all_reduce, {{18, "tree ll"}, {19, "ring ll"}, {20, "tree ll"}, {23, "tree ll128"}, {26, "tree simple"}, {34, "ring simple"}}},
    {TunedGpu::mi300x, {2, 27, 7}, 4, CollectiveKind::all_reduce, {{20, "tree ll"}, {25, "tree ll128"}, {27, "tree simple"}, {34, "ring simple"}}},
    {TunedGpu::mi300x, {2, 27, 7}, 1, CollectiveKind::all_gather, {{17, "direct ll"}, {34, "direct simple"}}},
    {TunedGpu::mi300x, {2, 27, 7}, 2, CollectiveKind::all_gather, {{18, "direct ll"}, {22, "direct simple"}, {26, "ring ll128"}, {34, "ring simple"}}},
    {TunedGpu::mi300x, {2, 27, 7}, 1, CollectiveKind::reduce_scatter, {{18, "ring ll"}, {34, "ring simple"}}},
    {TunedGpu::mi300x, {2, 27, 7}, 2, CollectiveKind::reduce_scatter, {{21, "ring ll"}, {25, "ring ll128"}, {34, "ring simple"}}},
    {TunedGpu::mi300x, {2, 27, 7}, 2, CollectiveKind::broadcast, {{17, "ring ll"}, {29, "ring ll128"}, {34, "ring simple"}}},
    {TunedGpu::mi300x, {2, 28, 3}, 1, CollectiveKind::all_reduce, {{18, "ring ll"}, {34, "ring simple"}}},
    {TunedGpu::mi300x, {2, 28, 3}, 2, CollectiveKind::all_reduce, {{18, "tree ll"}, {19, "ring ll"}, {22, "tree ll128"}, {26, "tree simple"}, {34, "ring simple"}}},
    {TunedGpu::mi300x, {2, 28, 3}, 4, CollectiveKind::all_reduce, {{19, "tree ll"}, {24, "tree ll128"}, {29, "tree simple"}, {34, "ring simple"}}},
    {TunedGpu::mi300x, {2, 28, 3}, 1, CollectiveKind::all_gather, {{17, "direct ll"}, {34, "direct simple"}}},
    {TunedGpu::mi300x, {2, 28, 3}, 2, CollectiveKind::all_gather, {{18, "direct ll"}, {22, "direct simple"}, {26, "ring ll128"}, {34, "ring simple"}}},
    {TunedGpu::mi300x, {2, 28, 3}, 1, CollectiveKind::reduce_scatter, {{21, "ring ll"}, {34, "ring simple"}}},
    {TunedGpu::mi300x, {2, 28, 3}, 2, CollectiveKind::reduce_scatter, {{21, "ring ll"}, {25, "ring ll128"}, {34, "ring simple"}}},
    {TunedGpu::mi300x, {2, 28, 3}, 2, CollectiveKind::broadcast, {{17, "ring ll"}, {29, "ring ll128"}, {34, "ring simple"}}},
    {TunedGpu::mi355x, {2, 26, 6}, 1, CollectiveKind::all_reduce, {{18, "ring ll"}, {34, "ring simple"}}},
    {TunedGpu::mi355x, {2, 26, 6}, 2, CollectiveKind::all_reduce, {{16, "tree ll"}, {18, "tree ll128"}, {19, "ring ll128"}, {23, "tree ll128"}, {24, "ring ll128"}, {27, "tree simple"}, {34, "ring simple"}}},
    {TunedGpu::mi355x, {2, 26, 6}, 4, CollectiveKind::all_reduce, {{16, "tree ll"}, {25, "tree ll128"}, {27, "tree simple"}, {34, "ring simple"}}},
    {TunedGpu::mi355x, {2, 26, 6}, 1, CollectiveKind::all_gather, {{17, "direct ll"}, {34, "direct simple"}}},
    {TunedGpu::mi355x, {2, 26, 6}, 2, CollectiveKind::all_gather, {{27, "ring ll128"}, {34, "ring simple"}}},
    {TunedGpu::mi355x, {2, 26, 6}, 4, CollectiveKind::all_gather, {{19, "direct ll"}, {22, "direct simple"}, {28, "ring ll128"}, {34, "ring simple"}}},
    {TunedGpu::mi355x, {2, 26, 6}, 2, CollectiveKind::reduce_scatter, {{20, "ring ll"}, {26, "ring ll128"}, {34, "ring simple"}}},
    {TunedGpu::mi355x, {2, 26, 6}, 2, CollectiveKind::broadcast, {{15, "ring ll"}, {28, "ring ll128"}, {34, "ring simple"}}},
    {TunedGpu::mi355x, {2, 27, 7}, 1, CollectiveKind::all_reduce, {{18, "ring ll"}, {34, "ring simple"}}},
    {TunedGpu::mi355x, {2, 27, 7}, 2, CollectiveKind::all_reduce, {{16, "tree ll"}, {18, "tree ll128"}, {19, "ring ll128"}, {23, "tree ll128"}, {24, "ring ll128"}, {27, "tree simple"}, {34, "ring simple"}}},
    {TunedGpu::mi355x, {2, 27, 7}, 4, CollectiveKind::all_reduce, {{16, "tree ll"}, {25, "tree ll128"}, {27, "tree simple"}, {34, "ring simple"}}},
    {TunedGpu::mi355x, {2, 27, 7}, 1, CollectiveKind::all_gather, {{17, "direct ll"}, {34, "direct simple"}}},
    {TunedGpu::mi355x, {2, 27, 7}, 2, CollectiveKind::all_gather, {{18, "direct ll"}, {22, "direct simple"}, {27, "ring ll128"}, {34, "ring simple"}}},
    {TunedGpu::mi355x, {2, 27, 7}, 4, CollectiveKind::all_gather, {{19, "direct ll"}, {23, "direct simple"}, {28, "ring ll128"}, {34, "ring simple"}}},
    {TunedGpu::mi355x, {2, 27, 7}, 2, CollectiveKind::reduce_scatter, {{20, "ring ll"}, {26, "ring ll128"}, {34, "ring simple"}}},
    {TunedGpu::mi355x, {2, 27, 7}, 2, CollectiveKind::broadcast, {{15, "ring ll"}, {28, "ring ll128"}, {34, "ring simple"}}},
    {TunedGpu::mi355x, {2, 28, 3}, 1, CollectiveKind::all_reduce, {{18, "tree ll"}, {34, "ring simple"}}},
    {TunedGpu::mi355x, {2, 28, 3}, 2, CollectiveKind::all_reduce, {{18, "tree ll"}, {19, "ring ll128"}, {23, "tree ll128"}, {24, "ring ll128"}, {25, "tree ll128"}, {26, "ring ll128"}, {34, "ring simple"}}},
    {TunedGpu::mi355x, {2, 28, 3}, 4, CollectiveKind::all_reduce, {{18, "tree ll"}, {25, "tree ll128"}, {28, "ring ll128"}, {34, "ring simple"}}},
    {TunedGpu::mi355x, {2, 28, 3}, 1, CollectiveKind::all_gather, {{17, "direct ll"}, {34, "direct simple"}}},
    {TunedGpu::mi355x, {2, 28, 3}, 2, CollectiveKind::all_gather, {{18, "direct ll"}, {22, "direct simple"}, {27, "ring ll128"}, {34, "ring simple"}}},
    {TunedGpu::mi355x, {2, 28, 3}, 4, CollectiveKind::all_gather, {{19, "direct ll"}, {23, "direct simple"}, {28, "ring ll128"}, {34, "ring simple"}}},
    {TunedGpu::mi355x, {2, 28, 3}, 1, CollectiveKind::reduce_scatter, {{23, "ring ll"}, {34, "ring simple"}}},
    {TunedGpu::mi355x, {2, 28, 3}, 2, CollectiveKind::reduce_scatter, {{20, "ring ll"}, {27, "ring ll128"}, {34, "ring simple"}}},
    {TunedGpu::mi355x, {2, 28, 3}, 1, CollectiveKind::broadcast, {{18, "ring ll"}, {34, "ring simple"}}},
    {TunedGpu::mi355x, {2, 28, 3}, 2, CollectiveKind::broadcast, {{15, "ring ll"}, {28, "ring ll128"}, {34, "ring simple"}}},
};
// clang-format on

ClusterSpec cluster_of(TunedGpu gpu, LibraryVersion version, int nodes) {
  ClusterSpec cluster = nodes_of(NodeTopology::full_mesh, nodes, 8);
  cluster.gpu.family.tuned_as = gpu;
  if (cluster.fabric) cluster.fabric->nic.both_ways = 40.0_GBps;
  CollectiveLibrarySpec& library = cluster.library;
  library.rules = TunerRules::rccl;
  library.version = version;
  library.tuner_bandwidth = 336.0_GBps;
  library.channels = gpu == TunedGpu::mi355x ? 112 : 56;
  library.simple.threads = 256;
  library.ll = library.ll128 = library.simple;
  return cluster;
}

}  // namespace

TEST_CASE("RCCL's choice is that of the sources of its release") {
  for (const Row& row : kRows) {
    CAPTURE(name_of(row.gpu));
    CAPTURE(name_of(row.version));
    CAPTURE(row.nodes);
    check_choices(cluster_of(row.gpu, row.version, row.nodes), row.kind, row.choices);
  }
}

TEST_CASE("what a user asks for stays, whatever RCCL would take by size") {
  ClusterSpec cluster = cluster_of(TunedGpu::mi355x, {2, 28, 3}, 2);
  const CollectiveCall call{.kind = CollectiveKind::all_reduce, .bytes = 1.0_MiB};
  CHECK(chosen_method(cluster, call) == "tree ll128");
  CHECK(choose_method(call, cluster, {.protocol = Protocol::ll}).protocol == Protocol::ll);
  const CollectiveMethod ring = choose_method(call, cluster, {.algorithm = Algorithm::ring});
  CHECK(ring.algorithm == Algorithm::ring);
  CHECK(ring.protocol == Protocol::ll128);  // NCCL_ALGO leaves the protocol to the library
  cluster.library.permits.protocols = Permits({{.excludes = true, .names = {"ll128"}}});
  CHECK(chosen_method(cluster, call) != "tree ll128");
  cluster.library.permits = {};
  cluster.library.ll128 = std::nullopt;
  CHECK(chosen_method(cluster, call) == "tree simple");
  const CollectiveCall gather{.kind = CollectiveKind::all_gather, .bytes = 1.0_MiB};
  CHECK(chosen_method(cluster, gather).starts_with("direct"));
  cluster.library.permits.algorithms = Permits({{.excludes = true, .names = {"direct"}}});
  CHECK(chosen_method(cluster, gather).starts_with("ring"));
}

TEST_CASE(
    "over nodes RCCL runs at most 64 channels, and on MI355X as many as gathers' sizes say from 2.27 on") {
  const auto channels = [](LibraryVersion version, int nodes, CollectiveKind kind, Bytes bytes,
                           Protocol protocol, ChannelLimits limits = {}) {
    const ClusterSpec cluster = cluster_of(TunedGpu::mi355x, version, nodes);
    return channels_used(cluster, {.kind = kind, .bytes = bytes}, {Algorithm::ring, protocol, limits},
                         8 * nodes, 1);
  };
  const auto gather = CollectiveKind::all_gather, sum = CollectiveKind::all_reduce;
  CHECK(channels({2, 26, 6}, 1, sum, 1.0_GiB, Protocol::simple) == 112);
  CHECK(channels({2, 26, 6}, 2, sum, 1.0_GiB, Protocol::simple) == 64);
  // 16 ranks of 256 KiB: 16 channels, by bytes of a thread in ll128 (64 a rank) 4 MiB / 256 / 1024 = 16,
  // too; of 128 KiB 16 and 8.
  CHECK(channels({2, 26, 6}, 2, gather, 4.0_MiB, Protocol::ll128) == 16);
  CHECK(channels({2, 27, 7}, 2, gather, 4.0_MiB, Protocol::ll128) == 16);
  CHECK(channels({2, 26, 6}, 2, gather, 2.0_MiB, Protocol::ll128) == 8);
  CHECK(channels({2, 27, 7}, 2, gather, 2.0_MiB, Protocol::ll128) == 16);
  CHECK(channels({2, 27, 7}, 2, gather, 64.0_MiB, Protocol::ll128) == 56);
  CHECK(channels({2, 27, 7}, 2, gather, 128.0_MiB, Protocol::ll128) == 64);
  // A number that a user sets leaves channels to the usual 8 B of a thread.
  CHECK(channels({2, 27, 7}, 2, gather, 1.0_MiB, Protocol::ll128, {.least = 0, .most = 60}) == 60);
}

}  // namespace c3::collectives_rccl_choice_test
