#include "collectives/channel_protocol.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "collectives/group_layout.hpp"
#include "collectives/tuner.hpp"
#include "engine/errors.hpp"
#include "gpu/memory.hpp"
#include "interconnect/switch_network.hpp"

namespace c3 {
namespace {

bool runs_in_switch(Algorithm algorithm) {
  return algorithm == Algorithm::nvls || algorithm == Algorithm::nvls_tree;
}

constexpr double kShareBesideFlags = 0.5;  // of a wire with a flag for every 8 bytes
constexpr int kMostHeads = 32;             // GPUs whose parts NCCL passes through the switch at once

/// Whether every rank sends and receives: what meeting a peer costs was measured of these. Gather and scatter
/// are sends and receives, too, but of one rank with the others.
bool is_pairwise(CollectiveKind kind) { return sends_in_pairs(kind) && !is_rooted(kind); }

const ProtocolSpec& spec_of(const CollectiveLibrarySpec& library, const ChannelMethod& method) {
  if (!offers(library, method.protocol)) {
    throw InfeasibleError(fmt::format("'{}' has no protocol {}", library.name, name_of(method.protocol)));
  }
  if (runs_in_switch(method.algorithm) && method.protocol != Protocol::simple) {
    throw InfeasibleError(fmt::format("{} supports only protocol simple, not {}", name_of(method.algorithm),
                                      name_of(method.protocol)));
  }
  return protocol_of(library, method.protocol);
}

constexpr double kKiB = 1024.0;

/// What NCCL passes at once in trees through switches, unless it is told otherwise.
double largest_tree_chunk(int nodes) { return (nodes > 3 ? 64 : 128) * kKiB; }

/// Lanes, and the rank itself.
int places_of(const CollectiveLibrarySpec& library, const CollectiveCall& call, const ChannelMethod& method,
              int channels, int lanes) {
  const bool sends_to_all =
      call.kind == CollectiveKind::all_to_all || call.kind == CollectiveKind::all_to_all_v;
  const bool to_itself = library.p2p_to_itself && sends_to_all && method.algorithm == Algorithm::direct;
  return lanes + (to_itself && channels > lanes ? 1 : 0);
}

double bytes_per_thread(const ChannelMethod& method, int members) {
  switch (method.protocol) {
    case Protocol::ll:
      return method.algorithm == Algorithm::ring ? 8.0 * members : 8.0;
    case Protocol::ll128:
      return 8.0;
    case Protocol::simple:
      break;
  }
  return 64.0;
}

}  // namespace

int channels_of(const CollectiveLibrarySpec& library, CollectiveKind kind, Algorithm algorithm) {
  if (runs_in_switch(algorithm)) return library.nvls_channels;
  const bool in_pairs = algorithm == Algorithm::direct && sends_in_pairs(kind) && library.p2p_channels > 0;
  return in_pairs ? library.p2p_channels : library.channels;
}

int channels_used(const CollectiveLibrarySpec& library, const CollectiveCall& call, const ChannelMethod& method,
                  int members, int lanes) {
  int channels = channels_of(library, call.kind, method.algorithm);
  const bool reduced = !runs_in_switch(method.algorithm) && method.algorithm != Algorithm::direct;
  const int threads = protocol_of(library, method.protocol).threads;
  if (is_pairwise(call.kind) && method.protocol == Protocol::ll) {
    channels = std::min(channels, lanes);
  } else if (reduced && threads > 0) {
    const double of_channel = threads * bytes_per_thread(method, members);
    const double wanted = std::floor(counted_bytes(call, members) / Bytes{of_channel});
    channels = static_cast<int>(std::clamp(wanted, 1.0, static_cast<double>(channels)));
  }
  channels = std::max({channels, lanes, method.channels.least});
  return method.channels.most > 0 ? std::min(channels, method.channels.most) : channels;
}

Bytes nvls_chunk(Bytes bytes, int channels, int heads) {
  double chunk = 128 * kKiB;
  const auto passes = [&] { return bytes.value / (channels * heads * chunk); };
  if (passes() < 64.0) chunk = 64 * kKiB;
  if (passes() < 8.0) chunk = 32 * kKiB;
  if (passes() < 2.0) chunk = 16 * kKiB;
  return Bytes{chunk};
}

Bytes nvls_tree_chunk(Bytes bytes, int channels, int heads, int nodes, Bytes set) {
  double chunk = set.value > 0.0 ? set.value : largest_tree_chunk(nodes);
  const auto passes = [&] { return bytes.value / (channels * heads * chunk); };
  if (passes() < 32.0 && chunk > 256 * kKiB) chunk = 256 * kKiB;
  if (passes() < 16.0 && chunk > 128 * kKiB) chunk = 128 * kKiB;
  if (passes() < 4.0 && chunk > 64 * kKiB) chunk = 64 * kKiB;
  if (passes() < 1.0 && chunk > 32 * kKiB) chunk = 32 * kKiB;
  return Bytes{chunk};
}

ChannelProtocol::ChannelProtocol(const ClusterSpec& cluster, const CollectiveCall& call,
                                 const ChannelMethod& method, const TransferGraph& graph)
    : cluster_(cluster),
      library_(cluster.library),
      call_(call),
      method_(method),
      graph_(graph),
      nodes_(layout_of(graph.members, graph.node_gpus).node_count()),
      spec_(spec_of(cluster.library, method)),
      width_(channels_used(cluster.library, call, method, graph.ranks(), graph.lanes)),
      places_(places_of(cluster.library, call, method, width_, graph.lanes)),
      tree_rate_(measured_tree_rate(call, method.algorithm, method.protocol, cluster)),
      longest_(static_cast<std::size_t>(graph.lanes)) {
  for (const Transfer& transfer : graph.transfers) {
    Bytes& longest = longest_[static_cast<std::size_t>(transfer.lane)];
    const double steps = std::max(1, transfer.hops + transfer.network_hops);
    longest = std::max(longest, transfer.bytes / steps);
  }
  if (nodes_ > 1 && !passes_between_nodes(cluster, method.protocol)) {
    throw InfeasibleError(fmt::format(
        "fabric '{}' does not support protocol {} between nodes: it does not deliver data and flags in order",
        cluster.fabric->name, name_of(method.protocol)));
  }
  if (nodes_ > 1) {
    std::vector<int> members;
    fewest_in_node_ = graph.ranks();
    for (const std::vector<int>& ranks : layout_of(graph.members, graph.node_gpus).nodes) {
      members.push_back(ranks.front() / graph.node_gpus);
      fewest_in_node_ = std::min(fewest_in_node_, static_cast<int>(ranks.size()));
    }
    between_switches_ = latency_between_switches(*cluster.fabric, cluster.nodes, members);
  }
}

bool ChannelProtocol::is_one_shot() const {
  return method_.algorithm == Algorithm::direct && method_.protocol == Protocol::ll &&
         call_.kind == CollectiveKind::all_reduce && library_.one_shot_latency;
}

// Where pairs send and receive a CU's channels serve several peers, each by a loop of its own, and share less.
BytesPerSecond ChannelProtocol::cu_rate() const {
  const bool in_pairs = method_.algorithm == Algorithm::direct && sends_in_pairs(call_.kind);
  return in_pairs ? library_.pair_cu_rate.value_or(library_.cu_rate) : library_.cu_rate;
}

// A one-shot kernel's threads do not go round a ring: the wire's half is all that the flags take.
BytesPerSecond ChannelProtocol::link_payload() const {
  if (runs_in_switch(method_.algorithm)) return library_.nvls_payload;
  return library_.link_payload * (is_one_shot() ? kShareBesideFlags : spec_.link_share);
}

// Within a node link_share says what flags leave, and whatever else a protocol loses.
double ChannelProtocol::network_bytes() const {
  if (method_.protocol == Protocol::simple) return 1.0;
  return method_.protocol == Protocol::ll ? 1.0 / kShareBesideFlags : 128.0 / 120.0;
}

Seconds ChannelProtocol::base() const {
  if (method_.algorithm == Algorithm::nvls_tree) return tree_fill();
  const bool is_direct_ring =
      method_.algorithm == Algorithm::ring && method_.protocol == Protocol::simple && nodes_ == 1;
  const Seconds handshakes = spec_.hop_latency * (is_direct_ring ? library_.handshake_hops : 0.0);
  return (is_one_shot() ? *library_.one_shot_latency : spec_.base_latency) + handshakes + last_slices();
}

Seconds ChannelProtocol::latency(const Move& move) const {
  if (method_.algorithm == Algorithm::nvls) return in_switch();
  if (move.hops + move.network_hops == 0) return {};
  if (method_.algorithm == Algorithm::nvls_tree) {
    const Seconds between =
        library_.nvls_tree_network_latency + cluster_.fabric->transport.slice_latency + between_switches_;
    return library_.nvls_tree_latency * move.hops + between * move.network_hops;
  }
  const Seconds steps = spec_.hop_latency * static_cast<double>(move.hops) +
                        network_hop() * static_cast<double>(move.network_hops);
  return steps * plateau() + posts();
}

Seconds ChannelProtocol::network_hop() const { return network_step() + between_switches_; }

// The library's latency is that of its steps over verbs, NICs and one switch included.
Seconds ChannelProtocol::network_step() const {
  if (!cluster_.fabric || library_.network_fabric == cluster_.fabric->name) return spec_.network_latency;
  const TransportSpec& transport = cluster_.fabric->transport;
  if (method_.protocol == Protocol::simple) return spec_.network_latency + transport.slice_latency;
  const Bytes of_channel = std::ranges::max(longest_) / std::max(1, width_ / graph_.lanes) / spec_.link_share;
  const double messages = of_channel > transport.eager_size ? 2.0 : 1.0;
  return std::max(spec_.network_latency, transport.flag_latency * messages);
}

// What authors measured of a tree contains its filling.
Chunking ChannelProtocol::chunks() const {
  constexpr int kFine = 10'000;
  if (!graph_.pipelined) return {};
  if (tree_rate_) return equal_chunks(kFine);
  const double channels = std::max(1, width_ / graph_.lanes);
  const Bytes longest = std::ranges::max(longest_);
  Bytes chunk = method_.algorithm == Algorithm::tree ? tree_chunk(longest / channels) : library_.chunk_size;
  if (const std::optional<Bytes> lines = line_round()) chunk = std::min(chunk, *lines);
  return whole_chunks(longest, chunk * channels);
}

// A thread sends a line on as soon as it and its flag have come, so that a rank is one round of the channel's
// threads behind. Between nodes a NIC waits for the chunk, which in LL is small (8 lines a thread).
std::optional<Bytes> ChannelProtocol::line_round() const {
  const bool waits = nodes_ > 1 && method_.protocol == Protocol::ll128;
  if (method_.protocol == Protocol::simple || waits || spec_.threads == 0) return std::nullopt;
  const double of_thread = method_.protocol == Protocol::ll ? 8.0 : 60.0;  // of 16 B, of 64 B with its flags
  return Bytes{spec_.threads * of_thread};
}

// Channels copy all of a rank's data into the switch's buffers and out of them.
BytesPerSecond ChannelProtocol::copying_in_switch() const {
  if (library_.nvls_channel_rate.value <= 0.0) return BytesPerSecond{std::numeric_limits<double>::infinity()};
  return library_.nvls_channel_rate * static_cast<double>(width_);
}

// As NCCL and RCCL (enqueue.cc): smaller where few would follow one another through a tree of that depth.
Bytes ChannelProtocol::tree_chunk(Bytes of_channel) const {
  const double depth = 0.5 * graph_.steps;
  Bytes chunk = library_.chunk_size;
  const auto shrink = [&](double times, double least) {
    while (of_channel / chunk < times * depth && chunk.value > least)
      chunk = chunk * 0.5;
  };
  if (library_.tuner_bandwidth.value <= 0.0) return chunk;
  shrink(8.0, 128 * kKiB);
  shrink(4.0, 64 * kKiB);
  shrink(1.0, 32 * kKiB);
  return chunk;
}

double ChannelProtocol::bound(const Move& move) const {
  if (method_.algorithm == Algorithm::nvls) return (copying_in_switch() / call_.bytes).value;
  if (!tree_rate_) return std::numeric_limits<double>::infinity();
  const Leg& leg = move.legs.front();
  const double part = leg.bytes / longest_[static_cast<std::size_t>(leg.lane)];
  return (*tree_rate_ / (call_.bytes * part)).value;
}

// A chunk's second copy, out of the buffer into which it was copied first, begins when the first has ended.
// Each chunk synchronises the node's GPUs; those of the size at which the rate was measured are in the rate.
Seconds ChannelProtocol::tree_fill() const {
  if (!tree_rate_) return spec_.base_latency;
  const int heads = std::min(graph_.ranks() / nodes_, kMostHeads);
  const Bytes set = cluster_.fabric->transport.switch_chunk;
  const Bytes pass = nvls_tree_chunk(call_.bytes, width_, heads, nodes_, set) * (1.0 * width_ * heads);
  const Bytes measured = Bytes{largest_tree_chunk(nodes_) * width_ * heads};
  const double more = std::max(1.0, call_.bytes / pass) - call_.bytes / measured;
  return std::min(call_.bytes, pass) / *tree_rate_ + spec_.hop_latency * (0.5 * std::max(0.0, more));
}

// Chunks pass the switch one after another, each behind a synchronisation; two more fill and drain the three
// stages: copy in, reduce and multicast, copy out.
Seconds ChannelProtocol::in_switch() const {
  const int heads = std::min(graph_.ranks(), kMostHeads);
  const Bytes pass = nvls_chunk(call_.bytes, width_, heads) * (1.0 * width_ * heads);
  const double passes = std::max(1.0, call_.bytes / pass);
  const Bytes at_once = std::min(call_.bytes, pass);
  const Seconds on_links = at_once * (1.0 + 1.0 / graph_.ranks()) / library_.nvls_payload;
  const Seconds of_pass = std::max(on_links, at_once / copying_in_switch());
  return library_.nvls_latency * (passes + 2.0) + of_pass * 2.0;
}

// A ring over several nodes waits longer for each step once channels carry more than a line (NCCL 2.30.7,
// plateau effect of ring; published for all_reduce).
double ChannelProtocol::plateau() const {
  const bool applies = method_.algorithm == Algorithm::ring && method_.protocol == Protocol::simple &&
                       nodes_ > 1 && !graph_.pipelined &&
                       call_.bytes.value / (library_.channels * graph_.ranks()) >= 64.0;
  return applies ? library_.ring_plateau : 1.0;
}

// One thread of a rank's host posts every send and receive of a pair over the network; two chunks before slices
// stream.
Seconds ChannelProtocol::posts() const {
  if (!is_pairwise(call_.kind) || method_.algorithm != Algorithm::direct || nodes_ == 1) return {};
  const int peers = call_.kind == CollectiveKind::send_receive ? 1 : graph_.ranks() - fewest_in_node_;
  const double chunks = method_.protocol == Protocol::simple ? 2.0 : 1.0;
  return cluster_.fabric->message_latency * (2.0 * peers * chunks);
}

Seconds ChannelProtocol::last_slices() const {
  Seconds longest;
  for (int lane = 0; lane < graph_.lanes; ++lane)
    longest = std::max(longest, last_slice(lane));
  return longest;
}

// What comes last has nothing behind it to hide its copying: half a chunk of a ring (a chunk is two slices), a
// whole one of a pair, which its receiver copies out of the library's buffer; before that, a pair's send and
// receive have met, which takes another hop.
Seconds ChannelProtocol::last_slice(int lane) const {
  if (method_.protocol != Protocol::simple || graph_.pipelined) return {};
  const double channels = in_lane(lane);
  const Bytes most = longest_[static_cast<std::size_t>(lane)] / channels;
  if (method_.algorithm == Algorithm::ring && library_.ring_chunk.value > 0.0) {
    const BytesPerSecond rate = std::min(spec_.channel_rate, link_payload() / channels);
    return std::min(most, library_.ring_chunk) * 0.5 / rate;
  }
  if (method_.algorithm == Algorithm::direct && is_pairwise(call_.kind) && library_.local_rate) {
    return spec_.hop_latency + std::min(most, library_.chunk_size) / *library_.local_rate;
  }
  return {};
}

std::optional<LocalCopy> ChannelProtocol::local_copy() const {
  const bool is_ring_sum = call_.kind == CollectiveKind::all_reduce && method_.algorithm == Algorithm::ring;
  const bool gathers_elsewhere = call_.kind == CollectiveKind::all_gather && !call_.in_place;
  const bool has_shard = is_ring_sum || gathers_elsewhere || call_.kind == CollectiveKind::reduce_scatter ||
                         call_.kind == CollectiveKind::all_to_all;
  if (!has_shard || !library_.local_rate || method_.protocol != Protocol::simple) return std::nullopt;
  const Bytes shard = call_.bytes / graph_.ranks();
  const Seconds at_hbm{1.0 / hbm_rate_alone(cluster_.gpu.hbm, shard, shard)};
  return LocalCopy{shard, std::max(shard / (*library_.local_rate * width_), at_hbm)};
}

}  // namespace c3
