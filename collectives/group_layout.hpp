#pragma once
/// The places of a group's members: nodes, and GPUs of each node.

#include <vector>

namespace c3 { inline namespace collectives {

/// Members by node. Rank r is GPU r % node_gpus of node r / node_gpus.
struct GroupLayout {
  int node_gpus = 1;
  std::vector<std::vector<int>> nodes;  ///< ranks in the group's order; nodes in the order of their first ones

  int node_count() const { return static_cast<int>(nodes.size()); }
  /// Whether every node has as many members, on the same GPUs, in the same order.
  bool is_regular() const;
  /// Members of each node; of a regular layout.
  int members_per_node() const { return static_cast<int>(nodes.front().size()); }
  /// All ranks, node by node.
  std::vector<int> node_by_node() const;
};

GroupLayout layout_of(const std::vector<int>& members, int node_gpus);

}}  // namespace c3::collectives
