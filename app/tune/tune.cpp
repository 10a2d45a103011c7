#include "app/tune/tune.hpp"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <utility>

#include <fmt/format.h>

#include "app/command/progress_line.hpp"
#include "app/sweep/sweep_run.hpp"
#include "app/tune/tune_answer.hpp"
#include "app/tune/tune_search.hpp"
#include "configs/jobs/tune.hpp"
#include "configs/toml/config_error.hpp"
#include "workloads/training/training_step.hpp"

namespace c3 { inline namespace app {
namespace {

/// How to start the best candidate, where it is a training step.
std::optional<LaunchArguments> launch_of_best(const Tuning& tuning) {
  if (tuning.ranking.empty()) return std::nullopt;
  const Sweep& sweep = tuning.plan.sweep;
  const Experiment best = sweep.with_outline(sweep.points()[tuning.ranking.front().what.point]).second;
  if (!is_training(best)) return std::nullopt;
  return launch_arguments(training_of(best), best.cluster);
}

/// The candidates that may be simulated, each configuration once; the others are counted.
std::vector<TuneCandidate> admitted(const std::vector<TuneCandidate>& all, Tuning& tuning) {
  std::vector<TuneCandidate> some;
  for (const std::size_t point : points_of(tuning.plan, {})) {
    const TuneCandidate& candidate = all[point];
    ++tuning.counts.candidates;
    if (!candidate.refused.empty()) {
      ++tuning.counts.refused;
      if (!tuning.first_refused) tuning.first_refused = candidate.refused;
    } else if (tuning.goal.most_gpus && candidate.facts.size.gpus > *tuning.goal.most_gpus) {
      ++tuning.counts.beyond_gpus;
    } else if (!candidate.facts.fits) {
      ++tuning.counts.out_of_memory;
    } else {
      some.push_back(candidate);
    }
  }
  return some;
}

void check_objective(const TuneGoal& goal, const std::vector<TuneCandidate>& candidates) {
  const auto fail = [&](std::string_view why) {
    throw ConfigError(goal.objective_at, "tune.objective",
                      fmt::format("'{}' {}", name_of(goal.objective), why));
  };
  const bool has_tokens = std::ranges::all_of(
      candidates, [](const TuneCandidate& candidate) { return candidate.facts.size.tokens > 0; });
  if (needs_tokens(goal.objective) && !has_tokens)
    fail(fmt::format("requires a training step; without one use '{}'", name_of(of_a_run(goal.objective))));
  const bool has_price = std::ranges::all_of(
      candidates, [](const TuneCandidate& candidate) { return candidate.facts.size.usd_per_gpu_hour > 0.0; });
  if (needs_price(goal.objective) && !has_price)
    fail(
        "requires the price of every node, which a preset lacks; set node.usd_per_gpu_hour, as in "
        "--set node.usd_per_gpu_hour=3");
  const bool has_power = std::ranges::all_of(
      candidates, [](const TuneCandidate& candidate) { return candidate.facts.bound.energy > Joules{}; });
  if (needs_power(goal.objective) && !has_power)
    fail(
        "requires the power of every GPU, which a preset lacks; set gpu.power_board, gpu.power_idle and "
        "gpu.flop_pj");
}

}  // namespace

Tuning tune(const TuneRequest& request) {
  TuneFile file = TuneFile::load(request.sweep.file, request.sweep.sets);
  SweepRequest sweep = request.sweep;
  if (sweep.folder.empty()) sweep.folder = std::filesystem::path("out") / (file.space.name() + "_tune");
  const std::vector<TuneCandidate> all = [&] {
    ProgressLine progress(request.quiet, "candidates read");
    return tune_candidates(file.space, file.goal, request.exact, workers_of(request.jobs), std::ref(progress));
  }();
  std::vector<ReadPoint> points;
  for (const TuneCandidate& candidate : all)
    points.push_back(candidate.read);
  Tuning tuning{.plan = plan_points(std::move(file.space), points, "tune", sweep),
                .goal = file.goal,
                .exact = request.exact};
  for (const TuneCandidate& candidate : all)
    if (candidate.placement) tuning.plan.placements.emplace(candidate.point, *candidate.placement);
  if (request.whole_steps > 0) tuning.goal.whole_steps = request.whole_steps;
  const std::vector<TuneCandidate> candidates = admitted(all, tuning);
  tuning.values = tuned_values(tuning, all);
  check_objective(tuning.goal, candidates);
  for (const std::string& note : claim_folder(tuning.plan, points_of(tuning.plan, {})))
    if (!request.quiet) fmt::print(stderr, "{}\n", note);
  search_candidates(request, tuning, candidates);
  tuning.launch = launch_of_best(tuning);
  return tuning;
}

}}  // namespace c3::app
