// The contract of collectives on a node whose GPUs share ports to a switch.

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/contract/collective_variants.hpp"
#include "tests/support/bytes_sent.hpp"
#include "tests/support/near.hpp"

namespace c3::collectives_switched_test {

using namespace literals;
using namespace test;

namespace {

/// Eight GPUs behind a switch; 56 channels of 8 GB/s saturate a port, three engines of 300 GB/s too.
ClusterSpec switched_cluster() {
  ClusterSpec cluster = mi300x_like_cluster();
  cluster.node = switched(8);
  cluster.library.link_payload = 325.0_GBps;
  cluster.gpu.dma.engines = 3;
  cluster.gpu.dma.engine_bandwidth = 300.0_GBps;
  return cluster;
}

Seconds time_of(const Variant& v) { return CollectiveBench(switched_cluster(), v.plan(), v.folded).run(); }

}  // namespace

TEST_CASE(
    "through a switch every port sends and receives its ranks' bytes, with the protocol's overhead on CUs") {
  for_each_variant([](const Variant& v) {
    const ClusterSpec cluster = switched_cluster();
    CollectiveBench bench(cluster, v.plan(), v.folded);
    bench.run();
    const TransferGraph graph = make_transfer_graph(v.call(), v.algorithm, cluster);
    const double overhead = v.backend == Backend::cu ? 350.0 / 325.0 : 1.0;
    for (int rank = 0; rank < bench.simulated_ranks(); ++rank) {
      const double sent = bytes_sent(graph, rank).value * overhead;
      CHECK(bench.recording.total(fmt::format("port{}.out", rank)) == near(sent));
      CHECK(bench.recording.total(fmt::format("port{}.in", rank)) == near(sent));
      CHECK(bench.recording.total(fmt::format("port{}.duplex", rank)) == near(2 * sent));
    }
  });
}

TEST_CASE("through a switch direct and ring all-gathers on CUs move 7/8 S at the port's payload rate") {
  const double bytes = 1e9 * 7 / 8;
  for (const CollectiveGrain grain : kGrains) {
    for (const bool folded : {true, false}) {
      CHECK(time_of({Backend::cu, CollectiveKind::all_gather, Algorithm::direct, grain, folded}).value ==
            near(17e-6 + 2.2e-6 + bytes / 325e9));
      CHECK(time_of({Backend::cu, CollectiveKind::all_gather, Algorithm::ring, grain, folded}).value ==
            near(17e-6 + 7 * 2.2e-6 + bytes / 325e9));
    }
  }
}

TEST_CASE("three copy engines for seven peers keep the port busy to the end") {
  // 350 GB/s of port is all in use while at least two engines copy; only the last command of one engine runs
  // alone, at 300 GB/s. Phases of a command hide behind the other engines' copies, but the first and the last.
  const double seconds =
      time_of({Backend::dma, CollectiveKind::all_gather, Algorithm::direct, CollectiveGrain::step, true}).value;
  const double bytes = 1e9 * 7 / 8;
  CHECK(seconds > bytes / 350e9);
  CHECK(seconds < bytes / 300e9 + 3 * 7e-6);
}

TEST_CASE("through a switch folded and explicit agree within 0.2 %, and CU grains within 2 %") {
  check_that_times_agree([](const Variant& v) { return time_of(v); },
                         [](Backend backend) { return backend == Backend::cu; });
}

}  // namespace c3::collectives_switched_test
