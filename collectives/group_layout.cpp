#include "collectives/group_layout.hpp"

#include <algorithm>
#include <unordered_map>

namespace c3 { inline namespace collectives {

GroupLayout layout_of(const std::vector<int>& members, int node_gpus) {
  GroupLayout layout{node_gpus, {}};
  std::unordered_map<int, std::size_t> position;
  for (const int rank : members) {
    const auto [found, is_new] = position.try_emplace(rank / node_gpus, layout.nodes.size());
    if (is_new) layout.nodes.emplace_back();
    layout.nodes[found->second].push_back(rank);
  }
  return layout;
}

bool GroupLayout::is_regular() const {
  const auto same_gpu = [this](int a, int b) { return a % node_gpus == b % node_gpus; };
  return std::ranges::all_of(
      nodes, [&](const std::vector<int>& ranks) { return std::ranges::equal(ranks, nodes.front(), same_gpu); });
}

std::vector<int> GroupLayout::node_by_node() const {
  std::vector<int> ranks;
  for (const std::vector<int>& node : nodes)
    ranks.insert(ranks.end(), node.begin(), node.end());
  return ranks;
}

}}  // namespace c3::collectives
