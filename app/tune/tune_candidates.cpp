#include "app/tune/tune_candidates.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "app/parallel_tasks.hpp"
#include "app/sweep/table_placement.hpp"
#include "base/json.hpp"
#include "configs/toml/config_error.hpp"
#include "engine/errors.hpp"

namespace c3 { inline namespace app {
namespace {

constexpr std::size_t kMostTasks = 256;   ///< each has a file in memory
constexpr std::size_t kPointsOfTask = 8;  ///< for fewer, starting a process is a large part of the time
constexpr std::size_t kWave = 64;         ///< candidates that are looked at before the best is known anew

enum class Look { rough, whole };

/// Reads point \p point, which may break a rule.
TuneCandidate look_at(const Sweep& space, std::size_t point, Look look) {
  TuneCandidate candidate{.point = point};
  try {
    const SweepPoint& values = space.points()[point];
    const auto [file, outline] = look == Look::rough ? space.with_stage(values) : space.with_outline(values);
    candidate.read.id = point_id(file.resolved_toml());
    candidate.seeds = outline.measure.seeds;
    if (is_one_stage(outline) && outline.measure.draws == 0) {
      candidate.is_rough = true;
      candidate.facts = rough_facts(outline);
      return candidate;
    }
    const PlacedFile placed = with_placed_tables(file);
    candidate.placement = placed.placement;
    const auto make = [&](std::optional<std::uint64_t> draw) { return placed.file.make(draw); };
    candidate.facts =
        candidate.placement ? candidate_facts(make(std::nullopt), make) : candidate_facts(outline, make);
  } catch (const ConfigError& error) {
    candidate.refused = candidate.read.refused = error.what();
  } catch (const InfeasibleError& error) {
    candidate.refused = error.what();
  }
  return candidate;
}

/// Before processes are made, which then have what they share.
void read_presets(const Sweep& space) {
  try {
    space.experiment(space.points().front());
  } catch (const ConfigError&) {  // whoever looks at it says so
  }
}

Json numbers_of(const Expense& expense) { return {{"s", expense.time.value}, {"j", expense.energy.value}}; }
Expense expense_in(const Json& json) { return {Seconds{json["s"].number()}, Joules{json["j"].number()}}; }

std::string text_of(const std::vector<TuneCandidate>& candidates) {
  Json rows = Json::array();
  for (const TuneCandidate& candidate : candidates)
    rows.push_back({{"point", candidate.point},
                    {"id", candidate.read.id},
                    {"wrong", candidate.read.refused},
                    {"refused", candidate.refused},
                    {"tokens", candidate.facts.size.tokens},
                    {"gpus", candidate.facts.size.gpus},
                    {"usd_per_gpu_hour", candidate.facts.size.usd_per_gpu_hour},
                    {"needed", candidate.facts.needed.value},
                    {"fits", candidate.facts.fits},
                    {"bound", numbers_of(candidate.facts.bound)},
                    {"estimate", numbers_of(candidate.facts.estimate)},
                    {"seeds", candidate.seeds},
                    {"placement", candidate.placement ? Json(*candidate.placement) : Json()},
                    {"is_rough", candidate.is_rough}});
  return rows.dump();
}

std::optional<Placement> placement_in(const Json& json) {
  if (json.is_null()) return std::nullopt;
  Placement placement;
  for (const Json& rank : json.elements())
    placement.push_back(static_cast<int>(rank.integer()));
  return placement;
}

std::vector<TuneCandidate> candidates_in(const std::string& text) {
  std::vector<TuneCandidate> candidates;
  const Json rows = Json::parse(text);
  for (const Json& row : rows.elements())
    candidates.push_back({.point = static_cast<std::size_t>(row["point"].integer()),
                          .read = {.id = row["id"].text(), .refused = row["wrong"].text()},
                          .refused = row["refused"].text(),
                          .facts = {.size = {.tokens = row["tokens"].integer(),
                                             .gpus = static_cast<int>(row["gpus"].integer()),
                                             .usd_per_gpu_hour = row["usd_per_gpu_hour"].number()},
                                    .needed = Bytes{row["needed"].number()},
                                    .fits = row["fits"] == Json(true),
                                    .bound = expense_in(row["bound"]),
                                    .estimate = expense_in(row["estimate"])},
                          .seeds = row["seeds"].integer(),
                          .placement = placement_in(row["placement"]),
                          .is_rough = row["is_rough"] == Json(true)});
  return candidates;
}

using Progress = std::function<void(std::size_t, std::size_t)>;

/// Looks at \p points, in parallel, and puts what it finds at their places of \p candidates.
void look_at_all(const Sweep& space, const std::vector<std::size_t>& points, Look look, int workers,
                 const Progress& progress, std::vector<TuneCandidate>& candidates) {
  const auto all_busy = static_cast<std::size_t>(4 * workers);
  const std::size_t count =
      std::min({points.size(), kMostTasks, std::max(points.size() / kPointsOfTask, all_busy)});
  std::vector<ParallelTask> tasks;
  for (std::size_t task = 0; task < count; ++task) {
    tasks.push_back({"the bounds of candidates", [&space, &points, look, task, count] {
                       std::vector<TuneCandidate> looked_at;
                       for (std::size_t i = task; i < points.size(); i += count)
                         looked_at.push_back(look_at(space, points[i], look));
                       return text_of(looked_at);
                     }});
  }
  const auto report = [&](std::size_t done) { progress(points.size() * done / count, points.size()); };
  for (const std::string& text : run_in_parallel(tasks, workers, report)) {
    for (TuneCandidate& candidate : candidates_in(text))
      candidates[candidate.point] = std::move(candidate);
  }
}

/// Uses the rough estimates of candidates to look closer at those that may be among the best.
class CloserLooks {
 public:
  CloserLooks(const TuneGoal& goal, std::vector<TuneCandidate>& candidates)
      : goal_(goal), candidates_(candidates) {
    for (const TuneCandidate& candidate : candidates) {
      if (may_run(candidate))
        (candidate.is_rough ? left_.push_back(candidate.point) : keep_best(candidate.point));
    }
    std::ranges::sort(left_, {}, [this](std::size_t point) { return std::pair(cost(point), point); });
  }

  /// The next ones to look at, the most promising first; none where all others are ruled out.
  std::vector<std::size_t> next() {
    std::vector<std::size_t> wave;
    while (wave.size() < kWave && next_ < left_.size() && may_win(left_[next_]))
      wave.push_back(left_[next_++]);
    return wave;
  }
  /// Candidates that were looked at.
  void take(const std::vector<std::size_t>& wave) {
    for (const std::size_t point : wave)
      if (may_run(candidates_[point])) keep_best(point);
  }
  /// How many candidates are not known to be ruled out.
  std::size_t wanted() const {
    return static_cast<std::size_t>(
        std::ranges::count_if(left_, [this](std::size_t point) { return may_win(point); }));
  }
  std::size_t done() const { return next_; }

 private:
  bool may_run(const TuneCandidate& candidate) const {
    return candidate.refused.empty() && candidate.facts.fits &&
           !(goal_.most_gpus && candidate.facts.size.gpus > *goal_.most_gpus);
  }
  double cost(std::size_t point) const {
    const CandidateFacts& facts = candidates_[point].facts;
    return cost_of(goal_.objective, facts.estimate, facts.size);
  }
  bool may_win(std::size_t point) const { return !best_ || cost(point) <= (1.0 + kRoughMargin) * *best_; }
  void keep_best(std::size_t point) { best_ = std::min(best_.value_or(cost(point)), cost(point)); }

  const TuneGoal& goal_;
  const std::vector<TuneCandidate>& candidates_;
  std::vector<std::size_t> left_;  ///< points with rough facts, by their cost
  std::size_t next_ = 0;
  std::optional<double> best_;  ///< cost of a whole estimate
};

}  // namespace

std::vector<TuneCandidate> tune_candidates(const Sweep& space, const TuneGoal& goal, bool needs_all,
                                           int workers, const Progress& progress) {
  std::vector<std::size_t> points(space.points().size());
  std::iota(points.begin(), points.end(), std::size_t{0});
  std::vector<TuneCandidate> candidates(points.size());
  read_presets(space);
  const bool is_rough = !needs_all && points.size() > kManyCandidates;
  look_at_all(space, points, is_rough ? Look::rough : Look::whole, workers, progress, candidates);
  if (!is_rough) return candidates;
  CloserLooks closer(goal, candidates);
  for (std::vector<std::size_t> wave = closer.next(); !wave.empty(); wave = closer.next()) {
    const std::size_t before = closer.done() - wave.size();
    const auto report = [&](std::size_t done, std::size_t) { progress(before + done, closer.wanted()); };
    look_at_all(space, wave, Look::whole, workers, report, candidates);
    closer.take(wave);
  }
  return candidates;
}

}}  // namespace c3::app
