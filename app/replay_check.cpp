#include "app/replay_check.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "workloads/execute/run.hpp"

namespace c3::inline app {
namespace {

/// Notes when kernels and collectives start, by GPU and stream, in the order in which they do.
class StartRecorder final : public Observer {
 public:
  void resource_added(ResourceId /*id*/, const ResourceInfo& /*info*/, double /*capacity*/) override {}
  void capacity_changed(ResourceId /*id*/, Seconds /*at*/, double /*capacity*/) override {}
  void activity_started(ActivityId /*id*/, const ActivityInfo& info, Seconds at) override {
    if (info.kind == ActivityKind::kernel || info.kind == ActivityKind::collective)
      starts_[{info.gpu, info.stream}].push_back(at.value);
  }
  void activity_finished(ActivityId /*id*/, Seconds /*at*/) override {}
  void depends(ActivityId /*successor*/, ActivityId /*predecessor*/, DependencyKind /*kind*/) override {}
  void rate_changed(ActivityId /*activity*/, Seconds /*at*/, double /*rate*/) override {}
  void utilisation(ResourceId /*id*/, Seconds /*at*/, double /*used*/) override {}

  const std::vector<double>& of(int gpu, int stream) { return starts_[{gpu, stream}]; }

 private:
  std::map<std::pair<int, int>, std::vector<double>> starts_;
};

double seconds(Picoseconds time) { return static_cast<double>(time.count) * 1e-12; }

double recorded_length(const RecordedRank& rank) {
  if (rank.steps.empty()) return 0.0;
  return seconds(rank.points[rank.steps.back().end].date - rank.points[rank.steps.front().begin].date);
}

/// From the first mark of a rank's host to the last one.
double simulated_length(const RunResult& result, int rank) {
  double first = 0.0, last = 0.0;
  bool any = false;
  for (const HostMark& mark : result.marks) {
    if (mark.rank != rank) continue;
    first = any ? std::min(first, mark.date.value) : mark.date.value;
    last = any ? std::max(last, mark.date.value) : mark.date.value;
    any = true;
  }
  return last - first;
}

}  // namespace

ReplayCheck check_replay(const RecordedRun& run, const Experiment& experiment) {
  StartRecorder recorder;
  RunSetup setup;
  setup.observer = &recorder;
  const RunResult result = run_once(experiment, experiment.strategies.front(), setup);
  const RankPartition classes = simulated_ranks(experiment, experiment.strategies.front());
  ReplayCheck check;
  std::vector<double> distances;
  double lengths = 0.0;
  std::size_t steps = 0;
  for (const RecordedRank& rank : run.ranks) {
    const int number = classes.representative(classes.class_of(run.ranks.size() == 1 ? 0 : rank.number));
    const double recorded = recorded_length(rank), simulated = simulated_length(result, number);
    lengths += recorded;
    steps += std::max<std::size_t>(1, rank.steps.size());
    if (recorded > 0.0)
      check.step_error = std::max(check.step_error, std::abs(simulated - recorded) / recorded);
    std::vector<std::size_t> next(run.streams.size());
    for (const RecordedWork& work : rank.work) {
      const std::vector<double>& starts = recorder.of(number, static_cast<int>(work.stream));
      distances.push_back(std::abs(starts.at(next[work.stream]++) - seconds(work.start)));
    }
  }
  if (distances.empty() || lengths <= 0.0) return check;
  std::ranges::sort(distances);
  const double step = lengths / static_cast<double>(steps);
  const auto share = [&](double quantile) {
    return distances[static_cast<std::size_t>(quantile * static_cast<double>(distances.size() - 1))] / step;
  };
  check.median = share(0.5);
  check.p95 = share(0.95);
  return check;
}

}  // namespace c3::app
