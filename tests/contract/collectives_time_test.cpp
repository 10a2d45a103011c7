// How long collectives take: by hand where possible, and the same at every grain where theory says so.

#include <doctest/doctest.h>

#include <algorithm>

#include "engine/errors.hpp"
#include "tests/contract/collective_variants.hpp"
#include "tests/support/near.hpp"

namespace c3::collectives_time_test {

using namespace literals;
using namespace test;

namespace {

Seconds time_of(const Variant& v, const ClusterSpec& cluster = mi300x_like_cluster()) {
  return CollectiveBench(cluster, v.plan(), v.folded).run();
}

constexpr Variant kDirectDma{Backend::dma, CollectiveKind::all_gather, Algorithm::direct, CollectiveGrain::edge,
                             true};
constexpr Variant kDirectCu{Backend::cu, CollectiveKind::all_gather, Algorithm::direct, CollectiveGrain::edge,
                            true};

}  // namespace

TEST_CASE("direct on copy engines: seven controls, schedule, way, S/N at the engine's 40 GB/s, sync") {
  // The host makes seven commands, 0.6 us each; the last engine starts then. 125 MB at 40 GB/s are 3.125 ms.
  const double expected = 7 * 0.6e-6 + 2.5e-6 + 0.3e-6 + 125e6 / 40e9 + 2.0e-6;
  for (const CollectiveKind kind : kKinds) {
    Variant v = kDirectDma;
    v.kind = kind;
    CHECK(time_of(v).value == near(expected));
  }
}

TEST_CASE("direct on fast copy engines: both ways of a link at 46.5 GB/s, but for the time one leads") {
  // Engines of 48 GB/s. The lane of distance k starts k controls after the host; it shares the link with
  // distance 8-k. The earlier leads by d = |8-2k| controls, at 48 GB/s as no other is there. Then both
  // have 46.5, and the later one goes on alone when the earlier has ended, d again at 48. So it takes d + (S/N
  // - 48 GB/s d) / 46.5 GB/s. The last to end is distance 7, where d is 6 controls.
  ClusterSpec cluster = mi300x_like_cluster();
  cluster.gpu.dma.engine_bandwidth = 48.0_GBps;
  const double lead = 6 * 0.6e-6;
  const double copy = lead + (125e6 - 48e9 * lead) / 46.5e9;
  const double expected = 7 * 0.6e-6 + 2.5e-6 + 0.3e-6 + copy + 2.0e-6;
  for (const bool folded : {true, false}) {
    Variant v = kDirectDma;
    v.folded = folded;
    CHECK(time_of(v, cluster).value == near(expected));
  }
}

TEST_CASE("an engine that serves several peers serves them one after another") {
  // Six engines for seven peers: the first takes the last peer's copy after its own. Its second command was
  // created long before, so that schedule, way, copy and sync remain.
  ClusterSpec cluster = mi300x_like_cluster();
  cluster.gpu.dma.engines = 6;
  const double command = 2.5e-6 + 0.3e-6 + 125e6 / 40e9 + 2.0e-6;
  CHECK(time_of(kDirectDma, cluster).value == near(0.6e-6 + 2 * command));
  cluster.gpu.dma.engines = 1;
  CHECK(time_of(kDirectDma, cluster).value == near(0.6e-6 + 7 * command));
}

TEST_CASE("a ring on copy engines: each of seven commands pays its phases, the copies share nothing") {
  // 1 GB / 8 ranks / 7 rings = 17.857 MB a step. The last lane starts after seven controls; each further step
  // is a control, schedule, way, copy and sync later.
  const double phases = 2.5e-6 + 0.3e-6 + 2.0e-6;
  const double expected = 7 * 0.6e-6 + 6 * 0.6e-6 + 7 * phases + 125e6 / 40e9;
  for (const CollectiveGrain grain : kGrains) {
    CHECK(time_of({Backend::dma, CollectiveKind::all_gather, Algorithm::ring, grain, true}).value ==
          near(expected));
  }
}

TEST_CASE("direct on CUs: launch, base latency, one hop, S/N at the link's payload rate") {
  const double expected = 2.0e-6 + 17e-6 + 2.2e-6 + 125e6 / 42e9;
  for (const CollectiveKind kind : kKinds) {
    for (const bool folded : {true, false}) {
      const Variant v{Backend::cu, kind, Algorithm::direct, CollectiveGrain::edge, folded};
      CHECK(CollectiveBench(mi300x_like_cluster(), v.plan(), folded).run(2.0_us).value == near(expected));
    }
  }
}

TEST_CASE("rings on CUs: seven hops, and an all-to-all's forwarded bytes") {
  // A ring's link carries 7 pieces of S/N/7 in an all-gather, 28 in an all-to-all.
  const double latency = 17e-6 + 7 * 2.2e-6;
  for (const CollectiveGrain grain : kGrains) {
    CHECK(time_of({Backend::cu, CollectiveKind::all_gather, Algorithm::ring, grain, true}).value ==
          near(latency + 125e6 / 42e9));
    CHECK(time_of({Backend::cu, CollectiveKind::all_to_all, Algorithm::ring, grain, true}).value ==
          near(latency + 4 * 125e6 / 42e9));
  }
}

TEST_CASE("sums on CUs: two hops and S/N twice when direct, fourteen hops along rings, half of it to scatter") {
  const auto sum_time = [](CollectiveKind kind, Algorithm algorithm, CollectiveGrain grain) {
    return time_of({Backend::cu, kind, algorithm, grain, true}).value;
  };
  for (const CollectiveGrain grain : kGrains) {
    CHECK(sum_time(CollectiveKind::all_reduce, Algorithm::direct, grain) ==
          near(17e-6 + 2 * 2.2e-6 + 2 * 125e6 / 42e9));
    CHECK(sum_time(CollectiveKind::all_reduce, Algorithm::ring, grain) ==
          near(17e-6 + 14 * 2.2e-6 + 2 * 125e6 / 42e9));
    CHECK(sum_time(CollectiveKind::reduce_scatter, Algorithm::ring, grain) ==
          near(17e-6 + 7 * 2.2e-6 + 125e6 / 42e9));
  }
}

TEST_CASE("two ranks share one link: S/2 each way at its payload rate") {
  // Channels of 60 GB/s, and both directions busy. The wire bytes are 46.5/42 of the payload.
  ClusterSpec cluster = mi300x_like_cluster(2);
  cluster.library.simple.channel_rate = 60.0_GBps;
  cluster.library.cu_rate = 60.0_GBps;
  CHECK(time_of(kDirectCu, cluster).value == near(17e-6 + 2.2e-6 + 500e6 / 42e9));
}

TEST_CASE("HBM slower than the links holds a direct all-gather to its bytes there") {
  // Seven pieces read and written with 0.25 + 0.25 of staging: 7 x 125 MB x (1.25 + 1.25) on HBM.
  ClusterSpec cluster = mi300x_like_cluster();
  cluster.gpu.hbm.read = cluster.gpu.hbm.write = cluster.gpu.hbm.copy = 400.0_GBps;
  CHECK(time_of(kDirectCu, cluster).value == near(17e-6 + 2.2e-6 + 7 * 125e6 * 2.5 / 400e9));
}

TEST_CASE("all grains of all variants agree within 2 %, folded and explicit within 0.2 %") {
  check_that_times_agree([](const Variant& v) { return time_of(v); }, [](Backend) { return true; });
}

TEST_CASE("on CUs, where all ranks move in step, folded and explicit agree to rounding at 2 to 9 ranks") {
  for (int ranks = 2; ranks <= 9; ++ranks) {
    ClusterSpec cluster = mi300x_like_cluster(ranks);
    for (const Algorithm algorithm : kSymmetricAlgorithms) {
      for (const CollectiveGrain grain : kGrains) {
        CAPTURE(ranks);
        CAPTURE(name_of(algorithm));
        const Variant folded{Backend::cu, CollectiveKind::all_gather, algorithm, grain, true};
        const Variant all{Backend::cu, CollectiveKind::all_gather, algorithm, grain, false};
        CHECK(time_of(folded, cluster).value == near(time_of(all, cluster).value));
      }
    }
  }
}

TEST_CASE("direct algorithms have one step: grains step and edge are the same to the last bit") {
  for (const Backend backend : kOwnBackends) {
    for (const CollectiveKind kind : kKinds) {
      for (const bool folded : {true, false}) {
        CHECK(time_of({backend, kind, Algorithm::direct, CollectiveGrain::step, folded}) ==
              time_of({backend, kind, Algorithm::direct, CollectiveGrain::edge, folded}));
      }
    }
  }
}

TEST_CASE("a ring all-gather has equal steps: grains step and edge agree to rounding") {
  for (const Backend backend : kOwnBackends) {
    for (const bool folded : {true, false}) {
      CHECK(time_of({backend, CollectiveKind::all_gather, Algorithm::ring, CollectiveGrain::step, folded})
                .value ==
            near(time_of({backend, CollectiveKind::all_gather, Algorithm::ring, CollectiveGrain::edge, folded})
                     .value));
    }
  }
}

TEST_CASE("ranks may join in any order: the last one's date decides, whoever it is") {
  for (const Backend backend : kOwnBackends) {
    for (const Algorithm algorithm : kSymmetricAlgorithms) {
      Variant v{backend, CollectiveKind::all_gather, algorithm, CollectiveGrain::edge, false};
      std::vector<Seconds> delays(8);
      for (std::size_t rank = 0; rank < 8; ++rank)
        delays[rank] = Seconds{1e-6 * static_cast<double>(rank)};
      const Seconds at_once = time_of(v);
      for (int turn = 0; turn < 3; ++turn) {
        std::ranges::rotate(delays, delays.begin() + 3);
        CollectiveBench bench(mi300x_like_cluster(), v.plan(), false);
        CHECK(bench.run(delays).value == near(at_once.value + 7e-6));
      }
    }
  }
}

TEST_CASE("a collective that one rank never joins is a deadlock that names both") {
  for (const Backend backend : kOwnBackends) {
    for (const std::size_t missing : {0U, 3U, 7U}) {
      Variant v = kDirectCu;
      v.backend = backend;
      CollectiveBench bench(mi300x_like_cluster(), v.plan(), false);
      std::vector<Seconds> delays(8, Seconds{});
      delays[missing] = Seconds{-1.0};
      std::string message;
      try {
        bench.run(delays);
      } catch (const DeadlockError& error) {
        message = error.what();
      }
      CAPTURE(message);
      const std::string others = missing == 0 ? "rank 1 waits for" : "rank 0 waits for";
      const std::string expected = fmt::format("{} rank {} to join gather", others, missing);
      CHECK(message.find(expected) != std::string::npos);
      CHECK(message.find(fmt::format("rank {} waits", missing)) == std::string::npos);
    }
  }
}

TEST_CASE("what a backend cannot run is refused with what is missing") {
  ClusterSpec few = mi300x_like_cluster();
  few.gpu.dma.engines = 0;
  CHECK_THROWS_WITH_AS(time_of(kDirectDma, few), "gather: gpu 'mi300x-like' has no copy engines",
                       InfeasibleError);
  ClusterSpec wide = mi300x_like_cluster();
  wide.library.channel_lds = 65.0_KiB;
  CHECK_THROWS_WITH_AS(time_of(kDirectCu, wide), "kernel 'gather': a work group does not fit into a CU",
                       InfeasibleError);
  for (const Backend backend : kOwnBackends) {
    Variant v = kDirectCu;
    v.backend = backend;
    CHECK_THROWS_WITH_AS(time_of(v, mi300x_like_cluster(1)),
                         "all_gather: a collective needs at least two ranks", InfeasibleError);
  }
}

TEST_CASE("copy engines refuse to add") {
  for (const CollectiveKind kind : kSums) {
    const Variant v{Backend::dma, kind, Algorithm::ring, CollectiveGrain::edge, true};
    const std::string expected =
        fmt::format("gather: copy engines cannot add; {} requires backend = \"cu\"", name_of(kind));
    CHECK_THROWS_WITH_AS(time_of(v), expected.c_str(), InfeasibleError);
  }
}

}  // namespace c3::collectives_time_test
