#include <algorithm>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>

#include "engine/observer.hpp"
#include "workloads/analysis/steady_state.hpp"
#include "workloads/execute/step_breakdown.hpp"
#include "workloads/explain/critical_path.hpp"
#include "workloads/explain/recorded_part.hpp"

namespace c3 { inline namespace workloads {
namespace {

/// Hears operations of all simulated ranks, and for what each waited.
class PathRecorder final : public Observer {
 public:
  explicit PathRecorder(const Program& program) : program_(program) {
    for (const Script& script : program.scripts)
      for_each_operation(script, [this](const Operation& operation) {
        classes_.try_emplace(program_.name_of(operation), class_of(program_, operation));
      });
  }

  void resource_added(ResourceId, const ResourceInfo&, double) override {}
  void capacity_changed(ResourceId, Seconds, double) override {}
  void rate_changed(ActivityId, Seconds, double) override {}
  void utilisation(ResourceId, Seconds, double) override {}

  void activity_started(ActivityId id, const ActivityInfo& info, Seconds at) override {
    const bool meets = info.kind == ActivityKind::collective;
    if (!meets && info.kind != ActivityKind::kernel && info.kind != ActivityKind::wait) return;
    PathNode node{.operator_class = {}, .begin = at, .end = at};
    if (info.kind != ActivityKind::wait) node.operator_class = class_named(info);
    if (meets) node.meeting = meeting_of(info);
    numbers_.emplace(id, nodes_.size());
    nodes_.push_back(std::move(node));
  }

  void activity_finished(ActivityId id, Seconds at) override {
    const auto found = numbers_.find(id);
    if (found == numbers_.end()) return;
    PathNode& node = nodes_[found->second];
    node.end = at;
    if (node.operator_class.empty()) node.begin = at;  // it takes no time, but those for which it waits do
    if (node.meeting >= 0) open_[node.meeting].closed = true;
  }

  void depends(ActivityId successor, ActivityId predecessor, DependencyKind kind) override {
    if (kind != DependencyKind::stream_order && kind != DependencyKind::event) return;
    const auto later = numbers_.find(successor), earlier = numbers_.find(predecessor);
    if (later == numbers_.end() || earlier == numbers_.end()) return;
    nodes_[later->second].after.push_back(earlier->second);
  }

  const std::vector<PathNode>& nodes() const { return nodes_; }

 private:
  /// Ranks in one collective or message that is in flight.
  struct Meeting {
    std::vector<int> gpus = {};
    bool closed = false;  ///< somebody has left
  };

  std::string class_named(const ActivityInfo& info) const {
    const auto found = classes_.find(std::string(info.name));
    if (found != classes_.end() && !found->second.empty()) return found->second;
    return info.kind == ActivityKind::collective ? std::string(name_of(CollectiveKind::send_receive))
                                                 : "kernel";
  }

  /// The newest of that name that nobody has left and in which the rank is not yet.
  int meeting_of(const ActivityInfo& info) {
    std::vector<int>& of_name = meetings_[{info.stream, std::string(info.name)}];
    for (const int number : of_name) {
      Meeting& its = open_[number];
      if (its.closed || std::ranges::find(its.gpus, info.gpu) != its.gpus.end()) continue;
      its.gpus.push_back(info.gpu);
      return number;
    }
    std::erase_if(of_name, [this](int number) { return open_[number].closed; });
    const int number = static_cast<int>(open_.size());
    open_.emplace(number, Meeting{.gpus = {info.gpu}});
    of_name.push_back(number);
    return number;
  }

  const Program& program_;
  std::map<std::string, std::string> classes_;  ///< by name of operation
  std::unordered_map<ActivityId, std::size_t> numbers_;
  std::vector<PathNode> nodes_;
  std::map<std::pair<int, std::string>, std::vector<int>> meetings_;  ///< by stream and name
  std::map<int, Meeting> open_;
};

}  // namespace

CriticalPath critical_path(const Experiment& experiment, const Strategy& strategy, const CuChoice& cus) {
  const Experiment recorded = recorded_part(experiment);
  PathRecorder recorder(recorded.program);
  record(recorded, strategy, cus, recorder);
  return critical_path(recorder.nodes());
}

}}  // namespace c3::workloads
