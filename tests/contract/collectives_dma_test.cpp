// Variants of collectives on copy engines: by hand, the same at every grain, with the bytes of a copy a peer.

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <rapidcheck.h>

#include <string>
#include <vector>

#include "engine/errors.hpp"
#include "tests/contract/collective_variants.hpp"
#include "tests/support/near.hpp"

namespace c3::collectives_dma_test {

using namespace literals;
using namespace test;

namespace {

constexpr double kControl = 0.6e-6, kSchedule = 2.5e-6, kWay = 0.3e-6, kCopy = 1.0e-6, kNext = 0.25e-6,
                 kSync = 2.0e-6, kTrigger = 0.5e-6, kObserve = 0.1e-6;
constexpr double kPiece = 125e6;  // 1 GB over eight ranks

/// Engines of 40 GB/s, which write 36 GB/s when they broadcast and exchange 32.
ClusterSpec cluster_of(int gpus = 8) {
  ClusterSpec cluster = mi300x_like_cluster(gpus);
  DmaSpec& dma = cluster.gpu.dma;
  dma.broadcast_bandwidth = 36.0_GBps;
  dma.swap_bandwidth = 32.0_GBps;
  dma.copy_latency = Seconds{kCopy};
  dma.next_copy = Seconds{kNext};
  dma.trigger = Seconds{kTrigger};
  dma.observe = Seconds{kObserve};
  return cluster;
}

CollectivePlan plan_of(CollectiveKind kind, DmaOptions dma, CollectiveGrain grain = CollectiveGrain::edge,
                       Bytes bytes = 1.0_GB) {
  CollectivePlan plan = Variant{Backend::dma, kind, Algorithm::direct, grain, false}.plan();
  plan.call.bytes = bytes;
  plan.dma = dma;
  return plan;
}

double time_of(const CollectivePlan& plan, const ClusterSpec& cluster = cluster_of(), bool folded = false) {
  return CollectiveBench(cluster, plan, folded).run().value;
}

/// What runs as \p variant.
CollectiveKind kind_of(DmaVariant variant) {
  return variant == DmaVariant::bcst ? CollectiveKind::all_gather : CollectiveKind::all_to_all;
}

constexpr double kOnEngine = kSchedule + kWay + kCopy + kSync;
constexpr double kPrelaunched = kTrigger + kWay + kCopy + kSync;

}  // namespace

TEST_CASE("a copy a peer: seven commands, the phases, S/N, and the last signal seen") {
  const CollectiveKind kind = CollectiveKind::all_gather;
  for (const bool folded : {true, false}) {
    CHECK(time_of(plan_of(kind, {}), cluster_of(), folded) ==
          near(7 * kControl + kOnEngine + kPiece / 40e9 + kObserve));
    // All signals come at once, and the host sees one after another.
    CHECK(time_of(plan_of(kind, {.prelaunch = true}), cluster_of(), folded) ==
          near(kPrelaunched + kPiece / 40e9 + 7 * kObserve));
  }
}

TEST_CASE("one host thread for the node makes all 56 commands and sees all 56 signals") {
  const CollectiveKind kind = CollectiveKind::all_to_all;
  for (const bool folded : {true, false}) {
    CHECK(time_of(plan_of(kind, {.host = DmaHost::node}), cluster_of(), folded) ==
          near(56 * kControl + kOnEngine + kPiece / 40e9 + kObserve));
  }
  CHECK(time_of(plan_of(kind, {.prelaunch = true, .host = DmaHost::node})) ==
        near(kPrelaunched + kPiece / 40e9 + 56 * kObserve));
}

TEST_CASE("broadcast commands: one copy and three for two peers each, which write 2 S/N at 36 GB/s") {
  for (const bool folded : {true, false}) {
    CHECK(time_of(plan_of(CollectiveKind::all_gather, {.variant = DmaVariant::bcst}), cluster_of(), folded) ==
          near(4 * kControl + kOnEngine + 2 * kPiece / 36e9 + kObserve));
    // The single copy is through long before.
    CHECK(time_of(plan_of(CollectiveKind::all_gather, {.variant = DmaVariant::bcst, .prelaunch = true}),
                  cluster_of(), folded) == near(kPrelaunched + 2 * kPiece / 36e9 + 3 * kObserve));
  }
}

TEST_CASE("swaps: at most four commands a rank, each 2 S/N at 32 GB/s") {
  CHECK(time_of(plan_of(CollectiveKind::all_to_all, {.variant = DmaVariant::swap})) ==
        near(4 * kControl + kOnEngine + 2 * kPiece / 32e9 + kObserve));
  CHECK(time_of(plan_of(CollectiveKind::all_to_all, {.variant = DmaVariant::swap, .prelaunch = true})) ==
        near(kPrelaunched + 2 * kPiece / 32e9 + 4 * kObserve));
  // 28 pairs, each of one command.
  CHECK(time_of(plan_of(CollectiveKind::all_to_all, {DmaVariant::swap, false, DmaHost::node})) ==
        near(28 * kControl + kOnEngine + 2 * kPiece / 32e9 + kObserve));
}

TEST_CASE("back to back: one command's phases, seven S/N on one engine, one signal") {
  for (const CollectiveKind kind : kKinds) {
    for (const bool folded : {true, false}) {
      const double copies = 7 * kPiece / 40e9 + 6 * kNext;
      CHECK(time_of(plan_of(kind, {.variant = DmaVariant::b2b}), cluster_of(), folded) ==
            near(kControl + kOnEngine + copies + kObserve));
      CHECK(time_of(plan_of(kind, {.variant = DmaVariant::b2b, .prelaunch = true}), cluster_of(), folded) ==
            near(kPrelaunched + copies + kObserve));
    }
  }
}

TEST_CASE("a prelaunched ring: engines wait for one another's signals, not for the host") {
  CollectivePlan plan = plan_of(CollectiveKind::all_gather, {.prelaunch = true}, CollectiveGrain::step);
  plan.method.algorithm = Algorithm::ring;
  CHECK(time_of(plan) == near(7 * kPrelaunched + kPiece / 40e9 + 7 * kObserve));
  plan.grain = CollectiveGrain::edge;
  CHECK(time_of(plan) == near(7 * kPrelaunched + kPiece / 40e9 + 7 * kObserve));
}

TEST_CASE("a broadcast serves two peers with a command: S/2 of the time for each further pair") {
  CollectivePlan plan = plan_of(CollectiveKind::broadcast, {.variant = DmaVariant::bcst});
  plan.call.root = 3;
  CHECK(time_of(plan) == near(4 * kControl + kOnEngine + 2e9 / 36e9 + kObserve));
}

TEST_CASE("all variants agree at every grain within 2 %, from 1 KB to 1 GB") {
  for (const DmaVariant variant : kDmaVariants) {
    for (const bool prelaunch : {false, true}) {
      for (const DmaHost host : kDmaHosts) {
        for (const Bytes bytes : {8.0_kB, 1.0_MB, 1.0_GB}) {
          const DmaOptions options{variant, prelaunch, host};
          CAPTURE(name_of(variant));
          CAPTURE(prelaunch);
          CAPTURE(name_of(host));
          CAPTURE(bytes.value);
          const auto time = [&](CollectiveGrain grain) {
            return time_of(plan_of(kind_of(variant), options, grain, bytes));
          };
          const double step = time(CollectiveGrain::step);
          CHECK(time(CollectiveGrain::edge) == near(step));
          CHECK(time(CollectiveGrain::gang) == near(step, 2e-2));
        }
      }
    }
  }
}

TEST_CASE("with engines shared by lanes a gang agrees with its edges within 2 %, small and large") {
  for (const int engines : {1, 2, 3, 6}) {
    ClusterSpec cluster = cluster_of();
    cluster.gpu.dma.engines = engines;
    for (const DmaVariant variant : kDmaVariants) {
      for (const Bytes bytes : {8.0_kB, 1.0_GB}) {
        CAPTURE(engines);
        CAPTURE(name_of(variant));
        CAPTURE(bytes.value);
        const auto time = [&](CollectiveGrain grain) {
          return time_of(plan_of(kind_of(variant), {.variant = variant}, grain, bytes), cluster);
        };
        CHECK(time(CollectiveGrain::gang) == near(time(CollectiveGrain::edge), 2e-2));
      }
    }
  }
}

TEST_CASE("every variant puts a copy's bytes on the links and writes them at the peers") {
  for (const DmaVariant variant : kDmaVariants) {
    for (const CollectiveGrain grain : kGrains) {
      CAPTURE(name_of(variant));
      CAPTURE(static_cast<int>(grain));
      CollectiveBench bench(cluster_of(), plan_of(kind_of(variant), {.variant = variant}, grain), false);
      bench.run();
      for (int rank = 0; rank < 8; ++rank) {
        const int peer = (rank + 3) % 8;
        CHECK(bench.recording.total(fmt::format("link{}-{}", rank, peer)) == near(kPiece));
        CHECK(bench.recording.total(fmt::format("gpu{}.hbm.written", rank)) == near(7 * kPiece));
        // A broadcast reads once for its two peers.
        const double read = variant == DmaVariant::bcst ? 4 * kPiece : 7 * kPiece;
        CHECK(bench.recording.total(fmt::format("gpu{}.hbm", rank)) == near(7 * kPiece + read));
      }
    }
  }
}

TEST_CASE("what a remote write costs at HBM is written at the target, and counts in a time that HBM limits") {
  // 7 S/N read, 7 S/N x w written, at 400 GB/s: 4.4 ms and 6.6 ms, where the engines need 3.1 ms.
  ClusterSpec cluster = cluster_of();
  cluster.gpu.hbm.read = cluster.gpu.hbm.write = cluster.gpu.hbm.copy = 400.0_GBps;
  for (const double write_bytes : {1.0, 2.0}) {
    cluster.gpu.dma.write_bytes = write_bytes;
    for (const bool folded : {true, false}) {
      CollectiveBench bench(cluster, plan_of(CollectiveKind::all_gather, {}), folded);
      CHECK(bench.run().value ==
            near(7 * kControl + kOnEngine + 7 * kPiece * (1 + write_bytes) / 400e9 + kObserve, 1e-3));
      CHECK(bench.recording.total("gpu0.hbm.written") == near(7 * kPiece * write_bytes));
    }
  }
}

TEST_CASE("property: prelaunched is never slower where a trigger takes no longer than control and schedule") {
  CHECK(rc::check([] {
    const int gpus = *rc::gen::inRange(2, 10);
    const DmaVariant variant = *rc::gen::elementOf(std::vector(kDmaVariants.begin(), kDmaVariants.end()));
    const DmaHost host = *rc::gen::elementOf(std::vector(kDmaHosts.begin(), kDmaHosts.end()));
    const auto grain = *rc::gen::elementOf(std::vector(std::begin(kGrains), std::end(kGrains)));
    const Bytes bytes{static_cast<double>(*rc::gen::inRange(1, 1 << 28))};
    ClusterSpec cluster = cluster_of(gpus);
    cluster.gpu.dma.engines = *rc::gen::inRange(1, 10);
    const CollectiveKind kind = kind_of(variant);
    const double now = time_of(plan_of(kind, {variant, false, host}, grain, bytes), cluster);
    const double ahead = time_of(plan_of(kind, {variant, true, host}, grain, bytes), cluster);
    RC_ASSERT(ahead <= now * (1 + 1e-9));
  }));
}

TEST_CASE("what a variant cannot do is refused with the reason") {
  const auto refused = [](CollectiveKind kind, DmaVariant variant, Algorithm algorithm,
                          const ClusterSpec& cluster, const char* why) {
    CollectivePlan plan = plan_of(kind, {.variant = variant});
    plan.method.algorithm = algorithm;
    CHECK_THROWS_WITH_AS(time_of(plan, cluster), why, InfeasibleError);
  };
  refused(CollectiveKind::all_gather, DmaVariant::swap, Algorithm::direct, cluster_of(),
          "gather: copy-engine variant swap does not support all_gather: only in all_to_all do two ranks "
          "exchange equal "
          "pieces");
  refused(CollectiveKind::all_to_all, DmaVariant::bcst, Algorithm::direct, cluster_of(),
          "gather: copy-engine variant bcst does not support all_to_all: only all_gather and broadcast send "
          "the same "
          "bytes to several peers");
  refused(CollectiveKind::all_gather, DmaVariant::b2b, Algorithm::ring, cluster_of(),
          "gather: copy-engine variant b2b requires the direct algorithm; in ring copies wait for one another");
  refused(CollectiveKind::all_gather, DmaVariant::bcst, Algorithm::direct, mi300x_like_cluster(),
          "gather: copy engines of gpu 'mi300x-like' have no bcst command (dma_broadcast_bandwidth)");
  refused(CollectiveKind::all_to_all, DmaVariant::swap, Algorithm::direct, mi300x_like_cluster(),
          "gather: copy engines of gpu 'mi300x-like' have no swap command (dma_swap_bandwidth)");
}

}  // namespace c3::collectives_dma_test
