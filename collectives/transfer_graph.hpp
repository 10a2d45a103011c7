#pragma once
/// How a collective moves its bytes: the algorithm as a graph of transfers between ranks.

#include <cstdint>
#include <limits>
#include <vector>

#include "collectives/call.hpp"
#include "collectives/spec.hpp"

namespace c3 { inline namespace collectives {

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
  Bytes bytes;   ///< payload, counted at src
  std::vector<std::uint32_t> after =
      {};  ///< positions in TransferGraph::transfers, all smaller than this one's
  TransferOp op = TransferOp::store;
  /// Steps of one stage go on at the same time everywhere, as those of a ring. A stage starts with what the one
  /// before has brought.
  int stage = 0;
  /// For several steps told as one: the longest way through them, in steps within a node and between nodes.
  /// Both 0: it is one step.
  int hops = 0, network_hops = 0;
};

struct TransferGraph {
  std::vector<int> members;  ///< ranks that take part, in the group's order
  int lanes = 0;
  int steps = 0;           ///< longest chain
  bool pipelined = false;  ///< chunks follow one another through the graph, each transfer busy all the time
  bool phased = false;  ///< pipelined, in phases that go at paces of their own: what is between the first chunk
                        ///< and the last is then told in more than one part
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
  int ring_parts = 1;  ///< for a ring that is a phase of a pipeline: most parts into which its steps are told
  int most_lanes = std::numeric_limits<int>::max();  ///< channels that are there: no lane can do without one
};

/// The transfers that rank 0 sends, for a run with one representative. Transfers of a (lane, step) must be
/// alike: one from each member and one to each, equal bytes, dependencies on alike transfers; each dependency
/// becomes rank 0's. \throws std::logic_error when the graph is not symmetric.
TransferGraph fold(const TransferGraph& graph);

}}  // namespace c3::collectives
