#pragma once
/// How a collective moves its bytes: the algorithm as a graph of transfers between ranks.

#include <cstdint>
#include <vector>

#include "collectives/call.hpp"
#include "collectives/spec.hpp"

namespace c3 {

enum class TransferOp {
  store,              ///< src writes to dst
  update,             ///< src writes, dst adds it to what it holds
  switch_reduce,      ///< src reads what every member holds, added up by the switch, and stores the sum
  switch_multicast,   ///< src writes to every member at once through the switch
  switch_all_reduce,  ///< both: the sum goes to every member without being stored in between
};

/// Bytes from one rank to another. It may start when the transfers in `after` have arrived.
struct Transfer {
  int src = 0;
  int dst = 0;  ///< == src for the switch's operations
  int lane =
      0;  ///< transfers of a lane share channels or an engine: a peer of direct algorithms, a ring, a tree
  int step = 0;  ///< position in its chain of dependencies
  Bytes bytes;   ///< of the payload as src holds it
  std::vector<std::uint32_t> after =
      {};  ///< positions in TransferGraph::transfers, all smaller than this one's
  TransferOp op = TransferOp::store;
};

struct TransferGraph {
  std::vector<int> members;  ///< ranks that take part, in the group's order
  int lanes = 0;
  int steps = 0;           ///< longest chain
  bool pipelined = false;  ///< chunks follow one another through the graph, each transfer busy all the time
  std::vector<Transfer> transfers = {};

  int ranks() const { return static_cast<int>(members.size()); }
};

/// Whether \p algorithm can run \p kind at all.
bool supports(Algorithm algorithm, CollectiveKind kind);

/// Whether every rank of a symmetric node does the same at the same time, so that one may stand for all.
bool is_symmetric(const CollectiveCall& call, Algorithm algorithm);

/// What a backend runs unless it is told otherwise. Channels, as NCCL and RCCL: the switch for an all_reduce
/// where node and library can; pairs for all_to_all, send_receive, and all_gather on a full mesh; rings for the
/// rest. Copy engines: pairs, but rings for all_gather where pairs share links of a wired node.
Algorithm default_algorithm(const CollectiveCall& call, Backend backend, const ClusterSpec& cluster);

/// With S the call's bytes, N ranks and R rings:
/// - direct: one lane a peer; S/N to each other rank (all_gather, all_to_all, reduce_scatter), twice for
///   all_reduce, S to or from the root (broadcast, reduce), S to the next rank (send_receive);
/// - ring: S/N/R in each of N-1 steps (all_gather, reduce_scatter), of 2(N-1) steps (all_reduce), S/N/R (N-1-s)
///   in step s (all_to_all, whose pieces for others are forwarded); a pipelined chain of S/R (broadcast,
///   reduce);
/// - tree: S/2 up and down each of two binary trees under one root (Sanders, Speck, Träff 2009), pipelined.
/// NCCL's
///   tree differs: within a node it is a chain;
/// - nvls: S/N by each rank, or S by the root, through a switch that adds and multicasts.
/// \throws InfeasibleError when \p algorithm cannot run the call on \p node, and see members_of.
TransferGraph make_transfer_graph(const CollectiveCall& call, Algorithm algorithm, const NodeSpec& node);

/// The transfers that rank 0 sends, for a run with one representative. Transfers of a (lane, step) must be
/// alike: one from each rank and one to each, equal bytes, dependencies on alike transfers; each dependency
/// becomes rank 0's. \throws std::logic_error when the graph is not symmetric.
TransferGraph fold(const TransferGraph& graph);

/// Payload a rank sends over its links in all.
Bytes bytes_sent(const TransferGraph& graph, int rank);

}  // namespace c3
