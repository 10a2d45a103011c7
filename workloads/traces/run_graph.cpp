#include "workloads/traces/run_graph.hpp"

#include <algorithm>
#include <utility>

#include "workloads/traces/start_lags.hpp"
#include "workloads/traces/wait_lags.hpp"

namespace c3 { inline namespace traces {
namespace {

/// The longest return from a wait on server hosts; for waits whose work had ended before.
constexpr Picoseconds kWaitReturn = 11_us;

class RankBuilder {
 public:
  RankBuilder(const Rank& rank, Picoseconds shift, const GraphOptions& options, DependencyGraph& graph)
      : rank_(rank), shift_(shift), options_(options), graph_(graph) {}

  RankPoints build() {
    HostChain chain = add_host_chain(rank_, shift_, graph_);
    points_.calls = std::move(chain.calls);
    points_.steps = std::move(chain.steps);
    points_.threads = std::move(chain.threads);
    points_.resumes = chain.resumes;
    for (const TraceEvent& activity : rank_.trace.activities) {
      points_.starts.push_back(graph_.add_point(activity.start + shift_));
      points_.ends.push_back(graph_.add_point(activity.end() + shift_));
    }
    add_starts();
    add_waits();
    return std::move(points_);
  }

 private:
  /// A cause of each start, and the point that it is at.
  struct Causes {
    std::vector<CauseSlack> slacks;
    std::vector<PointId> points;
  };

  void add_cause(std::uint32_t activity, StartCause cause, PointId point) {
    const Picoseconds slack = graph_.recorded(points_.starts[activity]) - graph_.recorded(point);
    causes_[activity].slacks.push_back({.cause = cause, .slack = slack});
    causes_[activity].points.push_back(point);
  }

  bool was_launched_here(std::uint32_t activity) const { return rank_.join.launch_of[activity] != kNoIndex; }

  PointId launch_point(std::uint32_t activity) const {
    const std::uint32_t call = rank_.join.outer_call[rank_.join.launch_of[activity]];
    const CallPoints& points = points_.calls.at(call);
    return launches_at_its_end(rank_.trace.calls[call], rank_.trace.activities[activity]) ? points.end
                                                                                          : points.begin;
  }

  void find_causes() {
    causes_.resize(rank_.trace.activities.size());
    for (std::uint32_t i = 0; i < causes_.size(); ++i) {
      if (!was_launched_here(i)) continue;
      add_cause(i, StartCause::launch, launch_point(i));
      const std::uint32_t before = rank_.order.predecessor(i);
      if (before != kNoIndex) add_cause(i, StartCause::stream, points_.ends[before]);
    }
    if (!options_.cross_stream) return;
    for (const CrossStreamEdge& edge : rank_.edges) {
      if (was_launched_here(edge.destination))
        add_cause(edge.destination, StartCause::cross, points_.ends[edge.source]);
    }
  }

  void add_starts() {
    find_causes();
    std::vector<std::vector<CauseSlack>> slacks;
    slacks.reserve(causes_.size());
    for (const Causes& own : causes_)
      slacks.push_back(own.slacks);
    const TypicalLags typical = typical_lags(slacks);
    for (std::uint32_t i = 0; i < causes_.size(); ++i) {
      const StartLags found = start_lags(causes_[i].slacks, typical);
      for (std::size_t k = 0; k < found.lags.size(); ++k)
        graph_.add_edge(causes_[i].points[k], points_.starts[i], found.lags[k], LagKind::latency);
      if (found.lags.empty())
        graph_.add_edge(DependencyGraph::kOrigin, points_.starts[i], graph_.recorded(points_.starts[i]),
                        LagKind::window);
      points_.unexplained.push_back(found.unexplained);
    }
  }

  void add_waits() {
    for (const HostWait& wait : rank_.waits) {
      const CallPoints& call = points_.calls.at(wait.call);
      const PointId ended = points_.ends[wait.activity];
      Picoseconds lag = graph_.recorded(call.end) - graph_.recorded(ended);
      // What had ended before the call began did not decide when it returned.
      if (graph_.recorded(ended) <= graph_.recorded(call.begin)) lag = std::min(lag, kWaitReturn);
      graph_.add_edge(ended, call.end, lag, LagKind::latency);
    }
  }

  const Rank& rank_;
  Picoseconds shift_;
  const GraphOptions& options_;
  DependencyGraph& graph_;
  std::vector<Causes> causes_;  ///< [activities]
  RankPoints points_;
};

/// Adds edges from start to end of work that no other rank takes part in.
void add_durations(const std::vector<Rank>& ranks, RunGraph& run,
                   const std::vector<std::vector<bool>>& is_matched) {
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    const RankPoints& points = run.ranks[rank];
    for (std::size_t i = 0; i < points.starts.size(); ++i) {
      if (!is_matched[rank][i])
        run.graph.add_edge(points.starts[i], points.ends[i], ranks[rank].trace.activities[i].duration,
                           LagKind::gpu);
    }
  }
}

}  // namespace

RunGraph run_graph(const std::vector<Rank>& ranks, const std::vector<CollectiveInstance>& instances,
                   const std::vector<Picoseconds>& shifts, const GraphOptions& options) {
  RunGraph run;
  std::vector<std::vector<bool>> is_matched;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    run.ranks.push_back(RankBuilder(ranks[rank], shifts[rank], options, run.graph).build());
    is_matched.emplace_back(ranks[rank].trace.activities.size(), false);
  }
  for (const CollectiveInstance& instance : instances) {
    const Picoseconds latest = timing_of(instance, ranks, shifts).latest_start;
    const PointId all_arrived = run.graph.add_point(latest);
    for (const CollectiveMember& member : instance.members) {
      const std::uint32_t i = ranks[member.rank].collectives[member.collective].activity;
      const RankPoints& points = run.ranks[member.rank];
      is_matched[member.rank][i] = true;
      run.graph.add_edge(points.starts[i], all_arrived, {}, LagKind::latency);
      run.graph.add_edge(all_arrived, points.ends[i], run.graph.recorded(points.ends[i]) - latest,
                         LagKind::collective);
    }
  }
  add_durations(ranks, run, is_matched);
  return run;
}

}}  // namespace c3::traces
