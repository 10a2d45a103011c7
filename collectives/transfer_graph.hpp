#pragma once
/// How a collective moves its bytes: the algorithm as a graph of transfers between ranks.

#include <cstdint>
#include <limits>
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
  fabric_all_reduce,  ///< src's NIC sends to the fabric's switches, which add what all members of its rail send
                      ///< and answer the sum
};

/// Bytes from one rank to another. It may start when the transfers in `after` have arrived.
struct Transfer {
  int src = 0;
  int dst = 0;  ///< == src for the switches' operations
  int lane =
      0;  ///< transfers of a lane share channels or an engine: a peer of direct algorithms, a ring, a tree
  int step = 0;  ///< position in its chain of dependencies
  Bytes bytes;   ///< of the payload as src holds it
  std::vector<std::uint32_t> after =
      {};  ///< positions in TransferGraph::transfers, all smaller than this one's
  TransferOp op = TransferOp::store;
  /// Steps of one stage go on at the same time everywhere, as those of a ring. A stage starts with what the one
  /// before has brought.
  int stage = 0;
  /// Of several steps told as one: the longest way through them, in steps within a node and between nodes. Both
  /// 0: it is one step.
  int hops = 0, network_hops = 0;
};

struct TransferGraph {
  std::vector<int> members;  ///< ranks that take part, in the group's order
  int lanes = 0;
  int steps = 0;           ///< longest chain
  bool pipelined = false;  ///< chunks follow one another through the graph, each transfer busy all the time
  int node_gpus = std::numeric_limits<int>::max();  ///< ranks of a node, which share their rank / node_gpus
  std::vector<Transfer> transfers = {};

  int ranks() const { return static_cast<int>(members.size()); }
  /// Whether \p transfer leaves its node.
  bool crosses(const Transfer& transfer) const {
    return transfer.op == TransferOp::fabric_all_reduce || transfer.src / node_gpus != transfer.dst / node_gpus;
  }
};

/// How a graph is written.
struct GraphForm {
  bool folded = false;     ///< rank 0's transfers only; what it waits for from others is told as its own
  bool every_step = true;  ///< each step of a ring a transfer; else all steps of an edge one, for edge and gang
  int most_lanes = std::numeric_limits<int>::max();  ///< channels that are there: no lane can do without one
};

/// Whether \p algorithm can run \p kind at all.
bool supports(Algorithm algorithm, CollectiveKind kind);

/// Whether every rank of \p cluster does the same at the same time, so that one may stand for all (where they
/// see the same links, too). In groups: where each is within a node, or has one GPU of every so many nodes.
/// \throws InfeasibleError as members_of for groups
bool is_symmetric(const CollectiveCall& call, Algorithm algorithm, const ClusterSpec& cluster);

/// What a backend runs unless it is told otherwise. Channels, as NCCL and RCCL: the switch for an all_reduce
/// where node and library can; pairs for all_to_all, send_receive, and all_gather on a full mesh; rings for the
/// rest. Copy engines: pairs, but rings for all_gather where pairs share links of a wired node.
Algorithm default_algorithm(const CollectiveCall& call, Backend backend, const ClusterSpec& cluster);

/// With S the call's bytes, N ranks on n nodes of g, and R rings; `collectives/README.md` has each algorithm's
/// bytes and sources.
/// - direct: S/N to each other rank, by distance of nodes and GPUs; S or S/N to or from a root;
/// - ring: S/N/R in each of N-1 steps, of 2(N-1) for all_reduce; a pipelined chain for a root;
/// - tree: a chain within each node and two binary trees over nodes (all_reduce); two trees under one root
///   (broadcast, reduce), over ranks on one node;
/// - nvls: S/N by each rank, or S by the root, through the node's switch that adds and multicasts;
/// - nvls_tree: the node's switch adds S/g for each GPU, two binary trees over nodes join GPUs of a rail;
/// - hierarchical: direct within nodes, rings between GPUs of a rail;
/// - collnet: the same with the fabric's switches adding between nodes;
/// - halving_doubling: partners at doubling distances, with halving bytes; one more step each way for ranks
///   beyond a power of two;
/// - pat: a binomial tree from every rank, all of them aggregated by step.
/// \throws InfeasibleError when \p algorithm cannot run the call on \p cluster, or the graph is too large for
/// memory, and see members_of; std::logic_error when what is not symmetric is to be folded.
TransferGraph make_transfer_graph(const CollectiveCall& call, Algorithm algorithm, const ClusterSpec& cluster,
                                  const GraphForm& form = {});

/// The transfers that rank 0 sends, for a run with one representative. Transfers of a (lane, step) must be
/// alike: one from each member and one to each, equal bytes, dependencies on alike transfers; each dependency
/// becomes rank 0's. \throws std::logic_error when the graph is not symmetric.
TransferGraph fold(const TransferGraph& graph);

/// Payload a rank sends over its links in all.
Bytes bytes_sent(const TransferGraph& graph, int rank);

}  // namespace c3
