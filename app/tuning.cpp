#include "app/tuning.hpp"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <iterator>
#include <map>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "app/progress_line.hpp"
#include "app/sweep/point_source.hpp"
#include "app/sweep/sweep_run.hpp"
#include "configs/config_error.hpp"
#include "configs/sweep_positions.hpp"
#include "configs/tune.hpp"
#include "workloads/training/training_step.hpp"
#include "workloads/tune/candidate_search.hpp"

namespace c3::inline app {
namespace {

/// What each strategy in \p result takes, by its name.
std::map<std::string, Expense> expenses_of(const PointResult& result) {
  std::map<std::string, Expense> expenses;
  for (const PointNumber& its : result.numbers) {
    if (its.name == "time") expenses[its.strategy].time = its.value * 1.0_us;
    if (its.name == "energy") expenses[its.strategy].energy = Joules{its.value};
  }
  return expenses;
}

/// Numbers of one strategy.
std::vector<PointNumber> numbers_of(const PointResult& result, const std::string& strategy) {
  std::vector<PointNumber> numbers;
  std::ranges::copy_if(result.numbers, std::back_inserter(numbers),
                       [&](const PointNumber& its) { return its.strategy == strategy; });
  return numbers;
}

/// \p what under its best strategy in \p result; absent where none has run.
std::optional<TunedCandidate> best_of(const PointResult& result, const TuneCandidate& what,
                                      Objective objective) {
  if (result.status != PointStatus::ok) return std::nullopt;
  std::optional<TunedCandidate> best;
  for (const auto& [strategy, takes] : expenses_of(result)) {
    const double cost = cost_of(objective, takes, what.facts.size);
    if (!best || cost < best->cost) best = TunedCandidate{what, strategy, takes, cost, {}};
  }
  if (best) best->numbers = numbers_of(result, best->strategy);
  return best;
}

/// How to start the best candidate, where it is a training step.
std::optional<LaunchArguments> launch_of_best(const Tuning& tuning) {
  if (tuning.ranking.empty()) return std::nullopt;
  const Sweep& sweep = tuning.plan.sweep;
  const Experiment best = sweep.with_outline(sweep.points()[tuning.ranking.front().what.point]).second;
  if (!is_training(best)) return std::nullopt;
  return launch_arguments(training_of(best), best.cluster);
}

/// Candidates of a search as points to simulate. What the folder has is told without a simulation.
class SearchedPoints final : public PointSource {
 public:
  SearchedPoints(Tuning& tuning, const std::vector<TuneCandidate>& candidates, CandidateSearch& search)
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
    if (auto best = best_of(result, what, tuning_.goal.objective)) {
      const double cost = best->cost;
      found_[candidate] = std::move(*best);
      ++tuning_.counts.simulated;
      return search_.tell(candidate, cost);
    }
    ++tuning_.counts.failed;
    if (!tuning_.first_failed) tuning_.first_failed = result.error;
    search_.tell(candidate, std::nullopt);
  }

  Tuning& tuning_;
  const std::vector<TuneCandidate>& candidates_;
  CandidateSearch& search_;
  std::vector<std::optional<TunedCandidate>> found_;
  std::vector<std::size_t> asked_;  ///< and not told yet
  PointCounts total_;
  bool stopped_ = false;
};

int workers_of(const TuneRequest& request) {
  if (request.jobs > 0) return request.jobs;
  return static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
}

/// Those that may be simulated, each configuration once; the others are counted.
std::vector<TuneCandidate> admitted(const std::vector<TuneCandidate>& all, Tuning& tuning) {
  std::vector<TuneCandidate> some;
  for (const std::size_t point : points_of(tuning.plan, {})) {
    const TuneCandidate& its = all[point];
    ++tuning.counts.candidates;
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
  const auto fail = [&](std::string_view why) {
    throw ConfigError(goal.objective_at, "tune.objective",
                      fmt::format("'{}' {}", name_of(goal.objective), why));
  };
  const bool has_tokens =
      std::ranges::all_of(candidates, [](const TuneCandidate& its) { return its.facts.size.tokens > 0; });
  if (needs_tokens(goal.objective) && !has_tokens)
    fail(fmt::format("requires a training step; without one use '{}'", name_of(of_a_run(goal.objective))));
  const bool has_price = std::ranges::all_of(
      candidates, [](const TuneCandidate& its) { return its.facts.size.usd_per_gpu_hour > 0.0; });
  if (needs_price(goal.objective) && !has_price)
    fail(
        "requires the price of every node, which a preset lacks; set node.usd_per_gpu_hour, as in "
        "--set node.usd_per_gpu_hour=3");
  const bool has_power = std::ranges::all_of(
      candidates, [](const TuneCandidate& its) { return its.facts.bound.energy > Joules{}; });
  if (needs_power(goal.objective) && !has_power)
    fail(
        "requires the power of every GPU, which a preset lacks; set gpu.power_board, gpu.power_idle and "
        "gpu.flop_pj");
}

SearchedCandidates searched(const Tuning& tuning, const std::vector<TuneCandidate>& candidates) {
  const std::vector<std::vector<double>> positions = positions_of(tuning.plan.sweep);
  SearchedCandidates all;
  for (const TuneCandidate& its : candidates) {
    all.bounds.push_back(cost_of(tuning.goal.objective, its.facts.bound, its.facts.size));
    all.estimates.push_back(cost_of(tuning.goal.objective, its.facts.estimate, its.facts.size));
    all.positions.push_back(positions[its.point]);
    all.left_out.push_back(its.is_rough);
  }
  return all;
}

void search(const TuneRequest& request, Tuning& tuning, const std::vector<TuneCandidate>& candidates) {
  const SearchLimits limits = tuning.exact ? SearchLimits{} : limits_of(tuning.goal);
  CandidateSearch search(searched(tuning, candidates), limits);
  SearchedPoints points(tuning, candidates, search);
  {
    ProgressLine progress(request.quiet, "whole steps");
    const std::size_t most = std::min(limits.budget.value_or(candidates.size()), candidates.size());
    run_points(tuning.plan, points, {.workers = workers_of(request), .limit = std::nullopt},
               [&](const PointCounts&) { progress(search.told(), most); });
  }
  for (const std::size_t candidate : search.ranking())
    tuning.ranking.push_back(points.found(candidate));
  tuning.counts.rough = static_cast<std::size_t>(std::ranges::count_if(candidates, &TuneCandidate::is_rough));
  tuning.counts.pruned = search.pruned();
  tuning.counts.open = search.open();
  tuning.worst_regret = search.worst_regret();
  tuning.likely_regret = search.likely_regret();
  tuning.broken_bounds = search.broken_bounds();
}

}  // namespace

Tuning tune(const TuneRequest& request) {
  TuneFile file = TuneFile::load(request.sweep.file, request.sweep.sets);
  SweepRequest sweep = request.sweep;
  if (sweep.folder.empty()) sweep.folder = std::filesystem::path("out") / (file.space.name() + "_tune");
  const std::vector<TuneCandidate> all = [&] {
    ProgressLine progress(request.quiet, "candidates read");
    return tune_candidates(file.space, file.goal, request.exact, workers_of(request), std::ref(progress));
  }();
  std::vector<ReadPoint> points;
  for (const TuneCandidate& its : all)
    points.push_back(its.read);
  Tuning tuning{.plan = plan_points(std::move(file.space), points, "tune", sweep),
                .goal = file.goal,
                .exact = request.exact};
  if (request.whole_steps > 0) tuning.goal.whole_steps = request.whole_steps;
  const std::vector<TuneCandidate> candidates = admitted(all, tuning);
  check_objective(tuning.goal, candidates);
  if (const std::string note = claim_folder(tuning.plan); !note.empty() && !request.quiet)
    fmt::print(stderr, "{}\n", note);
  search(request, tuning, candidates);
  tuning.launch = launch_of_best(tuning);
  return tuning;
}

}  // namespace c3::app
