#pragma once
/// Ways through a node for rings and chains that come from another node and go on to a third.

#include <vector>

#include "interconnect/spec.hpp"

namespace c3 { inline namespace collectives {

/// Paths over all \p members (GPUs of the node), each starting where data enter the node and ending where they
/// leave it. Full mesh of an even number: one path starts at each member, and together they use every link once
/// each way (Williams 1949, on the columns of row-complete Latin squares); RCCL's rings over several MI300X
/// nodes have that property, too. Full mesh of an odd number: the disjoint rings, cut open. Switched: one path
/// for each of \p nics, turned so that each starts at a GPU of its own. Wired: the disjoint rings, cut
/// open where a pair of GPUs shares a NIC if any pair does, each time at another place; at least as many as \p
/// nics that the members use.
std::vector<std::vector<int>> node_paths(const NodeSpec& node, const std::vector<int>& members, int nics);

}}  // namespace c3::collectives
