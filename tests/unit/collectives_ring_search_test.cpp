// Rings and channels that NCCL finds over PCIe, against logs and the rules of its sources.

#include "collectives/library/ring_search.hpp"

#include <doctest/doctest.h>

#include "collectives/library/channel_protocol.hpp"
#include "tests/support/fabrics.hpp"
#include "tests/support/gpu_families.hpp"
#include "tests/support/near.hpp"
#include "tests/support/print_units.hpp"
#include "tests/support/wired_nodes.hpp"

namespace c3::collectives_ring_search_test {

using namespace literals;
using namespace test;

namespace {

/// Four GPUs on two sockets over PCIe of \p raw.
ClusterSpec over_pcie(BytesPerSecond raw, FamilySpec family, P2pReach p2p = P2pReach::direct) {
  ClusterSpec cluster = mi300x_like_cluster();
  cluster.node = tree_with_memory(p2p);
  cluster.node.link.raw = raw;
  cluster.node.host.between = 22.0_GBps;
  cluster.gpu.family = std::move(family);
  cluster.library.rules = TunerRules::nccl;
  cluster.library.tuner_bandwidth = 24.0_GBps;
  cluster.library.p2p_channels = 14;
  return cluster;
}

FamilySpec tuned_as(TunedGpu gpu) {
  FamilySpec family = hopper();
  family.tuned_as = gpu;
  return family;
}

FoundRings found(const ClusterSpec& cluster, const std::vector<int>& members) {
  return rings_over_pcie(cluster, members).value();
}

}  // namespace

TEST_CASE(
    "PCIe 5.0 gives four channels, PCIe 4.0 two: a ring of 45 GB/s is halved and doubled, one of 20 is not") {
  const ClusterSpec five = over_pcie(63.0_GBps, tuned_as(TunedGpu::blackwell));
  CHECK(found(five, {0, 1}).bandwidth() == 45.0_GBps);
  CHECK(found(five, {0, 1}).channels == 4);
  const ClusterSpec four = over_pcie(31.5_GBps, tuned_as(TunedGpu::ampere));
  CHECK(found(four, {0, 1}).bandwidth() == 20.0_GBps);
  CHECK(found(four, {0, 1}).channels == 2);
}

TEST_CASE("the way between sockets slows a ring down to a step of the list, or stops the search") {
  ClusterSpec cluster = over_pcie(63.0_GBps, tuned_as(TunedGpu::blackwell));
  CHECK(found(cluster, {0, 1, 2, 3}).bandwidth() == 20.0_GBps);
  CHECK(found(cluster, {0, 1, 2, 3}).channels == 2);
  cluster.node.host.between = 16.0_GBps;  // below the list's 18 GB/s
  CHECK(found(cluster, {0, 1, 2, 3}).bandwidth() == 0.1_GBps);
  CHECK(found(cluster, {0, 1, 2, 3}).channels == 2);
}

TEST_CASE("a ring that leaves through NICs goes from one to the next without the way between sockets") {
  ClusterSpec cluster = over_pcie(63.0_GBps, tuned_as(TunedGpu::blackwell), P2pReach::host);
  cluster.node.host.shm = false;
  CHECK(found(cluster, {0, 1, 2, 3}).bandwidth() == 45.0_GBps);
}

TEST_CASE("over nodes there are as many rings as NICs, where PCIe carries more") {
  // A NIC of 100 Gb/s counts 12 GB/s, of which PCIe 5.0 has four.
  ClusterSpec cluster = over_pcie(63.0_GBps, tuned_as(TunedGpu::blackwell));
  cluster.nodes = 2;
  cluster.fabric = one_switch(2);
  cluster.fabric->nic.raw = 12.5_GBps;
  CHECK(found(cluster, {0, 1, 4, 5}).bandwidth() == 24.0_GBps);
  CHECK(found(cluster, {0, 1, 4, 5}).channels == 4);
}

TEST_CASE("pairs have two channels for each peer") {
  const ClusterSpec cluster = over_pcie(63.0_GBps, tuned_as(TunedGpu::blackwell));
  CHECK(library_among(cluster, {0, 1}).p2p_channels == 2);
  CHECK(library_among(cluster, {0, 1, 2, 3}).p2p_channels == 6);
}

TEST_CASE("wires of their own, other libraries and unknown sockets leave the preset's channels") {
  ClusterSpec cluster = over_pcie(63.0_GBps, tuned_as(TunedGpu::blackwell));
  cluster.node.wires.push_back({0, 1});
  CHECK_FALSE(rings_over_pcie(cluster, {0, 1}));
  CHECK(rings_over_pcie(cluster, {0, 1, 2, 3}));
  ClusterSpec other = over_pcie(63.0_GBps, tuned_as(TunedGpu::blackwell));
  other.library.rules = TunerRules::rccl;
  CHECK_FALSE(rings_over_pcie(other, {0, 1}));
  ClusterSpec unknown = over_pcie(63.0_GBps, tuned_as(TunedGpu::blackwell));
  unknown.node.host = {};
  CHECK_FALSE(rings_over_pcie(unknown, {0, 1}));
}

TEST_CASE(
    "a step through host memory takes its latency beside a peer's, lines in ll come a thread's round later") {
  // Neighbours of the ring 0, 1, 2, 3 on one socket are peers; two of the four steps cross sockets.
  ClusterSpec cluster = over_pcie(63.0_GBps, tuned_as(TunedGpu::blackwell), P2pReach::host);
  CollectiveLibrarySpec& library = cluster.library;
  library.ll = library.simple;
  library.ll->hop_latency = 0.6_us;
  library.ll->threads = 512;
  library.ll->channel_rate = 13.0_GBps;
  const auto latency_and_rate = [&](P2pReach p2p) {
    cluster.node.host.p2p = p2p;
    const CollectiveCall call{.kind = CollectiveKind::all_gather, .bytes = 4.0_KiB};
    const TransferGraph graph = make_transfer_graph(call, Algorithm::ring, cluster);
    const ChannelProtocol channels(cluster, call, {Algorithm::ring, Protocol::ll}, graph);
    PlannedFlow step;
    step.hops = 4;
    return std::pair(channels.latency(step), channels.channel_rate());
  };
  const auto [of_peers, rate_of_peers] = latency_and_rate(P2pReach::all);
  CHECK(of_peers.value == near(4 * 0.6e-6));
  CHECK(rate_of_peers == 13.0_GBps);
  const auto [of_half, rate_of_half] = latency_and_rate(P2pReach::host);
  // A round of polls, a store of 0.6 us and one round trip of the 1.5 in 0.7 us, brings 4 KiB of a channel. The
  // step's 1 KiB takes a quarter of it, which is in the latency already.
  const double round = 0.6e-6 + 0.7e-6 / 1.5;
  CHECK(of_half.value == near(4 * (0.6e-6 + 0.35e-6 - round / 4)));
  CHECK(rate_of_half.value == near(512 * 8 / round));
}

}  // namespace c3::collectives_ring_search_test
