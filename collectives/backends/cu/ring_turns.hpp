#pragma once
/// Rings whose steps are told as one flow an edge: what of their latency shows where edges are unlike.

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <unordered_map>
#include <vector>

#include "collectives/transfer_graph.hpp"
#include "engine/flow.hpp"
#include "engine/flow_solver.hpp"

namespace c3 { inline namespace collectives {

/// Times for all that an edge of a ring sends.
struct RingTurns {
  Seconds slowest;   ///< edge, all sharing links
  Seconds together;  ///< mean along the ring, all sharing links
  Seconds alone;     ///< mean along the ring, each with links to itself

  /// How much longer a ring takes than its slowest edge, when its steps have \p latency in all and the data of
  /// a step go in \p chunks. A ring goes at the pace of its slowest edge, or at the pace at which a chunk comes
  /// round: latencies plus the time on every edge. That time lies between `alone` and `together`; as rings
  /// wait, links are busy for `slowest` of the whole time T, so T = latency + alone + (together - alone)
  /// slowest / T.
  Seconds beyond_slowest(Seconds latency, int chunks) const;
};

/// Collects the edges of all lanes of one group of channels. What it keeps of an edge are the numbers of the
/// resources that it takes.
class EdgeTimes {
 public:
  explicit EdgeTimes(const FlowSolver& rates) : rates_(rates) {}

  /// \p count edges that are alike. \param at_channels what an edge's channels need \param demands of all that
  /// they send, each resource once \param alone at least, of one of them with links to itself
  void add(int lane, TransferOp op, Seconds at_channels, std::span<const Demand> demands, Seconds alone,
           double count);
  /// What \p demands need of the resource that is the slowest for them.
  Seconds longest(std::span<const Demand> demands) const;
  /// One entry per lane; a phase that adds and one that stores go one after another.
  std::map<int, RingTurns> turns();

 private:
  struct Edge {
    int lane;
    std::uint32_t phase;  ///< 0: adds, 1: stores
    double alone, together;
    double count;
    std::size_t resources_end;
  };
  void share_links();

  const FlowSolver& rates_;
  std::vector<Edge> edges_;
  std::vector<ResourceId> resources_;  ///< those of one edge after another
  /// [phase][resource]: what all edges together need of it [s]. They touch few of a cluster's resources.
  std::array<std::unordered_map<ResourceId, double>, 2> loads_;
};

}}  // namespace c3::collectives
