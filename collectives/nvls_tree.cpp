#include <algorithm>

#include "collectives/algorithms.hpp"
#include "collectives/double_tree.hpp"

namespace c3 {
namespace {

/// One tree over the GPUs of a rail. Each has its node's sum of its part from the switch, adds what comes from
/// below, and multicasts the result that comes from above.
class RailTree {
 public:
  RailTree(GraphBuilder& graph, int lane, Bytes bytes, std::vector<int> numbered)
      : graph_(graph),
        lane_(lane),
        bytes_(bytes),
        tree_{static_cast<int>(numbered.size())},
        ranks_(std::move(numbered)) {
    spread(0, gather(0));
  }

 private:
  int rank(int number) const { return ranks_[static_cast<std::size_t>(number)]; }

  std::uint32_t send(int src, int dst, std::vector<std::uint32_t> after, TransferOp op) {
    return graph_.add_next({src, dst, lane_, 0, bytes_, std::move(after), op});
  }

  std::vector<std::uint32_t> gather(int number) {
    std::vector<std::uint32_t> here = {send(rank(number), rank(number), {}, TransferOp::switch_reduce)};
    for (const int child : tree_.children(number)) {
      std::vector<std::uint32_t> below = gather(child);
      here.push_back(send(rank(child), rank(number), std::move(below), TransferOp::update));
    }
    return here;
  }

  void spread(int number, const std::vector<std::uint32_t>& here) {
    send(rank(number), rank(number), here, TransferOp::switch_multicast);
    for (const int child : tree_.children(number))
      spread(child, {send(rank(number), rank(child), here, TransferOp::store)});
  }

  GraphBuilder& graph_;
  int lane_;
  Bytes bytes_;
  InOrderTree tree_;
  std::vector<int> ranks_;
};

}  // namespace

TransferGraph nvls_tree_graph(const GraphRequest& request) {
  const GroupLayout& layout = request.layout;
  if (!request.cluster.node.switch_reduces)
    request.refuse("needs a switch that reduces, node '" + request.cluster.node.name + "' has none");
  if (layout.node_count() < 2) request.refuse("joins several nodes; within one see nvls");
  if (!layout.is_regular()) request.refuse("needs the same GPUs of every node");
  const int lanes = request.lanes(2);
  GraphBuilder graph = request.builder(lanes, /*pipelined=*/true);
  const double parts = static_cast<double>(layout.members_per_node()) * lanes;
  for (int lane = 0; lane < lanes; ++lane) {
    for (int slot = 0; slot < layout.members_per_node(); ++slot) {
      std::vector<int> rail;
      for (const std::vector<int>& node : layout.nodes)
        rail.push_back(node[static_cast<std::size_t>(slot)]);
      RailTree(graph, lane, request.call.bytes / parts, nccl_numbering(rail, lane));
    }
  }
  return graph.take();
}

}  // namespace c3
