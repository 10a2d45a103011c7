#pragma once
/// What every algorithm makes its graph from.

#include <string>
#include <string_view>
#include <vector>

#include "collectives/algorithms/graph_builder.hpp"
#include "collectives/group_layout.hpp"
#include "collectives/spec.hpp"
#include "collectives/transfer_graph.hpp"

namespace c3 { inline namespace collectives {

/// A checked call, and the form in which its graph is wanted.
struct GraphRequest {
  const CollectiveCall& call;
  std::string_view algorithm;  ///< its name, for errors
  const ClusterSpec& cluster;
  GraphForm form;
  std::vector<int> members;  ///< ranks, in the group's order
  GroupLayout layout;

  int ranks() const { return static_cast<int>(members.size()); }
  int nics() const { return cluster.fabric ? cluster.fabric->nics_per_node : cluster.node.gpus; }
  /// \p wanted lanes, or fewer where that many are not allowed.
  int lanes(std::size_t wanted) const;
  GraphBuilder builder(int lanes, bool pipelined = false) const;
  /// \throws InfeasibleError: the call cannot run by the algorithm, because \p why.
  [[noreturn]] void refuse(const std::string& why) const;
};

}}  // namespace c3::collectives
