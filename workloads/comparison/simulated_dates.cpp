#include "workloads/comparison/simulated_dates.hpp"
#include "workloads/analysis/periodic_power.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

#include "workloads/execute/run.hpp"

namespace c3 { inline namespace traces {
namespace {

Picoseconds picoseconds(Seconds date) { return {std::llround(date.value * 1e12)}; }

/// Notes when kernels and collectives run, by GPU and stream, in the order in which they start.
class DateRecorder final : public Observer {
 public:
  void resource_added(ResourceId /*id*/, const ResourceInfo& /*info*/, double /*capacity*/) override {}
  void capacity_changed(ResourceId /*id*/, Seconds /*at*/, double /*capacity*/) override {}
  void activity_started(ActivityId id, const ActivityInfo& info, Seconds at) override {
    if (info.kind != ActivityKind::kernel && info.kind != ActivityKind::collective) return;
    std::vector<WorkDates>& dates = dates_[{info.gpu, info.stream}];
    running_.emplace(id, std::pair(&dates, dates.size()));
    dates.push_back({picoseconds(at), picoseconds(at)});
  }
  void activity_finished(ActivityId id, Seconds at) override {
    const auto ended = running_.find(id);
    if (ended == running_.end()) return;
    (*ended->second.first)[ended->second.second].end = picoseconds(at);
    running_.erase(ended);
  }
  void depends(ActivityId /*successor*/, ActivityId /*predecessor*/, DependencyKind /*kind*/) override {}
  void rate_changed(ActivityId /*activity*/, Seconds /*at*/, double /*rate*/) override {}
  void utilisation(ResourceId /*id*/, Seconds /*at*/, double /*used*/) override {}

  const std::vector<WorkDates>& of(int gpu, int stream) { return dates_[{gpu, stream}]; }

 private:
  std::map<std::pair<int, int>, std::vector<WorkDates>> dates_;
  std::unordered_map<ActivityId, std::pair<std::vector<WorkDates>*, std::size_t>> running_;
};

/// From the first mark of a rank's host to the last one; nothing without marks.
std::optional<Picoseconds> marked_length(const RunResult& result, int rank) {
  std::optional<std::pair<double, double>> span;
  for (const HostMark& mark : result.marks) {
    if (mark.rank != rank) continue;
    if (!span) span = {mark.date.value, mark.date.value};
    span->first = std::min(span->first, mark.date.value);
    span->second = std::max(span->second, mark.date.value);
  }
  if (!span) return std::nullopt;
  return picoseconds(Seconds{span->second - span->first});
}

}  // namespace

SimulatedDates simulate(const RecordedRun& run, Experiment experiment) {
  if (!run.is_of_one_rank()) experiment.measure.fold = Fold::none;
  DateRecorder recorder;
  RunSetup setup;
  setup.observer = &recorder;
  setup.power = periodic_start(experiment, experiment.strategies.front(), setup);
  const RunResult result = run_once(experiment, experiment.strategies.front(), setup);
  SimulatedDates dates;
  for (const RecordedRank& rank : run.ranks) {
    const int number = run.is_of_one_rank() ? 0 : rank.number;
    std::vector<std::size_t> next(run.streams.size());
    std::vector<WorkDates>& its = dates.work.emplace_back();
    its.reserve(rank.work.size());
    Picoseconds last;
    for (const RecordedWork& work : rank.work) {
      its.push_back(recorder.of(number, static_cast<int>(work.stream)).at(next[work.stream]++));
      last = std::max(last, its.back().end);
    }
    dates.lengths.push_back(marked_length(result, number).value_or(last));
  }
  return dates;
}

}}  // namespace c3::traces
