// Channels by size, and the latencies of a protocol.

#include "collectives/library/channel_protocol.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <tuple>
#include <utility>

#include "collectives/library/switch_chunks.hpp"
#include "collectives/measure.hpp"
#include "engine/errors.hpp"
#include "tests/support/fabrics.hpp"
#include "tests/support/near.hpp"

namespace c3::collectives_channel_protocol_test {

using namespace literals;
using namespace test;

namespace {

/// Flags cost 5 us and 1 us a step, 8 us between nodes; slices 17 us, 2.2 us and 20 us.
ClusterSpec two_protocols(int nodes = 1) {
  ClusterSpec cluster = mi300x_like_cluster();
  cluster.node = node_of_four();
  cluster.nodes = nodes;
  cluster.fabric = one_switch(4);
  CollectiveLibrarySpec& library = cluster.library;
  library.simple.network_latency = 20.0_us;
  library.simple.threads = 512;
  library.ll = library.simple;
  library.ll->base_latency = 5.0_us;
  library.ll->hop_latency = 1.0_us;
  library.ll->network_latency = 8.0_us;
  library.ll->link_share = 0.5;
  return cluster;
}

struct Ring {
  Ring(const ClusterSpec& spec, Bytes bytes, Protocol protocol)
      : cluster(spec),
        call{.kind = CollectiveKind::all_gather, .bytes = bytes},
        graph(make_transfer_graph(call, Algorithm::ring, cluster)),
        channels(cluster, call, {Algorithm::ring, protocol}, graph),
        flows(plan_flows(graph, CollectiveGrain::edge)) {}

  Seconds latency() const {
    Seconds longest;
    for (const PlannedFlow& flow : flows)
      longest = std::max(longest, channels.latency(flow));
    return longest;
  }

  ClusterSpec cluster;
  CollectiveCall call;
  TransferGraph graph;
  ChannelProtocol channels;
  std::vector<PlannedFlow> flows;
};

int width(Bytes bytes, Protocol protocol, Algorithm algorithm = Algorithm::ring) {
  const ClusterSpec cluster = two_protocols();
  return channels_used(cluster, {.kind = CollectiveKind::all_reduce, .bytes = bytes}, {algorithm, protocol}, 4,
                       1);
}

}  // namespace

TEST_CASE("channels leave until a thread has 64 bytes in simple, and 8 of every rank's in ll") {
  CHECK(width(64.0_MiB, Protocol::simple) == 56);
  CHECK(width(Bytes{10 * 512.0 * 64.0}, Protocol::simple) == 10);
  CHECK(width(Bytes{10 * 512.0 * 64.0 - 1.0}, Protocol::simple) == 9);
  CHECK(width(Bytes{10 * 512.0 * 8.0 * 4.0}, Protocol::ll) == 10);
  CHECK(width(Bytes{10 * 512.0 * 8.0}, Protocol::ll, Algorithm::tree) == 10);
  CHECK(width(1.0_B, Protocol::ll) == 1);
}

TEST_CASE("there is a channel for each lane, unless fewer are asked for") {
  const ClusterSpec cluster = two_protocols();
  const CollectiveCall call{.kind = CollectiveKind::all_reduce, .bytes = 1.0_B};
  CHECK(channels_used(cluster, call, {Algorithm::ring, Protocol::ll}, 8, 7) == 7);
  CHECK(channels_used(cluster, call, {Algorithm::ring, Protocol::ll, {.most = 3}}, 8, 7) == 3);
  CHECK(channels_used(cluster, call, {Algorithm::direct, Protocol::simple, {.most = 200}}, 8, 7) == 56);
  CHECK(channels_used(cluster, call, {Algorithm::ring, Protocol::ll, {.least = 20}}, 8, 7) == 20);
  CHECK(channels_used(cluster, call, {Algorithm::direct, Protocol::simple, {.least = 60}}, 8, 7) == 60);
}

TEST_CASE(
    "sends and receives have channels of their own, a direct algorithm that adds or gathers to all has not") {
  ClusterSpec cluster = mi300x_like_cluster();
  cluster.library.p2p_channels = 64;
  const auto channels = [&](CollectiveKind kind) {
    return channels_used(cluster, {.kind = kind, .bytes = 1.0_GB}, {Algorithm::direct}, 8, 7);
  };
  for (const CollectiveKind kind : kCollectiveKinds) {
    CAPTURE(name_of(kind));
    CHECK(channels(kind) == (sends_in_pairs(kind) ? 64 : 56));
  }
  CHECK(channels(CollectiveKind::all_to_all) == 64);
  CHECK(channels(CollectiveKind::scatter) == 64);
  CHECK(channels(CollectiveKind::broadcast) == 56);
}

TEST_CASE("a send to another node has a channel for each NIC, two, or since 2.29.2 one for every 14 GB/s") {
  ClusterSpec cluster = two_protocols(2);
  CollectiveLibrarySpec& library = cluster.library;
  library.p2p_channels = 32;
  const auto channels = [&](std::vector<int> ranks, CollectiveKind kind = CollectiveKind::send_receive) {
    CollectiveCall call{.kind = kind, .bytes = 1.0_GB, .ranks = std::move(ranks)};
    if (kind == CollectiveKind::all_to_all_v) call.sends = {0.0_B, 1.0_GB, 0.0_B, 0.0_B};
    return channels_of(cluster, call, Algorithm::direct);
  };
  for (const TunerRules rules : {TunerRules::nccl, TunerRules::rccl}) {
    library.rules = rules;
    library.version = {2, 28, 3};
    CHECK(channels({0, 1}) == 32);
    CHECK(channels({0, 4}) == 2);
    CHECK(channels({0, 4}, CollectiveKind::all_to_all_v) == 2);
    CHECK(channels({0, 1, 4, 5}) == 2);
    CHECK(channels({0, 1, 4, 5}, CollectiveKind::all_to_all) == 32);
  }
  library.rules = TunerRules::nccl;
  library.version = {2, 29, 2};
  CHECK(channels({0, 4}) == 4);  // 53 GB/s
  CHECK(channels({0, 1}) == 32);
  library.channel_limits.most = 2;
  CHECK(channels({0, 4}) == 2);
  library.channel_limits = {};
  cluster.fabric->nics_per_node = 12;  // three a GPU: 159 GB/s
  CHECK(channels({0, 4}) == 16);
  library.version = {2, 29, 1};
  CHECK(channels({0, 4}) == 4);
}

TEST_CASE("chunks through the switch shrink where few would follow one another") {
  // 16 channels x 8 heads: 128 chunks at once
  CHECK(nvls_chunk(1.0_GiB, 16, 8) == 128.0_KiB);
  CHECK(nvls_chunk(1023.0_MiB, 16, 8) == 64.0_KiB);
  CHECK(nvls_chunk(64.0_MiB, 16, 8) == 64.0_KiB);
  CHECK(nvls_chunk(63.0_MiB, 16, 8) == 32.0_KiB);
  CHECK(nvls_chunk(8.0_MiB, 16, 8) == 32.0_KiB);
  CHECK(nvls_chunk(7.0_MiB, 16, 8) == 16.0_KiB);
  CHECK(nvls_tree_chunk(1.0_GiB, 16, 8, 128.0_KiB) == 128.0_KiB);
  CHECK(nvls_tree_chunk(1.0_GiB, 16, 8, 64.0_KiB) == 64.0_KiB);
  CHECK(nvls_tree_chunk(60.0_MiB, 16, 8, 128.0_KiB) == 64.0_KiB);
  CHECK(nvls_tree_chunk(7.0_MiB, 16, 8, 128.0_KiB) == 32.0_KiB);
}

TEST_CASE("a protocol has its own base, steps and share of the wire") {
  const Ring simple(two_protocols(), 1.0_MiB, Protocol::simple);
  CHECK(simple.channels.base() == 17.0_us);
  CHECK(simple.latency().value == near(3 * 2.2e-6));
  CHECK(simple.channels.link_payload() == 42.0_GBps);
  const Ring flags(two_protocols(), 1.0_MiB, Protocol::ll);
  CHECK(flags.channels.base() == 5.0_us);
  CHECK(flags.latency().value == near(3e-6));
  CHECK(flags.channels.link_payload() == 21.0_GBps);
  CHECK_THROWS_WITH_AS(Ring(two_protocols(), 1.0_MiB, Protocol::ll128), "'rccl-like' has no protocol ll128",
                       InfeasibleError);
}

TEST_CASE("steps between nodes cost what the library says, and what the transport adds") {
  ClusterSpec cluster = two_protocols(2);  // 8 ranks, 7 steps; the longest way crosses twice
  const auto steps = [&](Bytes bytes, Protocol protocol) {
    return Ring(cluster, bytes, protocol).latency().value;
  };
  const double within = steps(1.0_MiB, Protocol::simple) - 2 * 20e-6;
  CHECK(within == near(5 * 2.2e-6));
  CHECK(steps(1.0_KiB, Protocol::ll) == near(5 * 1e-6 + 2 * 8e-6));
  TransportSpec& transport = cluster.fabric->transport;
  transport.flag_latency = 20.0_us;
  transport.eager_size = 1.0_KiB;
  transport.slice_latency = 75.0_us;
  CHECK(steps(1.0_MiB, Protocol::simple) == near(5 * 2.2e-6 + 2 * 95e-6));
  CHECK(steps(1.0_KiB, Protocol::ll) == near(5 * 1e-6 + 2 * 20e-6));
  CHECK(steps(1.0_GiB, Protocol::ll) == near(5 * 1e-6 + 2 * 40e-6));  // asks the receiver first
}

TEST_CASE("a ring over nodes waits longer for each step once its channels are loaded") {
  ClusterSpec cluster = two_protocols(2);
  cluster.library.ring_plateau = 1.4;
  const double light = 5 * 2.2e-6 + 2 * 20e-6;
  CHECK(Ring(cluster, 64.0_B, Protocol::simple).latency().value == near(light));
  CHECK(Ring(cluster, 1.0_GiB, Protocol::simple).latency().value == near(1.4 * light));
  cluster.nodes = 1;
  CHECK(Ring(cluster, 1.0_GiB, Protocol::simple).latency().value == near(3 * 2.2e-6));
}

TEST_CASE("the last slice of a ring has nothing behind it: half a chunk at a channel's share of the link") {
  ClusterSpec cluster = two_protocols();
  cluster.library.ring_chunk = 2.0_MiB;
  // 56 channels of 0.75 GB/s each: a shard of 8 MiB has 149,797 B a channel, one round
  const double step = 8388608.0 / 56;
  CHECK(Ring(cluster, 32.0_MiB, Protocol::simple).channels.base().value ==
        near(17e-6 + 0.5 * step / (42e9 / 56)));
  // a shard of 256 MiB has 4.8 MB a channel, which goes in chunks of 2 MiB
  CHECK(Ring(cluster, 1.0_GiB, Protocol::simple).channels.base().value ==
        near(17e-6 + 1048576.0 / (42e9 / 56)));
  CHECK(Ring(cluster, 1.0_GiB, Protocol::ll).channels.base() == 5.0_us);
}

TEST_CASE(
    "along a chain lines go on as they come, slices and, over nodes, what a NIC must have whole in chunks") {
  const auto chunks = [](int nodes, Protocol protocol) {
    ClusterSpec cluster = two_protocols(nodes);
    cluster.library.ll128 = cluster.library.ll;
    const CollectiveCall call{.kind = CollectiveKind::broadcast, .bytes = 64.0_MiB};
    const TransferGraph graph = make_transfer_graph(call, Algorithm::ring, cluster);
    const ChannelProtocol channels(cluster, call, {Algorithm::ring, protocol}, graph);
    const double of_channel = 64.0 * 1048576 / graph.lanes / (channels.width() / graph.lanes);
    return std::pair(channels.chunks(), of_channel);
  };
  // A chunk fills two or six ranks between the ends in half of the time in which all flows: a quarter or a
  // twelfth of it, in whole 32nds of the largest.
  const double slice = two_protocols().library.chunk_size.value / 32;
  for (const auto& [nodes, protocol, lines] : {std::tuple(1, Protocol::ll, 512 * 8.0),
                                               {1, Protocol::ll128, 512 * 60.0},
                                               {1, Protocol::simple, 0.0},
                                               {2, Protocol::ll, 512 * 8.0},
                                               {2, Protocol::ll128, 0.0}}) {
    const auto [chunking, of_channel] = chunks(nodes, protocol);
    const double at_once = lines > 0.0 ? lines : std::ceil(of_channel / (nodes == 1 ? 4 : 12) / slice) * slice;
    CHECK(chunking.count == static_cast<int>(std::ceil(of_channel / at_once)));
    CHECK(chunking.share == near(std::min(1.0, at_once / of_channel)));
  }
}

TEST_CASE("a chain of large data has the library's whole chunks, and one of two ranks always") {
  const auto share_of = [](Bytes bytes, std::vector<int> ranks) {
    const ClusterSpec cluster = two_protocols();
    const CollectiveCall call{.kind = CollectiveKind::broadcast, .bytes = bytes, .ranks = std::move(ranks)};
    const TransferGraph graph = make_transfer_graph(call, Algorithm::ring, cluster);
    const ChannelProtocol channels(cluster, call, {Algorithm::ring, Protocol::simple}, graph);
    return channels.chunks().share * bytes.value / channels.width();
  };
  const double chunk = two_protocols().library.chunk_size.value;
  CHECK(share_of(1.0_GiB, {}) == near(chunk));
  CHECK(share_of(1.0_MiB, {}) < chunk / 4);
  CHECK(share_of(128.0_MiB, {0, 1}) == near(chunk));
}

TEST_CASE("a NIC sends a flag for every 8 bytes in ll, and simple's bytes alone") {
  // 512 MB and 512 MB on NICs of 45 GB/s both ways, twice as many with flags; channels and links are faster.
  ClusterSpec cluster = two_protocols(2);
  cluster.node.gpus = 1;
  cluster.fabric->nics_per_node = 1;
  cluster.library.cu_rate = cluster.library.simple.channel_rate = cluster.library.ll->channel_rate = 100.0_GBps;
  const auto time = [&](Protocol protocol) {
    const CollectiveCall call{.kind = CollectiveKind::all_gather, .bytes = Bytes{1024e6}};
    return measure_collective(cluster, call, {.method = {Algorithm::ring, protocol}}).time.value;
  };
  CHECK(time(Protocol::simple) == near(512e6 / 45e9, 1e-2));
  CHECK(time(Protocol::ll) == near(2 * 512e6 / 45e9, 1e-2));
}

TEST_CASE("pairs over nodes are posted one by one, what a ring forwards is not") {
  ClusterSpec cluster = two_protocols(2);
  cluster.fabric->message_latency = 0.5_us;
  const CollectiveCall call{.kind = CollectiveKind::all_to_all, .bytes = 1.0_MiB};
  const auto of_step = [&](Algorithm algorithm) {
    const TransferGraph graph = make_transfer_graph(call, algorithm, cluster);
    const ChannelProtocol channels(cluster, call, {algorithm, Protocol::simple}, graph);
    return channels.latency(PlannedFlow{.legs = {}, .hops = 1, .network_hops = 0, .after = {}}).value;
  };
  // 4 of 8 ranks are on the other node: 8 posts, of two chunks each
  const double posts = 16 * 0.5e-6;
  CHECK(of_step(Algorithm::direct) == near(cluster.library.simple.hop_latency.value + posts));
  CHECK(of_step(Algorithm::ring) == near(cluster.library.simple.hop_latency.value));
}

TEST_CASE("a rank's own shard is copied by its channels where the library says at what rate") {
  ClusterSpec cluster = two_protocols();
  cluster.library.local_rate = 40.0_GBps;
  const Ring ring(cluster, 1.0_GiB, Protocol::simple);
  REQUIRE(ring.channels.local_copy());
  CHECK(ring.channels.local_copy()->bytes == 256.0_MiB);
  CHECK(ring.channels.local_copy()->time.value == near(268435456.0 / (56 * 40e9)));
}

TEST_CASE("what a rank keeps of an all-to-all is copied, with sizes of pairs or one size for all") {
  ClusterSpec cluster = two_protocols();
  cluster.library.local_rate = 40.0_GBps;
  const auto copied = [&](const CollectiveCall& call) {
    const TransferGraph graph = make_transfer_graph(call, Algorithm::direct, cluster);
    const ChannelProtocol protocol(cluster, call, {Algorithm::direct, Protocol::simple}, graph);
    return protocol.local_copy() ? protocol.local_copy()->bytes : Bytes{};
  };
  const std::size_t ranks = static_cast<std::size_t>(cluster.ranks());
  CollectiveCall sizes{.kind = CollectiveKind::all_to_all_v};
  sizes.sends.assign(ranks * ranks, 16.0_MiB);
  const Bytes alike =
      copied({.kind = CollectiveKind::all_to_all, .bytes = 16.0_MiB * static_cast<double>(ranks)});
  CHECK(alike == 16.0_MiB);
  CHECK(copied(sizes) == alike);
  sizes.sends[ranks + 1] = 48.0_MiB;  // the second rank keeps most
  CHECK(copied(sizes) == 48.0_MiB);
  for (std::size_t rank = 0; rank < ranks; ++rank)
    sizes.sends[rank * (ranks + 1)] = Bytes{};
  CHECK(copied(sizes) == Bytes{});
}

TEST_CASE("a ring in ll ends with a turn that sends nothing, in place or not") {
  // Four ranks, 64 MiB: 16 MiB of a shard on 56 channels of 5 GB/s are 59.9 us. A chain has no such turn.
  ClusterSpec cluster = two_protocols();
  cluster.library.ll->channel_rate = 5.0_GBps;
  for (const CollectiveKind kind :
       {CollectiveKind::all_reduce, CollectiveKind::all_gather, CollectiveKind::reduce_scatter}) {
    CAPTURE(name_of(kind));
    for (const bool in_place : {false, true}) {
      const CollectiveCall call{.kind = kind, .bytes = 64.0_MiB, .in_place = in_place};
      const TransferGraph graph = make_transfer_graph(call, Algorithm::ring, cluster);
      const ChannelProtocol channels(cluster, call, {Algorithm::ring, Protocol::ll}, graph);
      REQUIRE(channels.local_copy());
      CHECK(channels.local_copy()->bytes == 16.0_MiB);
      CHECK(channels.local_copy()->time.value == near(16777216.0 / (56 * 5e9)));
    }
  }
  const CollectiveCall chain{.kind = CollectiveKind::broadcast, .bytes = 64.0_MiB};
  const TransferGraph graph = make_transfer_graph(chain, Algorithm::ring, cluster);
  CHECK_FALSE(ChannelProtocol(cluster, chain, {Algorithm::ring, Protocol::ll}, graph).local_copy());
}

TEST_CASE("a slice's wait in a simple ring is hidden by the flow of its chunk's other slice") {
  // Four ranks, 56 channels of 7.9 GB/s: of 14 MiB a channel sends 64 KiB in a step, half of it in 4.15 us.
  ClusterSpec cluster = two_protocols();
  cluster.library.ring_chunk = 2.0_MiB;
  cluster.library.link_payload = 1.0_TBps;
  cluster.library.simple.channel_rate = 7.9_GBps;
  cluster.library.simple.hop_latency = 2.0_us;
  const double half = 32768.0 / 7.9e9;
  const auto waits = [&](Seconds slice_wait, Bytes bytes, Protocol protocol) {
    cluster.library.slice_wait = slice_wait;
    const Ring ring(cluster, bytes, protocol);
    return ring.latency().value / 3.0;  // of one step
  };
  CHECK(waits(Seconds{}, 14.0_MiB, Protocol::simple) == near(2e-6));
  CHECK(waits(6.0_us, 14.0_MiB, Protocol::simple) == near(8e-6 - half));
  CHECK(waits(1.0_us, 14.0_MiB, Protocol::simple) == 0.0);
  CHECK(waits(6.0_us, 14.0_MiB, Protocol::ll) == near(1e-6));
}

TEST_CASE("a folded ring of nodes with one GPU crosses between them in every step, at every grain") {
  ClusterSpec cluster = two_protocols(4);
  cluster.node.gpus = 1;
  cluster.fabric = one_switch(1);
  const CollectiveCall call{.kind = CollectiveKind::all_gather, .bytes = 4.0_B};
  for (const CollectiveGrain grain : {CollectiveGrain::step, CollectiveGrain::edge}) {
    const MeasuredMethod how{.method = {Algorithm::ring, Protocol::simple}, .grain = grain, .gap = Seconds{}};
    CHECK(measure_collective(cluster, call, how).time.value == near(17e-6 + 3 * 20e-6, 1e-4));
  }
}

TEST_CASE("flags that a fabric does not pass are refused between nodes only") {
  ClusterSpec cluster = two_protocols(2);
  cluster.fabric->transport.flags = FlagSupport::none;
  CHECK_THROWS_WITH_AS(Ring(cluster, 1.0_MiB, Protocol::ll),
                       "fabric 'one-switch' does not support protocol ll between nodes: it does not deliver "
                       "data and flags in order",
                       InfeasibleError);
  CHECK(Ring(cluster, 1.0_MiB, Protocol::simple).channels.base() == 17.0_us);
  cluster.nodes = 1;
  CHECK(Ring(cluster, 1.0_MiB, Protocol::ll).channels.base() == 5.0_us);
}

TEST_CASE("a step between nodes pays for switches beyond the first, and no more behind one") {
  // Fat tree, one node of one GPU a leaf: three switches between any two, 2 x 0.3 us beside the library's
  // own 20.
  ClusterSpec cluster = mi300x_like_cluster();
  cluster.nodes = 4;
  cluster.node = node_of_four();
  cluster.node.gpus = 1;
  cluster.library.simple.network_latency = 20.0_us;
  const auto time = [&](int leaf_nics) {
    cluster.fabric = tree_of(FabricTopology::fat_tree, leaf_nics, 1.0);
    cluster.fabric->nics_per_node = 1;
    cluster.fabric->switch_latency = 0.3_us;
    const MeasuredMethod how{.method = {Algorithm::ring, Protocol::simple}, .gap = Seconds{}};
    return measure_collective(cluster, {.kind = CollectiveKind::all_gather, .bytes = 4.0_B}, how).time.value;
  };
  CHECK(time(1) - time(4) == near(3 * 2 * 0.3e-6, 1e-4));
  CHECK(time(2) - time(4) == near(3 * 2 * 0.3e-6 / 2, 1e-4));  // every other neighbour is below the same leaf
}

TEST_CASE("a rank copies its own shard no faster than its HBM reads and writes it") {
  ClusterSpec cluster = two_protocols();
  cluster.gpu.hbm.read = cluster.gpu.hbm.write = cluster.gpu.hbm.copy = 4.0_TBps;
  const double shard = 1073741824.0 / cluster.ranks();
  const auto time = [&] { return Ring(cluster, 1.0_GiB, Protocol::simple).channels.local_copy()->time.value; };
  const int channels = Ring(cluster, 1.0_GiB, Protocol::simple).channels.width();
  cluster.library.local_rate = 1.0_GBps;
  CHECK(time() == near(shard / (1e9 * channels)));
  cluster.library.local_rate = 1.0_TBps;
  CHECK(time() == near(2.0 * shard / 4e12));
}

}  // namespace c3::collectives_channel_protocol_test
