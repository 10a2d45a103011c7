#include "app/tune_candidates.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "app/parallel_tasks.hpp"
#include "base/json.hpp"
#include "configs/config_error.hpp"
#include "engine/errors.hpp"

namespace c3::inline app {
namespace {

constexpr std::size_t kMostTasks = 256;  ///< each has a file in memory

/// Of point \p point, which may break a rule.
TuneCandidate look_at(const SweepPlan& plan, std::size_t point) {
  TuneCandidate its;
  try {
    if (plan.refused[point].empty()) {
      const ExperimentFile file = plan.sweep.experiment(plan.sweep.points()[point]);
      its.facts = candidate_facts([&](std::optional<std::uint64_t> draw) { return file.make(draw); });
    } else {
      its.refused = plan.refused[point];
    }
  } catch (const ConfigError& error) {
    its.refused = error.what();
  } catch (const InfeasibleError& error) {
    its.refused = error.what();
  }
  its.point = point;
  return its;
}

std::string text_of(const std::vector<TuneCandidate>& candidates) {
  Json rows = Json::array();
  for (const TuneCandidate& its : candidates)
    rows.push_back({{"point", its.point},
                    {"refused", its.refused},
                    {"tokens", its.facts.size.tokens},
                    {"gpus", its.facts.size.gpus},
                    {"needed", its.facts.needed.value},
                    {"fits", its.facts.fits},
                    {"bound", its.facts.bound.value},
                    {"estimate", its.facts.estimate.value}});
  return rows.dump();
}

std::vector<TuneCandidate> candidates_in(const std::string& text) {
  std::vector<TuneCandidate> candidates;
  const Json rows = Json::parse(text);
  for (const Json& row : rows.elements())
    candidates.push_back(
        {.point = static_cast<std::size_t>(row["point"].integer()),
         .refused = row["refused"].text(),
         .facts = {.size = {.tokens = row["tokens"].integer(), .gpus = static_cast<int>(row["gpus"].integer())},
                   .needed = Bytes{row["needed"].number()},
                   .fits = row["fits"] == Json(true),
                   .bound = Seconds{row["bound"].number()},
                   .estimate = Seconds{row["estimate"].number()}}});
  return candidates;
}

}  // namespace

std::vector<TuneCandidate> tune_candidates(const SweepPlan& plan, const std::vector<std::size_t>& points,
                                           int workers,
                                           const std::function<void(std::size_t, std::size_t)>& progress) {
  const std::size_t count = std::min(points.size(), kMostTasks);
  std::vector<ParallelTask> tasks;
  for (std::size_t task = 0; task < count; ++task) {
    tasks.push_back({"the bounds of candidates", [&plan, &points, task, count] {
                       std::vector<TuneCandidate> its;
                       for (std::size_t i = task; i < points.size(); i += count)
                         its.push_back(look_at(plan, points[i]));
                       return text_of(its);
                     }});
  }
  std::vector<TuneCandidate> candidates;
  const auto report = [&](std::size_t done) { progress(points.size() * done / count, points.size()); };
  for (const std::string& text : run_in_parallel(tasks, workers, report)) {
    std::vector<TuneCandidate> some = candidates_in(text);
    candidates.insert(candidates.end(), some.begin(), some.end());
  }
  std::ranges::sort(candidates, {}, &TuneCandidate::point);
  return candidates;
}

}  // namespace c3::app
