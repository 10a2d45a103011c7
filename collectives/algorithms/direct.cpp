// Every pair of ranks by itself: S/N to each other rank, S or S/N to or from a root.

#include <algorithm>
#include <functional>
#include <numeric>
#include <stdexcept>

#include "collectives/algorithms/algorithm.hpp"
#include "collectives/algorithms/entry.hpp"
#include "collectives/library/channel_context.hpp"
#include "interconnect/fabric.hpp"

namespace c3 { inline namespace collectives {
namespace {

/// Every distance in a group: of nodes, then of GPUs, as NCCL schedules its peers; of positions where nodes
/// hold unlike members.
std::vector<Exchange> all_distances(const GroupLayout& layout, int ranks) {
  std::vector<Exchange> distances;
  if (!layout.is_regular()) {
    for (int distance = 1; distance < ranks; ++distance)
      distances.push_back(shift(distance, ranks));
    return distances;
  }
  const int slots = layout.members_per_node();
  for (int distance = 1; distance < ranks; ++distance)
    distances.push_back(shift(distance / slots, distance % slots, layout.node_count(), slots));
  return distances;
}

/// Ranks in the order that distances refer to, and where each is in the group.
struct Order {
  std::vector<int> ranks;
  std::vector<std::size_t> member;  ///< indexed by position in ranks
};

Order order_of(const GraphRequest& request) {
  Order order;
  order.ranks = request.layout.is_regular() ? request.layout.node_by_node() : request.members;
  std::vector<std::size_t> place(static_cast<std::size_t>(request.cluster.ranks()));
  for (std::size_t i = 0; i < request.members.size(); ++i)
    place[static_cast<std::size_t>(request.members[i])] = i;
  for (const int rank : order.ranks)
    order.member.push_back(place[static_cast<std::size_t>(rank)]);
  return order;
}

/// One round for each distance; lanes go round where there are fewer than distances.
std::vector<std::uint32_t> add_rounds(Rounds& rounds, const std::vector<Exchange>& distances, int lanes,
                                      const Transfer& pattern, std::span<const std::uint32_t> after = {}) {
  std::vector<std::uint32_t> added;
  Transfer transfer = pattern;
  for (const Exchange& distance : distances) {
    transfer.lane = static_cast<int>(added.size()) % lanes;
    added.push_back(rounds.add(transfer, distance, after));
  }
  return added;
}

TransferGraph alike_graph(const GraphRequest& request, const Order& order,
                          const std::vector<Exchange>& distances, Bytes shard) {
  const int lanes = request.lanes(distances.size());
  GraphBuilder builder = request.builder(lanes);
  Rounds rounds(builder, order.ranks, request.form.folded);
  Transfer pattern;
  pattern.bytes = shard;
  if (reduces(request.call.kind)) pattern.op = TransferOp::update;
  const std::vector<std::uint32_t> sums = add_rounds(rounds, distances, lanes, pattern);
  if (request.call.kind == CollectiveKind::all_reduce) {  // every rank sends its shard on when all has come
    pattern.op = TransferOp::store;
    pattern.step = 1;
    add_rounds(rounds, distances, lanes, pattern, sums);
  }
  return builder.take();
}

/// \p bytes_of(i, j): what member i of the group sends to member j.
TransferGraph unlike_graph(const GraphRequest& request, const Order& order,
                           const std::vector<Exchange>& distances,
                           const std::function<Bytes(std::size_t, std::size_t)>& bytes_of) {
  const int lanes = request.lanes(distances.size());
  GraphBuilder builder = request.builder(lanes);
  const TransferOp op = reduces(request.call.kind) ? TransferOp::update : TransferOp::store;
  for (std::size_t d = 0; d < distances.size(); ++d) {
    for (std::size_t from = 0; from < order.ranks.size(); ++from) {
      const auto to = static_cast<std::size_t>(distances[d].to(static_cast<int>(from)));
      const Bytes bytes = bytes_of(order.member[from], order.member[to]);
      if (bytes.value <= 0.0) continue;
      builder.add({order.ranks[from], order.ranks[to], static_cast<int>(d) % lanes, 0, bytes, {}, op});
    }
  }
  return builder.take();
}

TransferGraph graph(const GraphRequest& request) {
  const CollectiveCall& call = request.call;
  const Bytes counted = counted_bytes(call, request.ranks());
  const Bytes shard = counted / static_cast<double>(request.ranks());
  const Order order = order_of(request);
  const std::size_t n = request.members.size();
  const auto is_root = [&](std::size_t member) { return request.members[member] == call.root; };
  const auto unlike = [&](const std::function<Bytes(std::size_t, std::size_t)>& bytes_of) {
    return unlike_graph(request, order, all_distances(request.layout, request.ranks()), bytes_of);
  };
  switch (call.kind) {
    case CollectiveKind::all_gather:
    case CollectiveKind::all_to_all:
    case CollectiveKind::barrier:
    case CollectiveKind::reduce_scatter:
    case CollectiveKind::all_reduce:
      return alike_graph(request, order, all_distances(request.layout, request.ranks()), shard);
    case CollectiveKind::all_to_all_v:
      return unlike([&](std::size_t from, std::size_t to) { return call.sends[from * n + to]; });
    case CollectiveKind::broadcast:
      return unlike([&](std::size_t from, std::size_t) { return is_root(from) ? counted : Bytes{}; });
    case CollectiveKind::scatter:
      return unlike([&](std::size_t from, std::size_t) { return is_root(from) ? shard : Bytes{}; });
    case CollectiveKind::reduce:
      return unlike([&](std::size_t, std::size_t to) { return is_root(to) ? counted : Bytes{}; });
    case CollectiveKind::gather:
      return unlike([&](std::size_t, std::size_t to) { return is_root(to) ? shard : Bytes{}; });
    case CollectiveKind::send_receive: {
      Order in_group{request.members, std::vector<std::size_t>(n)};
      std::iota(in_group.member.begin(), in_group.member.end(), std::size_t{0});
      return alike_graph(request, in_group, {shift(1, request.ranks())}, counted);
    }
  }
  throw std::logic_error("direct: unknown collective");
}

bool supports_all(CollectiveKind) { return true; }

/// A shift sends to another node from the last GPU of one only.
bool is_alike(CollectiveKind kind, const GroupShape& group, const NodeSpec&) {
  return kind != CollectiveKind::send_receive || group.nodes == 1 || group.one_gpu;
}

// --- All-reduces of small data by a kernel of its own (MSCCL++): every rank writes to every other, and adds.

bool is_one_shot(const ChannelContext& channels) {
  return channels.protocol == Protocol::ll && channels.call.kind == CollectiveKind::all_reduce &&
         channels.library().one_shot_latency;
}

/// Such kernels run where they are faster than rings in protocol simple.
std::optional<Seconds> one_shot_time(const PublishedFigures& figures, Protocol protocol) {
  const CollectiveLibrarySpec& library = figures.library;
  if (!library.one_shot_latency || !figures.reduces_to_all() || protocol != Protocol::ll || figures.nodes > 1)
    return std::nullopt;
  const BytesPerSecond bus = library.tuner_bandwidth * 0.5;
  return *library.one_shot_latency + library.ll->hop_latency * 2.0 +
         figures.call.bytes / (bus * figures.ring_ratio());
}

Seconds setup(const ChannelContext& channels) {
  return is_one_shot(channels) ? *channels.library().one_shot_latency : channels.costs.base_latency;
}

/// A one-shot kernel's threads do not go round a ring: the wire's half is all that the flags take.
BytesPerSecond link_payload(const ChannelContext& channels) {
  return channels.library().link_payload *
         (is_one_shot(channels) ? kShareBesideFlags : channels.costs.link_share);
}

// --- Sends and receives.

/// One thread of a rank's host posts every send and receive of a pair over the network; two chunks before
/// slices stream.
Seconds posts(const ChannelContext& channels) {
  const CollectiveKind kind = channels.call.kind;
  if (!is_pairwise(kind) || channels.nodes == 1) return {};
  const int peers = kind == CollectiveKind::send_receive ? 1 : channels.graph.ranks() - channels.fewest_in_node;
  const double chunks = channels.protocol == Protocol::simple ? 2.0 : 1.0;
  return channels.cluster.fabric->message_latency * (2.0 * peers * chunks);
}

Seconds latency(const ChannelContext& channels, const PlannedFlow& flow) {
  const bool is_hidden = flow.hops + flow.network_hops == 0;
  return is_hidden ? Seconds{} : channels.steps(flow) + posts(channels);
}

/// A whole chunk of a pair, which its receiver copies out of the library's buffer; before that, send and
/// receive have met, which takes another hop.
Seconds last_slice(const ChannelContext& channels, int lane) {
  const CollectiveLibrarySpec& library = channels.library();
  if (!is_pairwise(channels.call.kind) || !library.local_rate) return {};
  const Bytes most =
      channels.longest[static_cast<std::size_t>(lane)] / static_cast<double>(channels.in_lane(lane));
  return channels.costs.hop_latency + std::min(most, library.chunk_size) / *library.local_rate;
}

}  // namespace

extern constexpr AlgorithmEntry kDirect = {.name = "direct",
                                           .supports = supports_all,
                                           .graph = graph,
                                           .is_symmetric = is_alike,
                                           .expected_time = one_shot_time,
                                           .channels = {.use = ChannelUse::pairs,
                                                        .setup = setup,
                                                        .latency = latency,
                                                        .last_slice = last_slice,
                                                        .link_payload = link_payload}};

}}  // namespace c3::collectives
