#pragma once
/// How a collective moves its bytes: the algorithm as a graph of transfers between ranks.

#include <cstdint>
#include <vector>

#include "collectives/spec.hpp"

namespace c3 {

/// Bytes from one rank to another. It may start when the transfers in `after` have arrived.
struct Transfer {
  int src = 0;
  int dst = 0;
  int lane = 0;  ///< transfers of a lane share channels or an engine: a peer of direct algorithms, a ring
  int step = 0;  ///< position in the lane's chain of dependencies
  Bytes bytes;
  std::vector<std::uint32_t> after;  ///< positions in TransferGraph::transfers, all smaller than this one's
};

struct TransferGraph {
  int ranks = 0;
  int lanes = 0;
  int steps = 0;  ///< longest chain
  std::vector<Transfer> transfers;
};

/// Direct: every rank sends to every other at once, one lane a peer. Ring: as many rings as the node has
/// disjoint ones, the data divided between them; all-gather forwards what arrived, all-to-all forwards what is
/// for ranks further on. With S the call's bytes and N ranks, each rank sends S/N to each other (direct, both
/// kinds), S/N in each of N-1 steps (ring all-gather), S/N (N-1-s) in step s (ring all-to-all). \throws
/// InfeasibleError for fewer than two ranks or a size that is not positive.
TransferGraph make_transfer_graph(const CollectiveCall& call, Algorithm algorithm, const NodeSpec& node);

/// The transfers that rank 0 sends, for a run with one representative. Transfers of a (lane, step) must be
/// alike: one from each rank and one to each, equal bytes, dependencies on alike transfers; each dependency
/// becomes rank 0's. \throws std::logic_error when the graph is not symmetric.
TransferGraph fold(const TransferGraph& graph);

/// Payload a rank sends in all.
Bytes bytes_sent(const TransferGraph& graph, int rank);

/// Bus bandwidth as nccl-tests defines it: algbw times (n-1)/n for all-gather and all-to-all.
BytesPerSecond algorithm_bandwidth(const CollectiveCall& call, Seconds time);
BytesPerSecond bus_bandwidth(const CollectiveCall& call, int ranks, Seconds time);

}  // namespace c3
