#include "workloads/explain/rank_schedule.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "engine/observer.hpp"
#include "workloads/analysis/steady_state.hpp"
#include "workloads/execute/step_breakdown.hpp"
#include "workloads/explain/recorded_part.hpp"

namespace c3 { inline namespace workloads {
namespace {

constexpr const char* kCommunication = "communication";

/// "micro-batch 3, backward" of "micro-batch 3, backward, layer 5".
std::string pass_of(std::string_view range) {
  std::size_t end = range.find(", ");
  if (range.starts_with("micro-batch ") && end != std::string_view::npos) end = range.find(", ", end + 2);
  return std::string(range.substr(0, end));
}

/// Hears kernels and communication of all simulated ranks.
class ScheduleRecorder final : public Observer {
 public:
  struct Heard {
    ScheduledSlice slice;
    bool is_pass = false;
  };
  using Lane = std::tuple<int, bool, int>;  ///< rank, whether it communicates, stream of kernels

  explicit ScheduleRecorder(const Program& program) : program_(program) {
    for (const Script& script : program.scripts)
      for_each_operation(script, [this](const Operation& operation) {
        classes_.try_emplace(program_.name_of(operation), class_of(program_, operation));
      });
  }

  void resource_added(ResourceId, const ResourceInfo&, double) override {}
  void capacity_changed(ResourceId, Seconds, double) override {}
  void rate_changed(ActivityId, Seconds, double) override {}
  void utilisation(ResourceId, Seconds, double) override {}
  void depends(ActivityId, ActivityId, DependencyKind) override {}

  void activity_started(ActivityId id, const ActivityInfo& info, Seconds at) override {
    if (info.kind == ActivityKind::range) {
      ranges_[{info.gpu, info.stream}] = pass_of(info.name);
      open_ranges_.emplace(id, std::pair(info.gpu, info.stream));
      return;
    }
    const bool is_kernel = info.kind == ActivityKind::kernel;
    if (!is_kernel && info.kind != ActivityKind::collective) return;
    const std::string name(info.name);
    const auto known = classes_.find(name);
    const bool has_class = known != classes_.end() && !known->second.empty();
    const bool is_copy = has_class && known->second == kHostCopies;
    Heard heard{.slice = {.name = has_class ? known->second : name, .begin = at, .end = at}};
    if (is_kernel && !is_copy) {
      const auto range = ranges_.find({info.gpu, info.stream});
      heard.is_pass = range != ranges_.end();
      heard.slice.name = heard.is_pass ? range->second : name;
    }
    const bool computes = is_kernel && !is_copy;
    open_.emplace(id, std::pair(Lane(info.gpu, !computes, computes ? info.stream : 0), std::move(heard)));
  }

  void activity_finished(ActivityId id, Seconds at) override {
    end_ = std::max(end_, at);
    if (const auto range = open_ranges_.find(id); range != open_ranges_.end()) {
      ranges_.erase(range->second);
      open_ranges_.erase(range);
      return;
    }
    const auto found = open_.find(id);
    if (found == open_.end()) return;
    auto& [lane, heard] = found->second;
    heard.slice.end = at;
    lanes_[lane].push_back(std::move(heard));
    open_.erase(found);
  }

  StepSchedule schedule() {
    StepSchedule schedule{.time = end_, .ranks = {}};
    std::set<std::uint32_t> drawn;  // scripts
    for (auto& [lane, heard] : lanes_) {
      const auto& [rank, communicates, stream] = lane;
      if (schedule.ranks.empty() || schedule.ranks.back().rank != rank) {
        if (!drawn.insert(program_.script_number(rank)).second) continue;
        schedule.ranks.push_back({.rank = rank, .name = name_of_rank(rank), .lanes = {}});
      }
      const std::string name =
          communicates ? kCommunication : program_.streams[static_cast<std::size_t>(stream)];
      schedule.ranks.back().lanes.push_back(
          {.name = name, .has_kernels = !communicates, .slices = joined(std::move(heard))});
    }
    return schedule;
  }

 private:
  std::string name_of_rank(int rank) const {
    if (program_.scripts.size() < 2) return {};
    return program_.names[program_.script_of(rank).name];
  }

  std::vector<ScheduledSlice> joined(std::vector<Heard> heard) const {
    constexpr double kApart = 1e-3;
    std::ranges::stable_sort(heard, {}, [](const Heard& its) { return its.slice.begin; });
    std::vector<ScheduledSlice> slices;
    for (Heard& its : heard) {
      const bool goes_on = !slices.empty() && slices.back().name == its.slice.name &&
                           (its.is_pass || its.slice.begin - slices.back().end < kApart * end_);
      if (goes_on) {
        slices.back().end = std::max(slices.back().end, its.slice.end);
      } else {
        slices.push_back(std::move(its.slice));
      }
    }
    return slices;
  }

  const Program& program_;
  std::map<std::string, std::string> classes_;         ///< by name of operation
  std::map<std::pair<int, int>, std::string> ranges_;  ///< open passes, by rank and stream
  std::unordered_map<ActivityId, std::pair<int, int>> open_ranges_;
  std::unordered_map<ActivityId, std::pair<Lane, Heard>> open_;
  std::map<Lane, std::vector<Heard>> lanes_;
  Seconds end_;
};

}  // namespace

StepSchedule step_schedule(const Experiment& experiment, const Strategy& strategy, const CuChoice& cus) {
  const Experiment recorded = recorded_part(experiment);
  ScheduleRecorder recorder(recorded.program);
  record(recorded, strategy, cus, recorder);
  return recorder.schedule();
}

}}  // namespace c3::workloads
