#include <functional>
#include <numeric>
#include <stdexcept>

#include "collectives/algorithms.hpp"

namespace c3 {
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
  std::vector<std::size_t> member;  ///< by position in ranks
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
  GraphBuilder graph = request.builder(lanes);
  Rounds rounds(graph, order.ranks, request.form.folded);
  Transfer pattern;
  pattern.bytes = shard;
  if (reduces(request.call.kind)) pattern.op = TransferOp::update;
  const std::vector<std::uint32_t> sums = add_rounds(rounds, distances, lanes, pattern);
  if (request.call.kind == CollectiveKind::all_reduce) {  // every rank sends its shard on when all has come
    pattern.op = TransferOp::store;
    pattern.step = 1;
    add_rounds(rounds, distances, lanes, pattern, sums);
  }
  return graph.take();
}

/// \p bytes_of(i, j): what member i of the group sends to member j.
TransferGraph unlike_graph(const GraphRequest& request, const Order& order,
                           const std::vector<Exchange>& distances,
                           const std::function<Bytes(std::size_t, std::size_t)>& bytes_of) {
  const int lanes = request.lanes(distances.size());
  GraphBuilder graph = request.builder(lanes);
  const TransferOp op = reduces(request.call.kind) ? TransferOp::update : TransferOp::store;
  for (std::size_t d = 0; d < distances.size(); ++d) {
    for (std::size_t from = 0; from < order.ranks.size(); ++from) {
      const auto to = static_cast<std::size_t>(distances[d].to(static_cast<int>(from)));
      const Bytes bytes = bytes_of(order.member[from], order.member[to]);
      if (bytes.value <= 0.0) continue;
      graph.add({order.ranks[from], order.ranks[to], static_cast<int>(d) % lanes, 0, bytes, {}, op});
    }
  }
  return graph.take();
}

}  // namespace

TransferGraph direct_graph(const GraphRequest& request) {
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
  throw std::logic_error("direct_graph: unknown collective");
}

}  // namespace c3
