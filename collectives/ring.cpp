#include <algorithm>
#include <stdexcept>

#include "collectives/algorithms.hpp"
#include "interconnect/interconnect.hpp"

namespace c3 {
namespace {

using Ring = std::vector<int>;

TransferOp op_of_step(CollectiveKind kind, std::size_t step, std::size_t ranks) {
  const bool adds =
      kind == CollectiveKind::reduce_scatter || (kind == CollectiveKind::all_reduce && step + 1 < ranks);
  return adds ? TransferOp::update : TransferOp::store;
}

/// All ranks send at once in every step; what arrived in one step is sent on in the next.
void add_turning_ring(TransferGraph& graph, const CollectiveCall& call, const Ring& ring, int lane,
                      Bytes chunk) {
  const std::size_t ranks = ring.size();
  for (int step = 0; step < graph.steps; ++step) {
    const auto index = static_cast<std::size_t>(step);
    const double chunks =
        call.kind == CollectiveKind::all_to_all ? static_cast<double>(ranks - 1 - index) : 1.0;
    const std::size_t first_of_step = graph.transfers.size();
    for (std::size_t at = 0; at < ranks; ++at) {
      Transfer transfer{ring[at],
                        ring[(at + 1) % ranks],
                        lane,
                        step,
                        chunk * chunks,
                        {},
                        op_of_step(call.kind, index, ranks)};
      if (step > 0) {
        const std::size_t upstream = (at + ranks - 1) % ranks;
        transfer.after.push_back(static_cast<std::uint32_t>(first_of_step - ranks + upstream));
      }
      graph.transfers.push_back(std::move(transfer));
    }
  }
}

/// From the root along the ring, or along the ring to the root.
void add_chain(TransferGraph& graph, const CollectiveCall& call, Ring ring, int lane, Bytes bytes) {
  std::ranges::rotate(ring, std::ranges::find(ring, call.root));
  const bool to_root = call.kind == CollectiveKind::reduce;
  if (to_root) std::ranges::rotate(ring, ring.begin() + 1);
  const TransferOp op = to_root ? TransferOp::update : TransferOp::store;
  for (int step = 0; step < graph.steps; ++step) {
    const auto at = static_cast<std::size_t>(step);
    Transfer transfer{ring[at], ring[at + 1], lane, step, bytes, {}, op};
    if (step > 0) transfer.after.push_back(static_cast<std::uint32_t>(graph.transfers.size() - 1));
    graph.transfers.push_back(std::move(transfer));
  }
}

}  // namespace

TransferGraph ring_graph(const CollectiveCall& call, const std::vector<int>& members, const NodeSpec& node) {
  const std::vector<Ring> rings = disjoint_rings(node, members);
  const auto ranks = static_cast<int>(members.size());
  const bool rooted = call.kind == CollectiveKind::broadcast || call.kind == CollectiveKind::reduce;
  TransferGraph graph{.members = members,
                      .lanes = static_cast<int>(rings.size()),
                      .steps = call.kind == CollectiveKind::all_reduce ? 2 * (ranks - 1) : ranks - 1,
                      .pipelined = rooted};
  const Bytes of_ring = call.bytes / static_cast<double>(rings.size());
  for (int lane = 0; lane < graph.lanes; ++lane) {
    const Ring& ring = rings[static_cast<std::size_t>(lane)];
    if (rooted) {
      add_chain(graph, call, ring, lane, of_ring);
    } else {
      add_turning_ring(graph, call, ring, lane, of_ring / static_cast<double>(ranks));
    }
  }
  return graph;
}

}  // namespace c3
