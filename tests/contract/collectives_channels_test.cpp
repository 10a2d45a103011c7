// Channels on few CUs: rates by hand from channel_rate, cu_rate, pair_cu_rate and the channels on a CU.

#include <doctest/doctest.h>

#include "tests/contract/collective_variants.hpp"
#include "tests/support/near.hpp"

namespace c3::collectives_channels_test {

using namespace literals;
using namespace test;

namespace {

constexpr double kPiece = 125e6;             // S/N, what a lane carries
constexpr double kLatency = 17e-6 + 2.2e-6;  // base and one hop, for each group of channels

/// A direct all-gather on 56 channels and \p cus CUs.
CollectiveBench on_cus(int cus, bool folded = true, CollectiveGrain grain = CollectiveGrain::edge) {
  const Variant v{Backend::cu, CollectiveKind::all_gather, Algorithm::direct, grain, folded};
  static const ClusterSpec cluster = mi300x_like_cluster();
  CollectivePlan plan = v.plan();
  plan.range = {0, cus / 8};
  return {cluster, plan, folded};
}

/// A direct collective on \p cus CUs of a library in which the channels of a CU share one channel's rate where
/// pairs send and receive.
Seconds of_pairs(CollectiveKind kind, int cus, bool to_itself, Algorithm algorithm = Algorithm::direct) {
  ClusterSpec cluster = mi300x_like_cluster();
  cluster.library.pair_cu_rate = 8.0_GBps;
  cluster.library.p2p_channels = to_itself ? 64 : 0;
  cluster.library.p2p_to_itself = to_itself;
  CollectivePlan plan = Variant{Backend::cu, kind, algorithm, CollectiveGrain::edge, true}.plan();
  plan.range = {0, cus / 8};
  return CollectiveBench(cluster, plan).run();
}

}  // namespace

TEST_CASE("64 CUs: every channel alone on its CU, the links limit") {
  // 8 channels a lane, 8 x 8 GB/s, above the link's 42.
  CHECK(on_cus(64).run().value == near(kLatency + kPiece / 42e9));
}

TEST_CASE("32 CUs: two channels on most CUs still fill the links") {
  // 7 channels on 4 CUs of each XCD: three CUs have two, at 6 GB/s each. A lane's 8 make at least 48 GB/s.
  CHECK(on_cus(32).run().value == near(kLatency + kPiece / 42e9));
}

TEST_CASE("16 CUs: two rounds of channels, each at the rate its CUs give") {
  // First channels 0..31, four a XCD, two on each of its CUs: 6 GB/s each. A lane with n of its 8 channels
  // among them has n/8 of its bytes at n x 6 GB/s: S/N / 48 GB/s for all lanes.
  // Then channels 32..55, three a XCD: two on one CU at 6 GB/s (32..39 and 48..55), one alone at 8 (40..47).
  // Lanes 4 and 6 have four channels left, one of them alone: 4/8 S/N at 26 GB/s. Lane 5 has two alone, 28
  // GB/s. The others have three left, one alone: 3/8 S/N at 20 GB/s. The slowest take S/N / 52 GB/s.
  for (const bool folded : {true, false}) {
    CHECK(on_cus(16, folded).run().value == near(2 * kLatency + kPiece / 48e9 + kPiece / 52e9));
  }
}

TEST_CASE("8 CUs: four rounds, the last with one channel on each CU") {
  // Three rounds of two channels a CU at 6 GB/s and one of a single channel at 8: a channel has 1/8 of a lane.
  CHECK(on_cus(8).run().value == near(4 * kLatency + 3 * kPiece / 48e9 + kPiece / 64e9));
}

TEST_CASE("a gang's groups are as slow as their slowest lane") {
  CHECK(on_cus(16, true, CollectiveGrain::gang).run().value ==
        near(2 * kLatency + kPiece / 48e9 + kPiece / 52e9));
}

TEST_CASE("channels that find no CU start when the first ones leave, and end later") {
  CollectiveBench bench = on_cus(16);
  const Seconds end = bench.run();
  const auto groups = bench.recording.of_kind(ActivityKind::channel);
  REQUIRE(groups.size() == 2);
  CHECK(groups[0]->start == 0.0_s);
  CHECK(groups[0]->end.value == near(kLatency + kPiece / 48e9));
  CHECK(groups[1]->start == groups[0]->end);
  CHECK(groups[1]->end == end);
  // The slots they waited for were the first group's.
  bool waited_for_slots = false;
  for (const auto& edge : bench.recording.dependencies) {
    if (edge.kind != DependencyKind::slot) continue;
    waited_for_slots = true;
    CHECK(edge.successor == groups[1]->id);
    CHECK(edge.predecessor == groups[0]->id);
  }
  CHECK(waited_for_slots);
}

TEST_CASE("channels hold their CUs from placement to the end of their group") {
  CollectiveBench bench = on_cus(16);
  const double end = bench.run().value;
  // 16 CUs throughout: in the second round three channels an XCD sit on two CUs.
  CHECK(bench.recording.total("gpu0.cus") == near(16 * end));
}

TEST_CASE("moving wire bytes through fewer channels moves the same bytes") {
  for (const int cus : {8, 16, 32, 64}) {
    CollectiveBench bench = on_cus(cus);
    bench.run();
    for (int peer = 1; peer < 8; ++peer) {
      CHECK(bench.recording.total(fmt::format("link0-{}", peer)) == near(kPiece * 46.5 / 42.0));
    }
  }
}

TEST_CASE("a payload rate above the link's does not make the link faster") {
  ClusterSpec cluster = mi300x_like_cluster();
  cluster.library.link_payload = 60.0_GBps;
  const Variant v{Backend::cu, CollectiveKind::all_gather, Algorithm::direct, CollectiveGrain::edge, true};
  CHECK(CollectiveBench(cluster, v.plan()).run().value == near(kLatency + kPiece / 46.5e9));
}

TEST_CASE("two channels on a CU share less where pairs send and receive, all-gathers and rings do not") {
  // 64 CUs: each alone. 32 CUs: three of an XCD's four have two channels at 4 GB/s; the fourth's, at 8, is
  // channel x + 24 of XCD x, of lane x + 3 mod 7: a lane's 8 channels make 36 GB/s, lane 3's 40.
  CHECK(of_pairs(CollectiveKind::all_to_all, 64, false).value == near(kLatency + kPiece / 42e9));
  CHECK(of_pairs(CollectiveKind::all_to_all, 32, false).value == near(kLatency + kPiece / 36e9));
  CHECK(of_pairs(CollectiveKind::all_gather, 32, false).value == near(kLatency + kPiece / 42e9));
  ClusterSpec without = mi300x_like_cluster();
  CollectivePlan ring =
      Variant{Backend::cu, CollectiveKind::all_to_all, Algorithm::ring, CollectiveGrain::edge, true}.plan();
  ring.range = {0, 2};
  CHECK(of_pairs(CollectiveKind::all_to_all, 16, false, Algorithm::ring) ==
        CollectiveBench(without, ring).run());
}

TEST_CASE("channels dealt among eight ranks: eight for each peer, eight for the rank's own shard") {
  // Channel c is for peer c mod 8: all of XCD x for peer x + 1, those of XCD 7 for the rank itself.
  CHECK(of_pairs(CollectiveKind::all_to_all, 64, true).value == near(kLatency + kPiece / 42e9));
  CHECK(of_pairs(CollectiveKind::all_to_all, 40, true).value == near(kLatency + kPiece / 40e9));
  CHECK(of_pairs(CollectiveKind::all_to_all, 32, true).value == near(kLatency + kPiece / 32e9));
  CHECK(of_pairs(CollectiveKind::all_gather, 32, true).value == near(kLatency + kPiece / 42e9));
  // 8 CUs: eight channels an XCD in four rounds, two on its CU.
  CHECK(of_pairs(CollectiveKind::all_to_all, 8, true).value == near(4 * (kLatency + kPiece / 4 / 8e9)));
}

}  // namespace c3::collectives_channels_test
