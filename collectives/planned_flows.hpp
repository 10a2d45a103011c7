#pragma once
/// A transfer graph at the grain of simulation: what becomes one flow.

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "collectives/transfer_graph.hpp"
#include "interconnect/folded_links.hpp"

namespace c3 { inline namespace collectives {

/// For a leg that stands for many edges which move alike: what these edges take of the resources that stand for
/// all.
struct LegShares {
  EdgeSetId set = 0;              ///< the interconnect's
  double edges = 1.0;             ///< number of edges in one group
  double of_sender = 1.0;         ///< edges that leave a GPU of the sender's class, in the mean
  double of_receiver = 1.0;       ///< edges that reach a GPU of the receiver's class
  std::map<int, double> members;  ///< per representative: edges for which in-switch legs read or write it
};

/// Bytes of one edge that a flow carries.
struct Leg {
  int src = 0;
  int dst = 0;
  int lane = 0;
  Bytes bytes;
  TransferOp op = TransferOp::store;
  double messages = 1.0;  ///< sends between nodes that they are, each at least one message of the fabric
  const LegShares* shares = nullptr;  ///< shares of more edges than this one, which is the first of them
};

/// One flow: every leg progresses in the same proportion.
struct PlannedFlow {
  std::vector<Leg> legs;
  int hops = 0;                      ///< steps within a node whose latency it pays, one after another
  int network_hops = 0;              ///< the same between nodes
  std::vector<std::uint32_t> after;  ///< positions of flows that must have ended; all smaller than this one's
  /// Position of the flow ahead on the same edge, or on the same lane of the same rank: this one starts
  /// when that has ended, and its latency is hidden.
  std::optional<std::uint32_t> behind = std::nullopt;
};

/// How every transfer of a pipelined graph is divided: into chunks of one size, as a library's buffers have it,
/// and a last one that is what is left.
struct Chunking {
  int count = 1;
  double share = 1.0;  ///< part of a transfer in each chunk but the last; (count - 1) share < 1 <= count share

  double last() const { return 1.0 - (count - 1.0) * share; }
};

/// \p count >= 1 chunks of equal size.
Chunking equal_chunks(int count);
/// Chunks of \p size (> 0) and what is left, of transfers of at most \p transfer.
Chunking whole_chunks(Bytes transfer, Bytes size);

/// What every edge of a pipelined graph sends at once.
struct Piece {
  double share = 1.0;  ///< share of what the edge carries
  std::uint32_t needs =
      0;  ///< pieces that must have come over every edge before it; no fewer than of the one ahead

  bool operator==(const Piece&) const = default;
};

/// A pipelined graph before it is written out: edges times pieces.
struct Pipeline {
  std::vector<PlannedFlow> edges;  ///< each with all its bytes; `after` are edges before it, `behind` is empty
  std::vector<Piece> pieces;       ///< every edge sends them one after another
};

/// Folds legs when ranks are in classes: decides which edges are alike, and what stands for them.
class LegFolding {
 public:
  LegFolding() = default;
  LegFolding(const LegFolding&) = delete;
  LegFolding& operator=(const LegFolding&) = delete;

  /// Equal for edges of one class.
  struct Key {
    int sender = 0, receiver = 0;  ///< classes
    bool crosses = false;          ///< between nodes
    auto operator<=>(const Key&) const = default;
  };
  virtual Key key_of(int src, int dst) const = 0;
  /// \p legs of one flow, each on an edge of its own, as one for each class of edges of a lane.
  virtual std::vector<Leg> fold(const std::vector<Leg>& legs) = 0;

 protected:
  ~LegFolding() = default;
};

/// step: a flow a transfer, those of a rank on one lane one after another; of a pipelined graph one for each of
/// its \p chunks, at most 1,000 equal ones. edge: one for all transfers of a stage on one edge of a lane, which
/// pays the latency of the longest way to its last; of a pipelined graph three: the first chunk, which fills
/// the pipeline, those between, and the last, which empties it. Where the graph has phases, what is between
/// goes in more parts, none of which runs further ahead of the edges before it than one part. gang: one for
/// each stage, so one for all where nothing but rings turn; of a pipelined graph three for each of at most four
/// stages, or one for the first chunk of each of more and one for all the rest. Edge and gang are exact when
/// steps have equal bytes and edges equal rates; with unequal ones they hide waiting. \throws std::logic_error
/// for grain step of a graph that tells several steps as one, and for grain automatic. \param folding makes one
/// leg, and at grain edge one flow, of all edges of a class; nullptr: of each its own. Grain step cannot be
/// folded.
std::vector<PlannedFlow> plan_flows(const TransferGraph& graph, CollectiveGrain grain, Chunking chunks = {},
                                    LegFolding* folding = nullptr);

/// Like plan_flows(), for a pipelined graph at grain step or edge, not written out: it costs as much as its
/// edges, plus what is sent. \throws like plan_flows, and std::logic_error at other grains and for other
/// graphs.
Pipeline plan_pipeline(const TransferGraph& graph, CollectiveGrain grain, Chunking chunks,
                       LegFolding* folding = nullptr);

/// The finest grain that costs little: step up to 2,000 flows, edge up to 20,000, gang above. \p graph may tell
/// several steps as one.
CollectiveGrain choose_grain(const TransferGraph& graph, int chunks);

}}  // namespace c3::collectives
