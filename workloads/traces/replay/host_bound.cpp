#include "workloads/traces/replay/host_bound.hpp"

#include <algorithm>
#include <vector>

#include "workloads/traces/dependency_graph.hpp"

namespace c3 { inline namespace traces {
namespace {

/// One rank's points in the graph.
struct Places {
  std::vector<PointId> host, starts, ends;
};

class BoundGraph {
 public:
  explicit BoundGraph(const RecordedRun& run)
      : run_(run), arrived_(run.collectives.size()), last_starts_(run.collectives.size()) {
    for (PointId& point : arrived_)
      point = graph_.add_point({});
    for (const RecordedRank& rank : run.ranks) {
      for (const RecordedWork& work : rank.work) {
        if (work.collective == kNoIndex) continue;
        last_starts_[work.collective] = std::max(last_starts_[work.collective], work.start);
      }
    }
    for (const RecordedRank& rank : run.ranks)
      add_points(rank);
    for (std::size_t i = 0; i < run.ranks.size(); ++i)
      add_edges(run.ranks[i], places_[i]);
  }

  HostBound bound() const {
    const std::vector<Picoseconds> dates = graph_.replay();
    HostBound bound;
    for (std::size_t i = 0; i < run_.ranks.size(); ++i) {
      for (const PointId end : places_[i].ends) {
        bound.recorded = std::max(bound.recorded, graph_.recorded(end));
        bound.by_hosts = std::max(bound.by_hosts, dates[end]);
      }
    }
    return bound;
  }

 private:
  void add_points(const RecordedRank& rank) {
    Places& points = places_.emplace_back();
    for (const HostPoint& point : rank.points)
      points.host.push_back(graph_.add_point(point.date));
    for (const RecordedWork& work : rank.work) {
      points.starts.push_back(graph_.add_point(work.start));
      points.ends.push_back(graph_.add_point(end_of(work)));
    }
  }

  /// The duration of a collective of several ranks counts from the start of its last member.
  Picoseconds end_of(const RecordedWork& work) const {
    return (work.collective == kNoIndex ? work.start : last_starts_[work.collective]) + work.duration;
  }

  void add_edges(const RecordedRank& rank, const Places& at) {
    for (std::uint32_t i = 0; i < rank.points.size(); ++i) {
      const bool is_first = i == 0 || rank.points[i - 1].thread != rank.points[i].thread;
      graph_.add_edge(is_first ? DependencyGraph::kOrigin : at.host[i - 1], at.host[i], rank.points[i].cost,
                      LagKind::host);
    }
    for (const PointWait& wait : rank.waits)
      graph_.add_edge(wait.for_work ? at.ends[wait.source] : at.host[wait.source], at.host[wait.point],
                      wait.lag, LagKind::latency);
    for (const RecordedEdge& edge : rank.edges)
      graph_.add_edge(at.ends[edge.source], at.starts[edge.destination], edge.lag, LagKind::latency);
    std::vector<std::uint32_t> last(run_.streams.size(), kNoIndex);
    for (std::uint32_t i = 0; i < rank.work.size(); ++i) {
      const RecordedWork& work = rank.work[i];
      if (work.launch != kNoIndex)
        graph_.add_edge(at.host[work.launch], at.starts[i], work.after_launch, LagKind::latency);
      std::uint32_t& before = last[work.stream];
      if (before != kNoIndex)
        graph_.add_edge(at.ends[before], at.starts[i], work.after_stream, LagKind::latency);
      before = i;
      add_work(work, at.starts[i], at.ends[i]);
    }
  }

  /// Which takes no time.
  void add_work(const RecordedWork& work, PointId start, PointId end) {
    if (work.collective == kNoIndex) {
      graph_.add_edge(start, end, {}, LagKind::gpu);
    } else {
      graph_.add_edge(start, arrived_[work.collective], {}, LagKind::latency);
      graph_.add_edge(arrived_[work.collective], end, {}, LagKind::collective);
    }
  }

  const RecordedRun& run_;
  DependencyGraph graph_;
  std::vector<PointId> arrived_;          ///< by collective: its last member
  std::vector<Picoseconds> last_starts_;  ///< the same, as recorded
  std::vector<Places> places_;            ///< by rank
};

}  // namespace

double HostBound::share() const {
  if (recorded.count <= 0) return 0.0;
  return static_cast<double>(by_hosts.count) / static_cast<double>(recorded.count);
}

HostBound host_bound(const RecordedRun& run) { return BoundGraph(run).bound(); }

}}  // namespace c3::traces
