#include "collectives/algorithms/hierarchy.hpp"

#include <algorithm>

namespace c3 { inline namespace collectives {
namespace {

/// Phases as graph rounds, those of a lane one after another.
class Hierarchy {
 public:
  Hierarchy(const GraphRequest& request, BetweenNodes between, WithinNodes within)
      : request_(request),
        between_(between),
        in_switch_(within == WithinNodes::node_switch),
        order_(request.layout.node_by_node()),
        nodes_(request.layout.node_count()),
        slots_(request.layout.members_per_node()),
        lanes_(in_switch_ ? 1 : request.lanes(static_cast<std::size_t>(slots_ - 1))),
        part_(request.call.bytes / static_cast<double>(slots_)),
        graph_(request.builder(lanes_, /*pipelined=*/true)),
        rounds_(graph_, order_, request.form.folded) {}

  TransferGraph take() {
    const CollectiveKind kind = request_.call.kind;
    ByLane here(static_cast<std::size_t>(lanes_));
    if (kind != CollectiveKind::all_gather) here = exchange_within(TransferOp::update, here);
    ++stage_;
    if (between_ == BetweenNodes::fabric) {
      here = add_in_fabric(here);
    } else if (between_ == BetweenNodes::peers) {
      here = exchange_between(here);
    } else {
      if (kind != CollectiveKind::all_gather) here = turn(TransferOp::update, here);
      if (kind != CollectiveKind::reduce_scatter) here = turn(TransferOp::store, here);
    }
    ++stage_;
    if (kind != CollectiveKind::reduce_scatter) exchange_within(TransferOp::store, here);
    TransferGraph graph = graph_.take();
    graph.phased = true;
    return graph;
  }

 private:
  using Arrived = std::vector<std::uint32_t>;  ///< rounds that have reached every rank
  using ByLane = std::vector<Arrived>;

  Transfer pattern(int lane, Bytes bytes, TransferOp op) const {
    Transfer transfer{0, 0, lane, step_, bytes, {}, op};
    transfer.stage = stage_;
    return transfer;
  }

  /// Every GPU's part to or from each peer of its node, when all lanes are \p here.
  ByLane exchange_within(TransferOp op, const ByLane& here) {
    Arrived before, arrived;
    for (const Arrived& lane : here)
      before.insert(before.end(), lane.begin(), lane.end());
    std::ranges::sort(before);
    before.erase(std::ranges::unique(before).begin(), before.end());
    if (in_switch_) {
      const bool adds = op == TransferOp::update;
      const TransferOp by_switch = adds ? TransferOp::switch_reduce : TransferOp::switch_multicast;
      arrived.push_back(rounds_.add(pattern(0, part_, by_switch), with_itself(), before));
    }
    for (int distance = 1; distance < slots_ && !in_switch_; ++distance) {
      arrived.push_back(
          rounds_.add(pattern((distance - 1) % lanes_, part_, op), shift(0, distance, nodes_, slots_), before));
    }
    ++step_;
    return ByLane(static_cast<std::size_t>(lanes_), arrived);
  }

  /// Steps of a ring that are told as one: the graph's size is limited, too.
  int steps_told() const {
    constexpr int kMostTransfers = 500'000;
    if (request_.form.every_step) return 1;
    const int senders = request_.form.folded ? 1 : request_.ranks();
    const int parts = std::clamp(kMostTransfers / (2 * lanes_ * senders), 1, request_.form.ring_parts);
    return (nodes_ - 2 + parts) / parts;
  }

  /// nodes - 1 steps of the rail's ring, a share of its bytes on each lane.
  ByLane turn(TransferOp op, const ByLane& here) {
    const Exchange onwards = shift(1, 0, nodes_, slots_);
    const int most = steps_told();
    const bool adds = op == TransferOp::update;
    ByLane last = here, arrived = here;
    for (int step = 0, told = most; step < nodes_ - 1; step += told, ++step_) {
      told = std::min(most, nodes_ - 1 - step);
      const Bytes bytes = part_ * (static_cast<double>(told) / (nodes_ * lanes_));
      for (int lane = 0; lane < lanes_; ++lane) {
        const auto index = static_cast<std::size_t>(lane);
        Transfer transfer = pattern(lane, bytes, op);
        if (told > 1) transfer.network_hops = told;
        if (adds && step > 0)  // a rank adds its own node's sum in every step
          last[index].insert(last[index].end(), here[index].begin(), here[index].end());
        last[index] = {rounds_.add(transfer, onwards, last[index])};
        arrived[index].push_back(last[index].front());
      }
      if (request_.form.ring_parts > 1) ++stage_;  // each goes on while the others do
    }
    for (int lane = 0; adds && lane < lanes_; ++lane) {  // only the last piece of a sum is complete
      const auto index = static_cast<std::size_t>(lane);
      last[index].insert(last[index].end(), here[index].begin(), here[index].end());
    }
    return adds ? last : arrived;
  }

  /// A GPU's sums to each other GPU of its rail, a share on each lane.
  ByLane exchange_between(const ByLane& here) {
    ByLane arrived(static_cast<std::size_t>(lanes_));
    const Bytes bytes = part_ / static_cast<double>(nodes_ * lanes_);
    for (int lane = 0; lane < lanes_; ++lane) {
      const auto index = static_cast<std::size_t>(lane);
      for (int distance = 1; distance < nodes_; ++distance) {
        arrived[index].push_back(rounds_.add(pattern(lane, bytes, TransferOp::update),
                                             shift(distance, 0, nodes_, slots_), here[index]));
      }
    }
    ++step_;
    return arrived;
  }

  ByLane add_in_fabric(const ByLane& here) {
    ByLane arrived;
    const Bytes bytes = part_ / static_cast<double>(lanes_);
    for (int lane = 0; lane < lanes_; ++lane) {
      arrived.push_back({rounds_.add(pattern(lane, bytes, TransferOp::fabric_all_reduce), with_itself(),
                                     here[static_cast<std::size_t>(lane)])});
    }
    ++step_;
    return arrived;
  }

  const GraphRequest& request_;
  BetweenNodes between_;
  bool in_switch_;
  std::vector<int> order_;
  int nodes_;
  int slots_;
  int lanes_;
  Bytes part_;  ///< bytes of one GPU of each node
  GraphBuilder graph_;
  Rounds rounds_;
  int step_ = 0;
  int stage_ = 0;
};

}  // namespace

TransferGraph hierarchy(const GraphRequest& request, BetweenNodes between, WithinNodes within) {
  const GroupLayout& layout = request.layout;
  if (layout.node_count() < 2) request.refuse("joins several nodes; within one see direct");
  if (!layout.is_regular()) request.refuse("needs the same GPUs of every node");
  if (layout.members_per_node() < 2) request.refuse("needs several GPUs of every node; see ring");
  if (between == BetweenNodes::fabric && !request.cluster.fabric->switch_reduces)
    request.refuse("needs switches that reduce, fabric '" + request.cluster.fabric->name + "' has none");
  return Hierarchy(request, between, within).take();
}

}}  // namespace c3::collectives
