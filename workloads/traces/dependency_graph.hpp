#pragma once
/// \file
/// Points in time of a run, and how long after which others each takes place. A replay computes all dates from
/// the lags alone, in exact integers.

#include <array>
#include <cstdint>
#include <stdexcept>
#include <utility>
#include <vector>

#include "workloads/traces/picoseconds.hpp"

namespace c3 { inline namespace traces {

using PointId = std::uint32_t;

/// What takes the time of a lag.
enum class LagKind : std::uint8_t {
  host,        ///< work of a host thread
  gpu,         ///< a kernel, copy or memset
  collective,  ///< the transfer of a collective, from the arrival of its last rank
  latency,     ///< from a cause to its effect: launch to start, kernel to kernel, end to the return of a wait
  window       ///< from the origin to GPU work that was launched before the recording began
};
constexpr std::size_t kLagKinds = 5;

/// A ratio of integers, so that scaled lags are exact up to rounding down.
struct Ratio {
  std::int64_t numerator = 1;
  std::int64_t denominator = 1;  ///< > 0
};

/// The factors by which the lags of each kind are multiplied.
using LagScales = std::array<Ratio, kLagKinds>;

/// Points wait for each other in a ring, so that none of them can take place.
class CycleError : public std::logic_error {
 public:
  explicit CycleError(std::vector<PointId> ring)
      : std::logic_error("the points of a graph wait for each other"), ring_(std::move(ring)) {}
  /// Each waits for the one before it, the first for the last.
  const std::vector<PointId>& ring() const { return ring_; }

 private:
  std::vector<PointId> ring_;
};

/// Point 0 is the origin, at date 0.
class DependencyGraph {
 public:
  static constexpr PointId kOrigin = 0;

  DependencyGraph() { add_point({}); }

  /// \param recorded its date in the trace. \returns its number
  PointId add_point(Picoseconds recorded) {
    recorded_.push_back(recorded);
    return static_cast<PointId>(recorded_.size() - 1);
  }
  /// \p to takes place \p lag after \p from or later. A lag may be negative: clocks are read with an error.
  void add_edge(PointId from, PointId to, Picoseconds lag, LagKind kind) {
    edges_.push_back({.lag = lag, .from = from, .to = to, .kind = kind});
  }

  struct Edge {
    Picoseconds lag;
    PointId from;
    PointId to;
    LagKind kind;
  };

  std::size_t points() const { return recorded_.size(); }
  /// Edges in the order in which they were added.
  const std::vector<Edge>& edges() const { return edges_; }
  Picoseconds recorded(PointId point) const { return recorded_[point]; }

  /// The earliest dates that satisfy all edges: date(to) = max over edges of date(from) + scale x lag.
  /// Points that no edge leads to take place at date 0. Shape [points]. \throws CycleError
  std::vector<Picoseconds> replay(const LagScales& scales = {}) const;

 private:
  /// A ring among the points of which \p waits counts causes that never take place.
  std::vector<PointId> ring_among(const std::vector<std::uint32_t>& waits) const;

  std::vector<Picoseconds> recorded_;
  std::vector<Edge> edges_;
};

}}  // namespace c3::traces
