// Kernels on registered buffers over nodes: which there are, what their source expects, and what they take.
//
// The numbers were worked out apart from the code under test, by a script of queryModel_gin and
// calcSatBlocks_ReduceScatter_RailA2A (src/sym_kernels.cc of NCCL 2.30.7). As an example, two nodes of eight
// H100 with NICs of 50 GB/s, reduce-scatter of 1 GiB, 64 MiB a rank, added by the switch: bytes pass the port
// 16 times (360 GB/s), work groups 3 times (4.22 GB/s), so that 16 of them saturate; 64 MiB / 22.5 GB/s, 16
// chunks of 128 KiB once more over both wires, and 14 us: 3,132 us.

#include <doctest/doctest.h>
#include "collectives/library/rail_kernels.hpp"

#include <string>

#include "collectives/measure.hpp"
#include "engine/errors.hpp"
#include "tests/support/clusters.hpp"
#include "tests/support/gpu_families.hpp"
#include "tests/support/method_choices.hpp"
#include "tests/support/near.hpp"

namespace c3::collectives_rail_kernels_test {

using namespace literals;
using namespace test;

namespace {

constexpr auto kGather = CollectiveKind::all_gather;
constexpr auto kScatter = CollectiveKind::reduce_scatter;

ClusterSpec registered(const FamilySpec& family, int nodes, LibraryVersion version = kNewestNccl) {
  ClusterSpec cluster = reducing_nodes_of(nodes, 8);
  cluster.gpu.family = family;
  cluster.fabric->nic.raw = 50.0_GBps;
  cluster.fabric->switch_reduces = false;
  CollectiveLibrarySpec& library = cluster.library;
  library.rules = TunerRules::nccl;
  library.version = version;
  library.tuner_bandwidth = family.tuned_as == TunedGpu::hopper ? 370.8_GBps : 721.8_GBps;
  library.ll = library.ll128 = library.simple;
  library.registered_buffers = true;
  return cluster;
}

RailKernel kernel_of(const ClusterSpec& cluster, CollectiveKind kind, Bytes bytes) {
  const CollectiveCall call{.kind = kind, .bytes = bytes};
  const auto kernel = rail_kernel(PublishedFigures(call, cluster));
  REQUIRE(kernel);
  return *kernel;
}

}  // namespace

TEST_CASE("kernels over nodes have the work groups and times of their source's model") {
  struct Row {
    FamilySpec family;
    int nodes;
    CollectiveKind kind;
    Bytes bytes;
    int channels;
    double us;
  };
  const Row rows[] = {
      {hopper(), 2, kGather, 64.0_KiB, 1, 14.182},       {hopper(), 2, kGather, 64.0_MiB, 2, 242.414},
      {hopper(), 4, kGather, 1.0_GiB, 2, 4326.616},      {hopper(), 2, kScatter, 64.0_KiB, 1, 17.176},
      {hopper(), 2, kScatter, 4.0_MiB, 2, 124.073},      {hopper(), 2, kScatter, 1.0_GiB, 16, 3131.766},
      {hopper(), 4, kScatter, 1.0_GiB, 19, 3367.404},    {blackwell(), 2, kGather, 64.0_MiB, 4, 149.207},
      {blackwell(), 4, kGather, 64.0_MiB, 2, 209.829},   {blackwell(), 2, kScatter, 4.0_MiB, 2, 71.658},
      {blackwell(), 4, kScatter, 64.0_MiB, 14, 331.486}, {blackwell(), 4, kScatter, 1.0_GiB, 14, 2218.922}};
  for (const Row& row : rows) {
    CAPTURE(row.family.name);
    CAPTURE(row.nodes);
    CAPTURE(name_of(row.kind));
    CAPTURE(row.bytes.value);
    const RailKernel kernel = kernel_of(registered(row.family, row.nodes), row.kind, row.bytes);
    CHECK(kernel.channels == row.channels);
    CHECK(kernel.time / 1.0_us == near(row.us, 1e-4));
    CHECK(kernel.by_switch);
  }
}

TEST_CASE("a reduce-scatter that the switch cannot add goes by loads, with twice the work groups") {
  // fp8 on H100: eight GPUs are read, which pass work groups 17 times (13.7 GB/s) and the port 14 times.
  const ClusterSpec cluster = registered(hopper(), 2);
  const CollectiveCall call{.kind = kScatter, .bytes = 1.0_GiB, .dtype = DType::fp8};
  const auto kernel = rail_kernel(PublishedFigures(call, cluster));
  REQUIRE(kernel);
  CHECK_FALSE(kernel->by_switch);
  CHECK(kernel->channels == 32);
  CollectiveCall gather = call;
  gather.kind = kGather;
  CHECK(rail_kernel(PublishedFigures(gather, cluster))->by_switch);
}

TEST_CASE(
    "registered buffers over nodes take a kernel from 2.29.7 on, over verbs, and never for an all-reduce") {
  const auto takes = [](const ClusterSpec& cluster, CollectiveKind kind) {
    return chosen_method(cluster, {.kind = kind, .bytes = 64.0_MiB}) == "symmetric_rails simple";
  };
  const ClusterSpec cluster = registered(hopper(), 2);
  CHECK(takes(cluster, kGather));
  CHECK(takes(cluster, kScatter));
  CHECK_FALSE(takes(cluster, CollectiveKind::all_reduce));
  CHECK_FALSE(takes(registered(hopper(), 2, {2, 29, 2}), kGather));
  CHECK(takes(registered(hopper(), 2, {2, 29, 7}), kGather));
  ClusterSpec other = cluster;
  other.library.registered_buffers = false;
  CHECK_FALSE(takes(other, kGather));
  other = cluster;
  other.fabric->transport.flag_latency = 10.0_us;  // a plug-in's
  CHECK_FALSE(takes(other, kGather));
  other = cluster;
  other.node.switch_reduces = false;
  CHECK_FALSE(takes(other, kGather));
  CHECK(takes(other, kScatter));
  CHECK_FALSE(rail_kernel(PublishedFigures({.kind = kGather, .bytes = 1.0_MiB, .ranks = {0, 8}}, cluster)));
}

TEST_CASE("over nodes a kernel pays its start, a hop for each step, and what NICs carry") {
  ClusterSpec cluster = registered(hopper(), 4);
  cluster.library.simple.network_latency = 14.0_us;
  cluster.fabric->nic.both_ways = 50.0_GBps;
  const auto time = [&](CollectiveKind kind, Bytes bytes) {
    const CollectiveCall call{.kind = kind, .bytes = bytes};
    return measure_collective(cluster, call, {.method = {Algorithm(kSymmetricRails), Protocol::simple}}).time /
           1.0_us;
  };
  // A ring's three steps, one exchange; a port's wire adds less than 1 us to 7.8 us.
  CHECK(time(kGather, 64.0_B) == near(7.8 + 3 * 14.0, 3e-2));
  CHECK(time(kScatter, 64.0_B) == near(7.8 + 14.0, 6e-2));
  // 1 GiB, 32 MiB a rank: a NIC carries 3 of them each way, 2,013 us; a port, at 280 GB/s of payload, 31 in of
  // the gather, beside which the rings turn; of the scatter 28 that other GPUs of the node sum up, at most
  // all 32.
  const double shard = 1073741824.0 / 32 / 280e3;
  CHECK(time(kGather, 1.0_GiB) == near(7.8 + 14.0 + 31 * shard, 3e-2));
  CHECK(time(kScatter, 1.0_GiB) > 28 * shard);
  CHECK(time(kScatter, 1.0_GiB) < 1.01 * (7.8 + 14.0 + 32 * shard));
}

TEST_CASE("what runs on registered buffers over nodes is refused where it cannot run") {
  ClusterSpec cluster = registered(hopper(), 2);
  const auto measure = [&](CollectiveKind kind) {
    measure_collective(cluster, {.kind = kind, .bytes = 1.0_MiB},
                       {.method = {Algorithm(kSymmetricRails), Protocol::simple}});
  };
  cluster.library.version = {2, 28, 9};
  CHECK_THROWS_WITH_AS(
      measure(kGather),
      "'rccl-like' has no kernel symmetric_rails for all_gather on 'mi300x-like-cluster x 2 nodes, "
      "one-switch'",
      InfeasibleError);
  cluster.library.registered_buffers = false;
  CHECK_THROWS_WITH_AS(measure(kGather),
                       "all_gather: symmetric_rails needs buffers that are registered with every rank: "
                       "library.registered_buffers = true",
                       InfeasibleError);
}

}  // namespace c3::collectives_rail_kernels_test
