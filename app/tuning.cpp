#include "app/tuning.hpp"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "app/progress_line.hpp"
#include "app/sweep/point_source.hpp"
#include "app/sweep/sweep_run.hpp"
#include "configs/config_error.hpp"
#include "configs/tune.hpp"
#include "workloads/tune/bounded_search.hpp"

namespace c3::inline app {
namespace {

/// The time of the fastest strategy in \p result; absent where it has none.
std::optional<std::pair<std::string, Seconds>> fastest(const PointResult& result) {
  std::optional<std::pair<std::string, Seconds>> best;
  for (const PointNumber& its : result.numbers) {
    if (its.name != "time") continue;
    const Seconds time = its.value * 1.0_us;
    if (!best || time < best->second) best = std::pair(its.strategy, time);
  }
  return result.status == PointStatus::ok ? best : std::nullopt;
}

/// Candidates of a search as points to simulate. What the folder has is told without a simulation.
class SearchedPoints final : public PointSource {
 public:
  SearchedPoints(Tuning& tuning, const std::vector<TuneCandidate>& candidates, BoundedSearch& search)
      : tuning_(tuning), candidates_(candidates), search_(search), found_(candidates.size()) {}

  std::optional<std::size_t> next() override {
    collect();
    while (!stopped_) {
      const std::optional<std::size_t> candidate = search_.ask();
      if (!candidate) return std::nullopt;
      asked_.push_back(*candidate);
      collect();
      const bool is_new = std::ranges::find(asked_, *candidate) != asked_.end();
      if (is_new) return candidates_[*candidate].point;
    }
    return std::nullopt;
  }
  void account(const PointCounts& counts) override {
    total_ += counts;
    collect();
  }
  PointCounts total() const override { return total_; }
  bool serves_others() const override { return false; }
  void stop() override { stopped_ = true; }

  /// What became of \p candidate, which has a cost.
  const TunedCandidate& found(std::size_t candidate) const { return *found_[candidate]; }

 private:
  /// Tells the search what has come of candidates that it asked for.
  void collect() {
    std::erase_if(asked_, [this](std::size_t candidate) {
      const TuneCandidate& what = candidates_[candidate];
      const auto result = tuning_.plan.folder.read(tuning_.plan.manifest.ids[what.point]);
      if (!result) return false;
      tell(candidate, *result);
      return true;
    });
  }

  void tell(std::size_t candidate, const PointResult& result) {
    const TuneCandidate& what = candidates_[candidate];
    if (const auto best = fastest(result)) {
      const double cost = cost_of(tuning_.goal.objective, best->second, what.facts.size);
      found_[candidate] = TunedCandidate{what, best->first, best->second, cost};
      ++tuning_.counts.simulated;
      return search_.tell(candidate, cost);
    }
    ++tuning_.counts.failed;
    if (!tuning_.first_failed) tuning_.first_failed = result.error;
    search_.tell(candidate, std::nullopt);
  }

  Tuning& tuning_;
  const std::vector<TuneCandidate>& candidates_;
  BoundedSearch& search_;
  std::vector<std::optional<TunedCandidate>> found_;
  std::vector<std::size_t> asked_;  ///< and not told yet
  PointCounts total_;
  bool stopped_ = false;
};

int workers_of(const TuneRequest& request) {
  if (request.jobs > 0) return request.jobs;
  return static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
}

/// Those that may be simulated; the others are counted.
std::vector<TuneCandidate> admitted(const std::vector<TuneCandidate>& all, Tuning& tuning) {
  std::vector<TuneCandidate> some;
  for (const TuneCandidate& its : all) {
    if (!its.refused.empty()) {
      ++tuning.counts.refused;
      if (!tuning.first_refused) tuning.first_refused = its.refused;
    } else if (tuning.goal.most_gpus && its.facts.size.gpus > *tuning.goal.most_gpus) {
      ++tuning.counts.beyond_gpus;
    } else if (!its.facts.fits) {
      ++tuning.counts.out_of_memory;
    } else {
      some.push_back(its);
    }
  }
  return some;
}

void check_objective(const TuneGoal& goal, const std::vector<TuneCandidate>& candidates) {
  const bool has_tokens =
      std::ranges::all_of(candidates, [](const TuneCandidate& its) { return its.facts.size.tokens > 0; });
  if (goal.objective == Objective::time || has_tokens) return;
  throw ConfigError(
      goal.objective_at, "tune.objective",
      fmt::format("'{}' requires a training step; without one use 'time'", name_of(goal.objective)));
}

void search(const TuneRequest& request, Tuning& tuning, const std::vector<TuneCandidate>& candidates) {
  std::vector<double> bounds;
  for (const TuneCandidate& its : candidates)
    bounds.push_back(cost_of(tuning.goal.objective, its.facts.bound, its.facts.size));
  const auto budget =
      static_cast<std::size_t>(request.whole_steps > 0 ? request.whole_steps : tuning.goal.whole_steps);
  BoundedSearch search(std::move(bounds), tuning.exact ? std::nullopt : std::optional(budget));
  SearchedPoints points(tuning, candidates, search);
  {
    ProgressLine progress(request.quiet, "whole steps");
    const std::size_t most = tuning.exact ? candidates.size() : std::min(budget, candidates.size());
    run_points(tuning.plan, points, {.workers = workers_of(request), .limit = std::nullopt},
               [&](const PointCounts&) { progress(search.told(), most); });
  }
  for (const std::size_t candidate : search.ranking())
    tuning.ranking.push_back(points.found(candidate));
  tuning.counts.pruned = search.pruned();
  tuning.counts.open = search.open();
  tuning.regret = search.regret();
  tuning.broken_bounds = search.broken_bounds();
}

}  // namespace

Tuning tune(const TuneRequest& request) {
  TuneFile file = TuneFile::load(request.sweep.file, request.sweep.sets);
  SweepRequest sweep = request.sweep;
  if (sweep.folder.empty()) sweep.folder = std::filesystem::path("out") / (file.space.name() + "_tune");
  ProgressLine reading(request.quiet, "candidates read");
  Tuning tuning{.plan = plan_points(std::move(file.space), "tune", sweep, std::ref(reading)),
                .goal = file.goal,
                .exact = request.exact};
  const std::vector<std::size_t> points = points_of(tuning.plan, {});
  tuning.counts.candidates = points.size();
  const std::vector<TuneCandidate> candidates = [&] {
    ProgressLine progress(request.quiet, "candidates with a bound");
    return admitted(tune_candidates(tuning.plan, points, workers_of(request), std::ref(progress)), tuning);
  }();
  check_objective(tuning.goal, candidates);
  if (const std::string note = claim_folder(tuning.plan); !note.empty() && !request.quiet)
    fmt::print(stderr, "{}\n", note);
  search(request, tuning, candidates);
  return tuning;
}

}  // namespace c3::app
