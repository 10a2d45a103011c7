#include "workloads/traces/dependency_graph.hpp"

#include <algorithm>
#include <limits>

namespace c3 { inline namespace traces {
namespace {

Picoseconds scaled(Picoseconds lag, Ratio ratio) {
  if (ratio.numerator == ratio.denominator) return lag;
  return {static_cast<std::int64_t>(WidePicoseconds{lag.count} * ratio.numerator / ratio.denominator)};
}

}  // namespace

std::vector<Picoseconds> DependencyGraph::replay(const LagScales& scales) const {
  std::vector<std::uint32_t> first(points() + 1, 0);  // of each point's edges in `order`
  std::vector<std::uint32_t> waits(points(), 0);
  for (const Edge& edge : edges_) {
    ++first[edge.from + 1];
    ++waits[edge.to];
  }
  for (std::size_t point = 1; point < first.size(); ++point)
    first[point] += first[point - 1];
  std::vector<std::uint32_t> order(edges_.size());
  std::vector<std::uint32_t> next(first.begin(), first.end() - 1);
  for (std::uint32_t edge = 0; edge < edges_.size(); ++edge)
    order[next[edges_[edge].from]++] = edge;

  constexpr Picoseconds kNever{std::numeric_limits<std::int64_t>::min()};
  std::vector<Picoseconds> dates(points(), kNever);
  std::vector<PointId> ready;
  for (PointId point = 0; point < points(); ++point) {
    if (waits[point] == 0) {
      dates[point] = {};
      ready.push_back(point);
    }
  }
  std::size_t done = 0;
  for (; done < ready.size(); ++done) {
    const PointId from = ready[done];
    for (std::uint32_t i = first[from]; i < first[from + 1]; ++i) {
      const Edge& edge = edges_[order[i]];
      const Picoseconds lag = scaled(edge.lag, scales[static_cast<std::size_t>(edge.kind)]);
      dates[edge.to] = std::max(dates[edge.to], dates[from] + lag);
      if (--waits[edge.to] == 0) ready.push_back(edge.to);
    }
  }
  if (done < points()) throw CycleError(ring_among(waits));
  return dates;
}

std::vector<PointId> DependencyGraph::ring_among(const std::vector<std::uint32_t>& waits) const {
  std::vector<PointId> cause(points(), kOrigin);  // one that never takes place, of each point that waits
  for (const Edge& edge : edges_) {
    if (waits[edge.from] > 0) cause[edge.to] = edge.from;
  }
  auto at =
      static_cast<PointId>(std::ranges::find_if(waits, [](auto left) { return left > 0; }) - waits.begin());
  for (std::size_t i = 0; i < points(); ++i)  // a point that waits may wait for a ring without being in it
    at = cause[at];
  std::vector<PointId> ring{at};
  for (PointId before = cause[at]; before != at; before = cause[before])
    ring.push_back(before);
  std::ranges::reverse(ring);
  return ring;
}

}}  // namespace c3::traces
