#include "collectives/library/channel_protocol.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include "collectives/algorithms/entry.hpp"
#include "collectives/group_layout.hpp"
#include "collectives/library/peer_channels.hpp"
#include "collectives/library/published_figures.hpp"
#include "collectives/library/rccl_rules.hpp"
#include "collectives/library/ring_search.hpp"
#include "collectives/library/switch_chunks.hpp"
#include "engine/errors.hpp"
#include "gpu/hbm_rate.hpp"
#include "interconnect/host_paths.hpp"
#include "interconnect/switch_network.hpp"

namespace c3 { inline namespace collectives {
namespace {

ChannelUse use_of(Algorithm algorithm) { return algorithm->channels.use; }

const ProtocolSpec& costs_of(const CollectiveLibrarySpec& library, const CollectiveMethod& method) {
  if (!offers(library, method.protocol)) {
    throw InfeasibleError(fmt::format("'{}' has no protocol {}", library.name, name_of(method.protocol)));
  }
  if (use_of(method.algorithm) == ChannelUse::in_switch && method.protocol != Protocol::simple) {
    throw InfeasibleError(fmt::format("{} supports only protocol simple, not {}", name_of(method.algorithm),
                                      name_of(method.protocol)));
  }
  return protocol_of(library, method.protocol);
}

/// Lanes, and the rank itself.
int places_of(const CollectiveLibrarySpec& library, const CollectiveCall& call, const CollectiveMethod& method,
              int channels, int lanes) {
  const bool sends_to_all =
      call.kind == CollectiveKind::all_to_all || call.kind == CollectiveKind::all_to_all_v;
  const bool to_itself = library.p2p_to_itself && sends_to_all && use_of(method.algorithm) == ChannelUse::pairs;
  return lanes + (to_itself && channels > lanes ? 1 : 0);
}

int within(const ChannelLimits& limits, int channels) {
  if (limits.most > 0) channels = std::min(channels, limits.most);
  return std::max(channels, limits.least);
}

/// Sends and receives have a power of two (NCCL 2.30.7, src/graph/paths.cc).
ChannelLimits of_pairs(const ChannelLimits& limits) {
  return {limits.least > 0 ? power_of_two(limits.least) : 0, limits.most > 0 ? power_of_two(limits.most) : 0};
}

/// Whether every rank sends to one peer, and some have it in another node.
bool has_network_peer(const CollectiveCall& call, const ClusterSpec& cluster) {
  if (cluster.nodes == 1) return false;
  const std::vector<int> members = members_of(call, cluster.ranks());
  const bool has_one_peer = call.kind == CollectiveKind::send_receive || members.size() == 2;
  return has_one_peer && layout_of(members, cluster.node.gpus).node_count() > 1;
}

double bytes_per_thread(const CollectiveMethod& method, int members) {
  switch (method.protocol) {
    case Protocol::ll:
      return use_of(method.algorithm) == ChannelUse::rings ? 8.0 * members : 8.0;
    case Protocol::ll128:
      return 8.0;
    case Protocol::simple:
      break;
  }
  return 64.0;
}

/// How many of \p channels have enough to do.
int busy_channels(const ClusterSpec& cluster, const CollectiveCall& call, const CollectiveMethod& method,
                  int members, int channels) {
  const CollectiveLibrarySpec& library = cluster.library;
  const bool is_free = library.channel_limits == ChannelLimits() && method.channels == ChannelLimits();
  double of_thread = bytes_per_thread(method, members);
  if (library.rules == TunerRules::rccl && cluster.nodes > 1 && is_free) {
    const PublishedFigures figures(call, cluster);
    const std::optional<int> by_size = rccl_channels_by_size(figures);
    if (by_size && *by_size <= channels) return *by_size;
    of_thread = rccl_bytes_per_thread(figures, method.protocol).value_or(of_thread);
  }
  const double of_channel = protocol_of(library, method.protocol).threads * of_thread;
  const double wanted = std::floor(counted_bytes(call, members) / Bytes{of_channel});
  return static_cast<int>(std::clamp(wanted, 1.0, static_cast<double>(channels)));
}

std::vector<Bytes> longest_steps(const TransferGraph& graph) {
  std::vector<Bytes> by_lane(static_cast<std::size_t>(graph.lanes));
  for (const Transfer& transfer : graph.transfers) {
    Bytes& longest = by_lane[static_cast<std::size_t>(transfer.lane)];
    const double steps = std::max(1, transfer.hops + transfer.network_hops);
    longest = std::max(longest, transfer.bytes / steps);
  }
  return by_lane;
}

/// What crosses nodes. \throws InfeasibleError for a protocol that the fabric cannot carry.
void add_nodes(ChannelContext& channels) {
  const GroupLayout layout = layout_of(channels.graph.members, channels.graph.node_gpus);
  channels.nodes = layout.node_count();
  if (channels.nodes == 1) return;
  const ClusterSpec& cluster = channels.cluster;
  if (!passes_between_nodes(cluster, channels.protocol)) {
    throw InfeasibleError(fmt::format(
        "fabric '{}' does not support protocol {} between nodes: it does not deliver data and flags in order",
        cluster.fabric->name, name_of(channels.protocol)));
  }
  std::vector<int> nodes;
  channels.fewest_in_node = channels.graph.ranks();
  for (const std::vector<int>& ranks : layout.nodes) {
    nodes.push_back(ranks.front() / channels.graph.node_gpus);
    channels.fewest_in_node = std::min(channels.fewest_in_node, static_cast<int>(ranks.size()));
  }
  channels.between_switches = latency_between_switches(*cluster.fabric, cluster.nodes, nodes);
}

/// Which edges within nodes go through host memory, which over the network.
void add_paths(ChannelContext& channels) {
  const NodeSpec& node = channels.cluster.node;
  if (node.host.sockets.empty()) return;
  const HostPaths paths(node);
  std::set<std::pair<int, int>> edges;  // pairs of GPUs
  for (const Transfer& transfer : channels.graph.transfers) {
    const bool is_within = transfer.src / node.gpus == transfer.dst / node.gpus && transfer.src != transfer.dst;
    if (is_within) edges.insert({transfer.src % node.gpus, transfer.dst % node.gpus});
  }
  if (edges.empty()) return;
  const auto share = [&](GpuPath way) {
    const auto count = std::ranges::count_if(
        edges, [&](const auto& edge) { return paths.between(edge.first, edge.second) == way; });
    return static_cast<double>(count) / static_cast<double>(edges.size());
  };
  channels.through_host = share(GpuPath::host_memory);
  channels.through_network = share(GpuPath::network);
}

ChannelContext context_of(const ClusterSpec& cluster, const CollectiveCall& call,
                          const CollectiveMethod& method, const TransferGraph& graph) {
  const CollectiveLibrarySpec& library = cluster.library;
  ChannelContext channels{.cluster = cluster,
                          .call = call,
                          .graph = graph,
                          .algorithm = method.algorithm,
                          .protocol = method.protocol,
                          .costs = costs_of(library, method)};
  channels.width = channels_used(cluster, call, method, graph.ranks(), graph.lanes);
  channels.places = places_of(library, call, method, channels.width, graph.lanes);
  channels.measured_rate = measured_rate(call, method.algorithm, method.protocol, cluster);
  channels.longest = longest_steps(graph);
  add_nodes(channels);
  add_paths(channels);
  return channels;
}

}  // namespace

int channels_of(const ClusterSpec& cluster, const CollectiveCall& call, Algorithm algorithm) {
  std::optional<CollectiveLibrarySpec> among;
  if (!cluster.node.host.sockets.empty()) among = library_among(cluster, members_of(call, cluster.ranks()));
  const CollectiveLibrarySpec& library = among ? *among : cluster.library;
  const ChannelUse use = use_of(algorithm);
  if (use == ChannelUse::pairs && sends_in_pairs(call.kind)) {
    const int usual = library.p2p_channels > 0 ? library.p2p_channels : library.channels;
    const ChannelLimits limits = of_pairs(library.channel_limits);
    if (has_network_peer(call, cluster)) return std::min(within(limits, usual), network_peer_channels(cluster));
    return within(limits, usual);
  }
  const bool in_switch = use == ChannelUse::in_switch;
  const int usual = in_switch ? library.nvls_channels : library.channels;
  const bool is_searched = use != ChannelUse::pairs && cluster.nodes > 1 && library.tuner_bandwidth.value > 0.0;
  if (!is_searched) return within(library.channel_limits, usual);
  const PublishedFigures figures(call, cluster);
  if (figures.nodes == 1) return within(library.channel_limits, usual);
  if (library.rules == TunerRules::rccl)
    return within(library.channel_limits, std::min(usual, kMostRcclChannelsOverNodes));
  return within(library.channel_limits, in_switch ? nvls_channels(figures) : figures.graphs.channels);
}

int channels_used(const ClusterSpec& cluster, const CollectiveCall& call, const CollectiveMethod& method,
                  int members, int lanes) {
  const CollectiveLibrarySpec& library = cluster.library;
  if (const auto width = method.algorithm->channels.width)
    return within(method.channels, width(PublishedFigures(call, cluster), method.algorithm, method.protocol));
  int channels = channels_of(cluster, call, method.algorithm);
  const ChannelUse use = use_of(method.algorithm);
  const bool reduced = use == ChannelUse::paths || use == ChannelUse::rings;
  const int threads = protocol_of(library, method.protocol).threads;
  if (is_pairwise(call.kind) && method.protocol == Protocol::ll) {
    channels = std::min(channels, lanes);
  } else if (reduced && threads > 0) {
    channels = busy_channels(cluster, call, method, members, channels);
  }
  channels = std::max({channels, lanes, method.channels.least});
  return method.channels.most > 0 ? std::min(channels, method.channels.most) : channels;
}

std::optional<BytesPerSecond> measured_rate(const CollectiveCall& call, Algorithm algorithm, Protocol protocol,
                                            const ClusterSpec& cluster) {
  const CollectiveLibrarySpec& library = cluster.library;
  const bool known = library.rules == TunerRules::nccl && library.tuner_bandwidth.value > 0.0 &&
                     call.kind == CollectiveKind::all_reduce && offers(library, protocol);
  if (!known || algorithm->channels.measured_rate == nullptr) return std::nullopt;
  return algorithm->channels.measured_rate(PublishedFigures(call, cluster), protocol);
}

ChannelProtocol::ChannelProtocol(const ClusterSpec& cluster, const CollectiveCall& call,
                                 const CollectiveMethod& method, const TransferGraph& graph)
    : channels_(context_of(cluster, call, method, graph)) {}

// When pairs send and receive, a CU's channels serve several peers, each by a loop of its own, and share less.
BytesPerSecond ChannelProtocol::cu_rate() const {
  if (channels_.algorithm->channels.channel_rate != nullptr) return channel_rate();
  const CollectiveLibrarySpec& library = channels_.library();
  const bool in_pairs = use_of(channels_.algorithm) == ChannelUse::pairs && sends_in_pairs(channels_.call.kind);
  return in_pairs ? library.pair_cu_rate.value_or(library.cu_rate) : library.cu_rate;
}

BytesPerSecond ChannelProtocol::channel_rate() const {
  if (const auto rate = channels_.algorithm->channels.channel_rate) return rate(channels_);
  const std::optional<ChannelContext::PollRound> round = channels_.poll_round();
  return round ? std::min(channels_.costs.channel_rate, round->bytes / round->time)
               : channels_.costs.channel_rate;
}

BytesPerSecond ChannelProtocol::link_payload() const {
  if (use_of(channels_.algorithm) == ChannelUse::in_switch) return channels_.library().nvls_payload;
  if (const auto link_payload = channels_.algorithm->channels.link_payload) return link_payload(channels_);
  return channels_.library().link_payload * channels_.costs.link_share;
}

// Within a node link_share says what flags leave, and whatever else a protocol loses.
double ChannelProtocol::network_bytes() const {
  const double bytes = collisions();
  if (channels_.protocol == Protocol::simple) return bytes;
  if (channels_.protocol == Protocol::ll) return bytes / kShareBesideFlags;
  return bytes / (channels_.library().rules == TunerRules::rccl ? 56.0 / 64.0 : kLinePayload);
}

// Senders on two nodes do not meet; with three nodes or more a NIC receives from several at once.
double ChannelProtocol::collisions() const {
  constexpr int kNodesThatMeet = 3;
  const CollectiveKind kind = channels_.call.kind;
  const bool meets = (kind == CollectiveKind::all_to_all || kind == CollectiveKind::all_to_all_v) &&
                     use_of(channels_.algorithm) == ChannelUse::pairs && channels_.nodes >= kNodesThatMeet;
  return meets ? 1.0 / channels_.cluster.fabric->transport.incast : 1.0;
}

Seconds ChannelProtocol::setup() const {
  const auto setup = channels_.algorithm->channels.setup;
  return setup != nullptr ? setup(channels_) : channels_.costs.base_latency;
}

Seconds ChannelProtocol::latency(const PlannedFlow& flow) const {
  const auto latency = channels_.algorithm->channels.latency;
  return latency != nullptr ? latency(channels_, flow) : channels_.steps(flow);
}

// What authors measured of a tree contains its filling.
Chunking ChannelProtocol::chunks() const {
  constexpr int kFine = 10'000;
  if (!channels_.graph.pipelined) return {};
  if (channels_.measured_rate) return equal_chunks(kFine);
  const double channels = std::max(1, channels_.width / channels_.graph.lanes);
  const Bytes longest = std::ranges::max(channels_.longest);
  const auto chunk_of = channels_.algorithm->channels.chunk;
  Bytes chunk = chunk_of != nullptr ? chunk_of(channels_, longest / channels) : channels_.library().chunk_size;
  if (const std::optional<Bytes> lines = line_round()) chunk = std::min(chunk, *lines);
  return whole_chunks(longest, chunk * channels);
}

// A thread sends a line on as soon as it and its flag have come, so that a rank is one round of the channel's
// threads behind. Between nodes a NIC waits for the chunk, which in LL is small (8 lines a thread).
std::optional<Bytes> ChannelProtocol::line_round() const {
  const Protocol protocol = channels_.protocol;
  const int threads = channels_.costs.threads;
  const bool waits = channels_.nodes > 1 && protocol == Protocol::ll128;
  if (protocol == Protocol::simple || waits || threads == 0) return std::nullopt;
  const double of_thread = protocol == Protocol::ll ? 8.0 : 60.0;  // payload of 16 B, of 64 B with its flags
  return Bytes{threads * of_thread};
}

double ChannelProtocol::bound(const PlannedFlow& flow) const {
  BytesPerSecond rate{std::numeric_limits<double>::infinity()};
  if (const auto most = channels_.algorithm->channels.most) rate = most(channels_);
  if (!channels_.measured_rate) return (rate / channels_.call.bytes).value;
  const Leg& leg = flow.legs.front();
  const double part = leg.bytes / channels_.longest[static_cast<std::size_t>(leg.lane)];
  return (std::min(rate, *channels_.measured_rate) / (channels_.call.bytes * part)).value;
}

Seconds ChannelProtocol::last_slices() const {
  const auto last_slice = channels_.algorithm->channels.last_slice;
  const bool hidden = channels_.protocol != Protocol::simple || channels_.graph.pipelined;
  if (last_slice == nullptr || hidden) return {};
  Seconds longest;
  for (int lane = 0; lane < channels_.graph.lanes; ++lane)
    longest = std::max(longest, last_slice(channels_, lane));
  return longest;
}

LocalCopy ChannelProtocol::copy_out() const {
  const std::optional<BytesPerSecond>& local_rate = channels_.library().local_rate;
  LocalCopy copy;
  for (const Transfer& transfer : channels_.graph.transfers)
    copy.bytes = std::max(copy.bytes, transfer.bytes);
  if (local_rate && channels_.protocol == Protocol::simple)
    copy.time = copy.bytes / (*local_rate * channels_.width);
  return copy;
}

std::optional<LocalCopy> ChannelProtocol::local_copy() const {
  if (channels_.protocol == Protocol::simple) return copy_of_shard();
  return channels_.protocol == Protocol::ll ? last_turn() : std::nullopt;
}

namespace {

/// What a rank of the group keeps of its own data; of all_to_all_v the most that one keeps.
Bytes own_shard(const CollectiveCall& call, int members) {
  if (call.kind != CollectiveKind::all_to_all_v) return call.bytes / members;
  Bytes most;
  for (std::size_t i = 0; i < call.sends.size(); i += static_cast<std::size_t>(members) + 1)
    most = std::max(most, call.sends[i]);
  return most;
}

}  // namespace

std::optional<LocalCopy> ChannelProtocol::copy_of_shard() const {
  const CollectiveCall& call = channels_.call;
  const std::optional<BytesPerSecond>& local_rate = channels_.library().local_rate;
  const bool is_ring_sum =
      call.kind == CollectiveKind::all_reduce && use_of(channels_.algorithm) == ChannelUse::rings;
  const bool gathers_elsewhere = call.kind == CollectiveKind::all_gather && !call.in_place;
  const bool has_shard = is_ring_sum || gathers_elsewhere || call.kind == CollectiveKind::reduce_scatter ||
                         call.kind == CollectiveKind::all_to_all || call.kind == CollectiveKind::all_to_all_v;
  // The shard is copied like that of one more peer, by channels of its own or by all.
  const bool by_the_way =
      use_of(channels_.algorithm) == ChannelUse::windows || channels_.places > channels_.graph.lanes;
  if (!has_shard || !local_rate || by_the_way) return std::nullopt;
  Bytes shard = own_shard(call, channels_.graph.ranks());
  if (shard.value <= 0.0) return std::nullopt;
  // NICs leave channels idle, which copy meanwhile all but what they take up last.
  const Bytes last = channels_.library().ring_chunk * channels_.width;
  if (channels_.nodes > 1 && last.value > 0.0) shard = std::min(shard, last);
  return copied(shard, *local_rate);
}

// All its turns but the last send: the first sends alone, the last takes a shard out of the buffer.
std::optional<LocalCopy> ChannelProtocol::last_turn() const {
  const CollectiveCall& call = channels_.call;
  if (use_of(channels_.algorithm) != ChannelUse::rings || !goes_in_parts(call.kind)) return std::nullopt;
  return copied(call.bytes / channels_.graph.ranks(), channel_rate());
}

LocalCopy ChannelProtocol::copied(Bytes shard, BytesPerSecond of_channel) const {
  const Seconds at_hbm{1.0 / hbm_rate_alone(channels_.cluster.gpu.hbm, shard, shard)};
  return {shard, std::max(shard / (of_channel * channels_.width), at_hbm)};
}

}}  // namespace c3::collectives
