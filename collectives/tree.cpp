#include <algorithm>

#include "collectives/algorithms.hpp"

namespace c3 {
namespace {

/// A binary tree in order over 1 .. size: a number's children lie half its lowest set bit to both sides, so
/// that odd numbers are leaves.
struct InOrderTree {
  int size = 0;

  int top() const {
    int top = 1;
    while (2 * top <= size)
      top *= 2;
    return top;
  }
  std::vector<int> children(int node) const {
    std::vector<int> children;
    int reach = (node & -node) / 2;
    if (reach == 0) return children;
    children.push_back(node - reach);
    while (reach > 0 && node + reach > size)
      reach /= 2;
    if (reach > 0) children.push_back(node + reach);
    return children;
  }
};

/// Two trees over all members but the root, which stands above both tops: who is inner in one is a leaf in the
/// other, so that every rank sends and receives about as much.
class TwoTrees {
 public:
  TwoTrees(const CollectiveCall& call, const std::vector<int>& members)
      : tree_{static_cast<int>(members.size()) - 1},
        graph_{.members = members, .lanes = 2, .steps = 0, .pipelined = true},
        bytes_(call.bytes * 0.5) {
    const bool rooted = call.kind != CollectiveKind::all_reduce;
    root_ = rooted ? call.root : members.front();
    std::ranges::remove_copy(members, std::back_inserter(others_), root_);
  }

  TransferGraph take(CollectiveKind kind) {
    for (int lane = 0; lane < graph_.lanes; ++lane) {
      std::vector<std::uint32_t> here;
      if (kind != CollectiveKind::broadcast) here.push_back(add_up(lane, tree_.top(), root_));
      if (kind != CollectiveKind::reduce) add_down(lane, root_, tree_.top(), here);
    }
    return std::move(graph_);
  }

 private:
  /// The second tree is the first one shifted by one, or mirrored: both turn odd numbers into even ones.
  int rank_at(int lane, int node) const {
    if (lane == 1) node = tree_.size % 2 == 1 ? node % tree_.size + 1 : tree_.size + 1 - node;
    return others_[static_cast<std::size_t>(node) - 1];
  }

  std::uint32_t add(int lane, int src, int dst, std::vector<std::uint32_t> after, TransferOp op) {
    int step = 0;
    for (const std::uint32_t before : after)
      step = std::max(step, graph_.transfers[before].step + 1);
    graph_.steps = std::max(graph_.steps, step + 1);
    graph_.transfers.push_back({src, dst, lane, step, bytes_, std::move(after), op});
    return static_cast<std::uint32_t>(graph_.transfers.size() - 1);
  }

  std::uint32_t add_up(int lane, int node, int parent) {
    std::vector<std::uint32_t> from_below;
    for (const int child : tree_.children(node))
      from_below.push_back(add_up(lane, child, rank_at(lane, node)));
    return add(lane, rank_at(lane, node), parent, std::move(from_below), TransferOp::update);
  }

  void add_down(int lane, int parent, int node, const std::vector<std::uint32_t>& after) {
    const std::uint32_t arrival = add(lane, parent, rank_at(lane, node), after, TransferOp::store);
    for (const int child : tree_.children(node))
      add_down(lane, rank_at(lane, node), child, {arrival});
  }

  InOrderTree tree_;
  TransferGraph graph_;
  Bytes bytes_;
  int root_ = 0;
  std::vector<int> others_;  ///< members but the root
};

}  // namespace

TransferGraph tree_graph(const CollectiveCall& call, const std::vector<int>& members) {
  return TwoTrees(call, members).take(call.kind);
}

}  // namespace c3
