#pragma once
/// Graphs that go within nodes first, then between them: hierarchical, collnet, nvls over SHARP, and kernels on
/// registered buffers.

#include "collectives/algorithms/graph_request.hpp"

namespace c3 { inline namespace collectives {

/// What sums up the parts of GPUs of a rail.
enum class BetweenNodes {
  ring,    ///< the GPUs themselves, along a ring
  peers,   ///< the GPUs themselves, each of which sends the others their parts at once; of reduce-scatters only
  fabric,  ///< the fabric's switches (SHARP)
};

/// What sums up the part of a GPU within its node.
enum class WithinNodes {
  peers,        ///< the GPU itself, of what its peers send
  node_switch,  ///< the node's switch (NVLink SHARP), which multicasts the result, too
};

/// Three phases, through which chunks follow one another: within nodes every GPU gets the sum of its part from
/// its peers; GPUs of a rail sum these up along a ring, or the fabric's switches do; within nodes every GPU
/// gets its peers' parts. An all_gather has the rings' second half and the last phase, a reduce_scatter the
/// first phase and the rings' first half.
/// \throws InfeasibleError on one node, for nodes with unlike members or one member each, and where the fabric
/// cannot add.
TransferGraph hierarchy(const GraphRequest& request, BetweenNodes between,
                        WithinNodes within = WithinNodes::peers);

}}  // namespace c3::collectives
