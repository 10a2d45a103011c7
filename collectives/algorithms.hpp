#pragma once
/// The algorithms behind make_transfer_graph, one file each. Calls are checked; \p members are ranks.

#include "collectives/transfer_graph.hpp"

namespace c3 {

TransferGraph direct_graph(const CollectiveCall& call, const std::vector<int>& members);
TransferGraph ring_graph(const CollectiveCall& call, const std::vector<int>& members, const NodeSpec& node);
TransferGraph tree_graph(const CollectiveCall& call, const std::vector<int>& members);
TransferGraph in_switch_graph(const CollectiveCall& call, const std::vector<int>& members);

}  // namespace c3
