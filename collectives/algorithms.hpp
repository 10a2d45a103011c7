#pragma once
/// The algorithms behind make_transfer_graph, one file each. Calls are checked; \p members are ranks.

#include "collectives/graph_builder.hpp"
#include "collectives/group_layout.hpp"
#include "collectives/transfer_graph.hpp"

namespace c3 {

/// What every algorithm is made from.
struct GraphRequest {
  const CollectiveCall& call;
  Algorithm algorithm;
  const ClusterSpec& cluster;
  GraphForm form;
  std::vector<int> members;  ///< in the group's order
  GroupLayout layout;

  int ranks() const { return static_cast<int>(members.size()); }
  int nics() const { return cluster.fabric ? cluster.fabric->nics_per_node : cluster.node.gpus; }
  /// As many of \p wanted lanes as there may be.
  int lanes(std::size_t wanted) const;
  GraphBuilder builder(int lanes, bool pipelined = false) const;
  /// \throws InfeasibleError: the call cannot run by the algorithm, because \p why.
  [[noreturn]] void refuse(const std::string& why) const;
};

TransferGraph direct_graph(const GraphRequest& request);
TransferGraph ring_graph(const GraphRequest& request);
TransferGraph tree_graph(const GraphRequest& request);
TransferGraph in_switch_graph(const GraphRequest& request);
TransferGraph nvls_tree_graph(const GraphRequest& request);
TransferGraph hierarchical_graph(const GraphRequest& request);  ///< and collnet
TransferGraph halving_doubling_graph(const GraphRequest& request);
TransferGraph pat_graph(const GraphRequest& request);

}  // namespace c3
