#include "app/sweep/sweep_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <unordered_set>

#include "app/command/exit_code.hpp"
#include "app/sweep/simulate_point.hpp"
#include "app/sweep/worker_pool.hpp"
#include "engine/errors.hpp"
#include "engine/interrupt.hpp"
#include "files/io_error.hpp"

namespace c3 { inline namespace app {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kWait{100};       // for a worker's end: then progress is shown
constexpr milliseconds kServingWait{2};  // while other ranks may ask for a point

ExperimentFile file_of(const SweepPlan& plan, std::size_t point) {
  ExperimentFile file = plan.sweep.experiment(plan.sweep.points()[point]);
  const auto known = plan.placements.find(point);
  return known == plan.placements.end() ? file : file.placed(known->second);
}

/// What a worker does. \returns its exit code.
int work_on(const SweepPlan& plan, std::size_t point) {
  try {
    const PointResult result = simulate_point(file_of(plan, point));
    plan.folder.write(plan.manifest.ids[point], result);
    return result.status == PointStatus::failed ? kExitPartial : kExitOk;
  } catch (const InterruptedError&) {  // it came while this process was made
    return kExitInterrupted;
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}", error.what());
    return kExitInputOutput;
  }
}

class SweepRunner {
 public:
  SweepRunner(const SweepPlan& plan, PointSource& source, const SweepRun& how)
      : plan_(plan), source_(source), pool_(how.workers, how.limit) {}

  void run(const std::function<void(const PointCounts&)>& progress) {
    for (;;) {
      if (interrupt_requested()) source_.stop();
      PointCounts ended = begin_points();
      if (pool_.is_idle() && ended.simulated == 0 && !source_.serves_others()) break;
      const std::vector<WorkerEnd> ends = pool_.wait(source_.serves_others() ? kServingWait : kWait);
      for (const WorkerEnd& end : ends)
        ended += record(end, ends.size() + pool_.running());
      source_.account(ended);
      progress(source_.total());
    }
    if (!trouble_.empty()) throw IoError(plan_.folder.path().string(), "go on", trouble_);
  }

 private:
  std::optional<std::size_t> next() {
    if (again_.empty()) return source_.next();
    const std::size_t point = again_.back();
    again_.pop_back();
    return point;
  }

  /// Fills the pool. \returns points that needed no simulation.
  PointCounts begin_points() {
    PointCounts ended;
    while (pool_.has_room()) {
      const std::optional<std::size_t> point = next();
      if (!point) break;
      if (plan_.folder.has(plan_.manifest.ids[*point])) {  // another process was faster
        ++ended.simulated;
      } else if (!plan_.refused[*point].empty()) {
        ended += fail(*point, plan_.refused[*point]);
      } else {
        pool_.start(*point, [this, point] { return work_on(plan_, *point); });
      }
    }
    return ended;
  }

  PointCounts fail(std::size_t point, const std::string& error) {
    plan_.folder.write(plan_.manifest.ids[point], failed_point(error));
    return {.simulated = 1, .failed = 1};
  }

  /// Records how a worker ended. If several ran at once and this one lacked memory, its point is simulated
  /// again, beside fewer others.
  /// \param at_once how many ran, this one among them
  PointCounts record(const WorkerEnd& end, std::size_t at_once) {
    if (!end.lacked_memory || at_once < 2) return record(end);
    if (interrupt_requested()) return {};  // a later call simulates it
    again_.push_back(end.task);
    const std::size_t fewer = at_once / 2;
    pool_.limit_to(fewer);
    fmt::print(
        stderr,
        "a simulation was killed, as for lack of memory; it is repeated, and at most {} run at once from "
        "now on\n",
        fewer);
    return {};
  }

  PointCounts record(const WorkerEnd& end) {
    if (end.exit_code == kExitOk) return {.simulated = 1, .failed = 0};
    if (end.exit_code == kExitPartial) return {.simulated = 1, .failed = 1};
    if (end.exit_code == kExitInterrupted) return {};
    if (end.exit_code == kExitInputOutput) {
      trouble_ = end.said;
      source_.stop();
      return {};
    }
    std::string why = end.exit_code ? fmt::format("ended with exit code {}", *end.exit_code) : end.why;
    if (!end.said.empty()) why += "\n" + end.said;
    return fail(end.task, why);
  }

  const SweepPlan& plan_;
  PointSource& source_;
  WorkerPool pool_;
  std::vector<std::size_t> again_;  ///< points to simulate once more
  std::string trouble_;             ///< why a result could not be written
};

}  // namespace

std::vector<std::size_t> points_of(const SweepPlan& plan, const SweepShard& shard) {
  std::unordered_set<std::string> seen;
  std::vector<std::size_t> points;
  for (std::size_t point = 0; point < plan.manifest.points(); ++point) {
    if (seen.insert(plan.manifest.ids[point]).second) points.push_back(point);
  }
  std::vector<std::size_t> mine;
  for (std::size_t i = shard.number - 1; i < points.size(); i += shard.count)
    mine.push_back(points[i]);
  return mine;
}

std::vector<std::size_t> unfinished(const SweepPlan& plan, const std::vector<std::size_t>& points,
                                    bool retry_failed) {
  std::vector<std::size_t> left;
  for (const std::size_t point : points) {
    const std::string& id = plan.manifest.ids[point];
    const bool is_done = plan.folder.has(id) || (!retry_failed && plan.folder.has_failed(id));
    if (!is_done) left.push_back(point);
  }
  std::ranges::reverse(left);
  return left;
}

void run_points(const SweepPlan& plan, PointSource& source, const SweepRun& how,
                const std::function<void(const PointCounts&)>& progress) {
  SweepRunner(plan, source, how).run(progress);
}

}}  // namespace c3::app
