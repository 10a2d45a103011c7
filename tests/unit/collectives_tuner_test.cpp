// What a library expects of its methods, and which one it takes.

#include <doctest/doctest.h>
#include "collectives/library/tuner.hpp"

#include "collectives/measure.hpp"

#include "collectives/library/channel_protocol.hpp"
#include "engine/errors.hpp"
#include "tests/support/fabrics.hpp"
#include "tests/support/gpu_families.hpp"
#include "tests/support/near.hpp"

namespace c3::collectives_tuner_test {

using namespace literals;
using namespace test;

namespace {

/// Eight GPUs behind a switch that reduces; a library of NCCL's rules with round bandwidths.
ClusterSpec nccl_like(int nodes = 1) {
  ClusterSpec cluster = mi300x_like_cluster();
  cluster.node = switched(8);
  cluster.node.switch_reduces = true;
  cluster.node.nic_slots = 8;
  cluster.node.pcie = node_of_four().pcie;
  cluster.gpu.family = hopper();
  cluster.nodes = nodes;
  cluster.fabric = one_switch(8);
  CollectiveLibrarySpec& library = cluster.library;
  library.channels = 16;
  library.rules = TunerRules::nccl;
  library.tuner_bandwidth = 320.0_GBps;
  library.nvls_channels = 16;
  library.nvls_payload = 300.0_GBps;
  library.ring_plateau = 1.4;
  library.ll = library.ll128 = library.simple;
  library.ll->link_share = 0.4;
  library.ll128->link_share = 0.9;
  return cluster;
}

CollectiveCall call_of(CollectiveKind kind, Bytes bytes) { return {.kind = kind, .bytes = bytes}; }

std::string chosen(const ClusterSpec& cluster, CollectiveKind kind, Bytes bytes) {
  const CollectiveMethod method = choose_method(call_of(kind, bytes), cluster);
  return std::string(name_of(method.algorithm)) + " " + std::string(name_of(method.protocol));
}

}  // namespace

TEST_CASE("a ring is expected to take its base, its steps and its bytes at a share of the bus bandwidth") {
  const ClusterSpec cluster = nccl_like();
  const CollectiveCall sum = call_of(CollectiveKind::all_reduce, 1.0_MiB);
  // 14 steps of 0.6 us; 2 x 7/8 of the bytes at half of 320 GB/s, but at most 141 on Hopper
  const double ll = 6.6e-6 + 14 * 0.6e-6 + 1048576.0 * 1.75 / 141e9;
  CHECK(expected_time(sum, Algorithm::ring, Protocol::ll, cluster)->value == near(ll));
  // 320 GB/s are found as 8 x 40; 8 x 36.7 do not carry the 0.92 that the lines leave
  const double ll128 = 14e-6 + 14 * 1.9e-6 + 1048576.0 * 1.75 / 293.6e9;
  CHECK(expected_time(sum, Algorithm::ring, Protocol::ll128, cluster)->value == near(ll128));
  const CollectiveCall gather = call_of(CollectiveKind::all_gather, 1.0_MiB);
  const double simple = 8.4e-6 + 7 * 3.4e-6 + 1048576.0 * 0.875 / 320e9;
  CHECK(expected_time(gather, Algorithm::ring, Protocol::simple, cluster)->value == near(simple));
}

TEST_CASE("between nodes a step costs the network's latency, and a loaded simple ring 1.4 times as much") {
  const ClusterSpec cluster = nccl_like(2);
  // 16 ranks: 30 steps, two between nodes. NICs carry 8 x 45 GB/s, the links within a node 320.
  const CollectiveCall small = call_of(CollectiveKind::all_reduce, 8.0_KiB);
  const double few = 8.4e-6 + 28 * 3.4e-6 + 2 * 14e-6 + 8192.0 * 1.875 / 320e9;
  CHECK(expected_time(small, Algorithm::ring, Protocol::simple, cluster)->value == near(few));
  const CollectiveCall large = call_of(CollectiveKind::all_reduce, 1.0_GiB);
  const double many = 1.4 * (8.4e-6 + 28 * 3.4e-6 + 2 * 14e-6) + 1073741824.0 * 1.875 / 320e9;
  CHECK(expected_time(large, Algorithm::ring, Protocol::simple, cluster)->value == near(many));
}

TEST_CASE("on hosts by AMD a step over nodes posts for 2 us, and ll reaches less between nodes") {
  ClusterSpec cluster = nccl_like(2);
  const CollectiveCall small = call_of(CollectiveKind::all_reduce, 8.0_KiB);
  const auto time = [&](Protocol protocol) {
    return expected_time(small, Algorithm::ring, protocol, cluster)->value;
  };
  cluster.library.host_processor = HostProcessor::amd;
  // 28 steps within nodes at 3 x 2 us, and in ll at 2 us; ll at half of 320 GB/s, at most 22.5
  CHECK(time(Protocol::simple) == near(8.4e-6 + 28 * 6e-6 + 2 * 14e-6 + 8192.0 * 1.875 / 320e9));
  CHECK(time(Protocol::ll) == near(6.6e-6 + 28 * 2e-6 + 2 * 2.7e-6 + 8192.0 * 1.875 / 22.5e9));
  cluster.library.host_processor = HostProcessor::arm;
  CHECK(time(Protocol::ll) == near(6.6e-6 + 28 * 1e-6 + 2 * 2.7e-6 + 8192.0 * 1.875 / 39e9));
}

TEST_CASE("over nodes nvls is chosen where the fabric's switches reduce, and takes what its tuner expects") {
  // Four nodes, 512 MiB: 25 + 18 us, and 62 / 32 of the bytes by 8 heads, each of 2 x 30 GB/s x 0.85 x 7/8 =
  // 44.625 GB/s within a node, less than a NIC's 45.
  ClusterSpec cluster = nccl_like(4);
  const CollectiveCall call = call_of(CollectiveKind::all_reduce, 512.0_MiB);
  CHECK(choose_method(call, cluster).algorithm == Algorithm::nvls_tree);
  CHECK_FALSE(expected_time(call, Algorithm::nvls, Protocol::simple, cluster));
  cluster.fabric->switch_reduces = true;
  CHECK(choose_method(call, cluster).algorithm == Algorithm::nvls);
  const double expected = 43e-6 + 536870912.0 * (62.0 / 32.0) / (8 * 44.625e9);
  CHECK(expected_time(call, Algorithm::nvls, Protocol::simple, cluster)->value == near(expected));
  const MeasuredMethod how{.method = {Algorithm::nvls}, .gap = Seconds{}};
  const double base = cluster.library.simple.base_latency.value;
  CHECK(measure_collective(cluster, call, how).time.value == near(expected + base, 1e-2));
  cluster.library.permits.collnet = false;
  CHECK(choose_method(call, cluster).algorithm == Algorithm::nvls_tree);
}

TEST_CASE("an all-reduce goes from rings with flags through trees to the switch as it grows") {
  CHECK(chosen(nccl_like(), CollectiveKind::all_reduce, 1.0_KiB) == "ring ll");
  CHECK(chosen(nccl_like(), CollectiveKind::all_reduce, 64.0_MiB) == "nvls simple");
  CHECK(chosen(nccl_like(2), CollectiveKind::all_reduce, 1.0_KiB) == "tree ll");
  CHECK(chosen(nccl_like(2), CollectiveKind::all_reduce, 1.0_GiB) == "nvls_tree simple");
  CHECK(chosen(nccl_like(), CollectiveKind::all_gather, 1.0_GiB) == "ring simple");
}

TEST_CASE("the switch does not add bytes, so fp8 takes rings") {
  CollectiveCall call = call_of(CollectiveKind::all_reduce, 64.0_MiB);
  call.dtype = DType::fp8;
  CHECK(choose_method(call, nccl_like()).algorithm == Algorithm::ring);
  call.dtype = DType::bf16;
  CHECK(choose_method(call, nccl_like()).algorithm == Algorithm::nvls);
}

TEST_CASE("the library broadcasts and reduces along rings only, also where the switch multicasts and adds") {
  for (const CollectiveKind kind : {CollectiveKind::broadcast, CollectiveKind::reduce}) {
    for (const Bytes size : {1.0_KiB, 1.0_MiB, 1.0_GiB})
      CHECK(chosen(nccl_like(), kind, size).starts_with("ring "));
    const auto simple = choose_method(call_of(kind, 1.0_MiB), nccl_like(), {std::nullopt, Protocol::simple});
    CHECK(simple.algorithm == Algorithm::ring);
  }
}

TEST_CASE("pairs send with flags up to 16 KiB each") {
  CHECK(chosen(nccl_like(), CollectiveKind::all_to_all, 128.0_KiB) == "direct ll");
  CHECK(chosen(nccl_like(), CollectiveKind::all_to_all, 129.0_KiB) == "direct simple");
}

TEST_CASE("what a rank keeps of an all-to-all-v makes no pair larger") {
  CollectiveCall call{.kind = CollectiveKind::all_to_all_v};
  call.ranks = {0, 1};
  call.sends = {1.0_MiB, 8.0_KiB, 8.0_KiB, 1.0_MiB};
  CHECK(choose_method(call, nccl_like()).protocol == Protocol::ll);
  call.sends[2] = 17.0_KiB;
  CHECK(choose_method(call, nccl_like()).protocol == Protocol::simple);
}

TEST_CASE("what is wished is taken, and what the library has not is refused") {
  const CollectiveCall call = call_of(CollectiveKind::all_reduce, 64.0_MiB);
  const CollectiveMethod method =
      choose_method(call, nccl_like(), {Algorithm::tree, Protocol::ll128, {.most = 4}});
  CHECK(method.algorithm == Algorithm::tree);
  CHECK(method.protocol == Protocol::ll128);
  CHECK(method.channels.most == 4);
  ClusterSpec plain = nccl_like();
  plain.library.ll128 = std::nullopt;
  CHECK_THROWS_WITH_AS(choose_method(call, plain, {.protocol = Protocol::ll128}),
                       "'rccl-like' has no protocol ll128", InfeasibleError);
}

TEST_CASE("a network without flags leaves simple only, and only between nodes") {
  ClusterSpec cluster = nccl_like(2);
  cluster.fabric->transport.flags = FlagSupport::none;
  CHECK(choose_method(call_of(CollectiveKind::all_gather, 1.0_KiB), cluster).protocol == Protocol::simple);
  cluster.nodes = 1;
  CHECK(choose_method(call_of(CollectiveKind::all_gather, 1.0_KiB), cluster).protocol == Protocol::ll);
}

TEST_CASE("a library whose expectations are not known runs the defaults in protocol simple") {
  CHECK(chosen(mi300x_like_cluster(), CollectiveKind::all_gather, 1.0_KiB) == "direct simple");
  CHECK(chosen(mi300x_like_cluster(), CollectiveKind::all_reduce, 1.0_GiB) == "ring simple");
}

TEST_CASE("what a fabric and a plug-in say holds for groups that cross nodes") {
  ClusterSpec cluster = nccl_like(2);
  cluster.fabric->transport.tree_until = 30.0_MiB;
  CHECK(chosen(cluster, CollectiveKind::all_reduce, 1.0_KiB) == "tree ll128");
  CHECK(chosen(cluster, CollectiveKind::all_reduce, 31.0_MiB) != "tree ll128");
  CollectiveCall within = call_of(CollectiveKind::all_reduce, 1.0_KiB);
  within.ranks = {8, 9, 10, 11};
  CHECK(choose_method(within, cluster).algorithm == Algorithm::ring);
  cluster.fabric->transport.flags = FlagSupport::none;
  CHECK(chosen(cluster, CollectiveKind::all_to_all, 1.0_KiB) == "direct simple");
  within.kind = CollectiveKind::all_to_all;
  CHECK(choose_method(within, cluster).protocol == Protocol::ll);
}

TEST_CASE("what a generation's channels reach of a tree over two nodes bounds what NCCL expects") {
  const auto rate = [](const FamilySpec& family, Algorithm algorithm) {
    ClusterSpec cluster = nccl_like(2);
    cluster.gpu.family = family;
    cluster.library.tuner_bandwidth = 400.0_GBps;
    return measured_rate(call_of(CollectiveKind::all_reduce, 16.0_GiB), algorithm, Protocol::simple, cluster);
  };
  // 16 GiB is beyond the table of sizes. NICs of 48.8 GB/s carry 8 x 48, which generations before Hopper halve;
  // a tree sends each byte up and down.
  for (const auto& [family, channels] :
       {std::pair(volta(), 16 * 18.5), {ampere(), 16 * 23.6}, {hopper(), 8 * 41.4}, {blackwell(), 8 * 42.8}})
    CHECK(rate(family, Algorithm::tree)->value == near(channels * 1e9 * 0.5));
  for (const auto& [family, channel] : {std::pair(hopper(), 57.7), {blackwell(), 96.0}})
    CHECK(rate(family, Algorithm::nvls_tree)->value == near(8 * channel * 1e9 * 16 / 30));
  CHECK_FALSE(rate(ampere(), Algorithm::nvls_tree));
}

TEST_CASE("RCCL expects of trees and rings over nodes what its table of the generation holds by size") {
  ClusterSpec cluster = nccl_like(4);
  cluster.gpu.family = cdna2();
  cluster.library.rules = TunerRules::rccl;
  cluster.library.tuner_bandwidth = 200.0_GBps;
  cluster.library.ring_plateau = 1.0;
  const auto expected = [&](Bytes bytes, Algorithm algorithm, Protocol protocol) {
    return expected_time(call_of(CollectiveKind::all_reduce, bytes), algorithm, protocol, cluster)->value;
  };
  // 64 MiB, 20 powers of two above 64 B; 62 steps, 6 of them between nodes; a step posts for 3 us at least
  const double ring = 17e-6 + 56 * 3.6e-6 + 6 * 19.8e-6 + 67108864.0 / (200e9 * 32 / 62);
  const double tree = 17e-6 + 2 * (7 * 2.5e-6 + 2 * 22.4e-6) + 67108864.0 / (200e9 * 0.96 * 0.5);
  CHECK(expected(64.0_MiB, Algorithm::ring, Protocol::simple) == near(ring));
  CHECK(expected(64.0_MiB, Algorithm::tree, Protocol::simple) == near(tree));
  CHECK(chosen(cluster, CollectiveKind::all_reduce, 64.0_MiB) == "tree simple");
  CHECK(chosen(cluster, CollectiveKind::all_reduce, 128.0_MiB) == "ring simple");
  CHECK(chosen(cluster, CollectiveKind::all_reduce, 16.0_GiB) == "ring simple");  // beyond the table: its end
  // 32 KiB, 9: LL at 0.2 of a tree
  const double flags = 12e-6 + 2 * (7 * 0.8e-6 + 2 * 12.5e-6) + 32768.0 / (200e9 * 0.2 * 0.5);
  CHECK(expected(32.0_KiB, Algorithm::tree, Protocol::ll) == near(flags));
  cluster.gpu.family = cdna3();  // 64 MiB: a ring at 0.1, a tree at 0.59
  const double cdna3 = 17e-6 + 56 * 3e-6 + 6 * 320e-6 + 67108864.0 / (200e9 * 0.1 * 32 / 62);
  CHECK(expected(64.0_MiB, Algorithm::ring, Protocol::simple) == near(cdna3));
  cluster.nodes = 1;
  CHECK_FALSE(
      expected_time(call_of(CollectiveKind::all_reduce, 64.0_MiB), Algorithm::tree, Protocol::simple, cluster));
}

}  // namespace c3::collectives_tuner_test
