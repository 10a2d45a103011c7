#include "app/tune/tune_search.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "app/command/progress_line.hpp"
#include "app/sweep/point_source.hpp"
#include "app/sweep/sweep_run.hpp"
#include "configs/jobs/sweep_positions.hpp"
#include "configs/jobs/tune.hpp"
#include "engine/interrupt.hpp"
#include "workloads/tune/candidate_search.hpp"

namespace c3 { inline namespace app {
namespace {

/// What strategies take, in the order of \p names.
struct StrategyExpenses {
  std::vector<std::string> names;
  std::vector<Expense> takes;
};

StrategyExpenses expenses_of(const PointResult& result) {
  StrategyExpenses all;
  for (const PointNumber& number : result.numbers) {
    if (number.name != "time" && number.name != "energy") continue;
    if (all.names.empty() || all.names.back() != number.strategy) {
      all.names.push_back(number.strategy);
      all.takes.emplace_back();
    }
    if (number.name == "time") all.takes.back().time = number.value * 1.0_us;
    if (number.name == "energy") all.takes.back().energy = Joules{number.value};
  }
  return all;
}

/// Numbers of one strategy.
std::vector<PointNumber> numbers_of(const PointResult& result, const std::string& strategy) {
  std::vector<PointNumber> numbers;
  std::ranges::copy_if(result.numbers, std::back_inserter(numbers),
                       [&](const PointNumber& number) { return number.strategy == strategy; });
  return numbers;
}

/// \p what under its best strategy in \p result; absent where none has run.
std::optional<TunedCandidate> best_of(const PointResult& result, const TuneCandidate& what,
                                      Objective objective) {
  const StrategyExpenses all = expenses_of(result);
  if (result.status != PointStatus::ok || all.names.empty()) return std::nullopt;
  const std::size_t best = cheapest(objective, all.takes, what.facts.size);
  return TunedCandidate{.what = what,
                        .strategy = all.names[best],
                        .takes = all.takes[best],
                        .cost = cost_of(objective, all.takes[best], what.facts.size),
                        .numbers = numbers_of(result, all.names[best])};
}

/// The candidates as \p seeds of each make them, in a folder of their own.
SweepPlan with_seeds(const TuneRequest& request, const SweepPlan& whole, std::int64_t seeds) {
  std::vector<std::string> sets = request.sweep.sets;
  sets.push_back(fmt::format("tune.seeds={}", seeds));
  SweepPlan plan{TuneFile::load(request.sweep.file, sets).space,
                 SweepFolder(whole.folder.path() / fmt::format("seeds_{}", seeds)), whole.manifest,
                 whole.refused, whole.placements};
  plan.manifest.definition = plan.sweep.definition();
  for (std::string& id : plan.manifest.ids)
    id = point_id(fmt::format("{}, {} seeds", id, seeds));
  for (std::string& command : plan.manifest.commands)
    command += fmt::format(" --set measure.seeds={}", seeds);
  claim_folder(plan, points_of(plan, {}));
  return plan;
}

/// Candidates with some of their seeds.
struct Rung {
  const SweepPlan& plan;
  std::optional<std::int64_t> seeds;  ///< seeds for each; absent: as many as its experiment asks for
};

/// What is known of candidates that were simulated, with how many seeds each.
class Found {
 public:
  Found(Tuning& tuning, const std::vector<TuneCandidate>& candidates)
      : tuning_(tuning), candidates_(candidates), found_(candidates.size()) {}

  /// Takes the result out of the folder of \p rung. \returns whether the simulation succeeded; absent where
  /// there is no result yet
  std::optional<bool> take(std::size_t candidate, const Rung& rung) {
    const TuneCandidate& what = candidates_[candidate];
    const std::string& id = rung.plan.manifest.ids[what.point];
    const SweepFolder& folder = rung.plan.folder;
    if (!folder.has(id) && !folder.has_failed(id)) return std::nullopt;  // or its file was cut short
    const std::optional<PointResult> result = folder.read(id);
    auto best = best_of(*result, what, tuning_.goal.objective);
    if (!best && !tuning_.first_failed) tuning_.first_failed = result->error;
    if (!best) return false;
    best->seeds = rung.seeds.value_or(what.seeds);
    found_[candidate] = std::move(*best);
    return true;
  }

  /// \pre take() had a result of it
  const TunedCandidate& of(std::size_t candidate) const { return *found_[candidate]; }

 private:
  Tuning& tuning_;
  const std::vector<TuneCandidate>& candidates_;
  std::vector<std::optional<TunedCandidate>> found_;
};

/// Candidates of a search as points to simulate. What the folder has is told without a simulation.
class SearchedPoints final : public PointSource {
 public:
  SearchedPoints(const std::vector<TuneCandidate>& candidates, CandidateSearch& search, TuneCounts& counts,
                 Found& found, const Rung& rung)
      : candidates_(candidates), search_(search), counts_(counts), found_(found), rung_(rung) {}

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

 private:
  /// Tells the search what has come of candidates that it asked for.
  void collect() {
    std::erase_if(asked_, [this](std::size_t candidate) {
      const std::optional<bool> succeeded = found_.take(candidate, rung_);
      if (!succeeded) return false;
      ++(*succeeded ? counts_.simulated : counts_.failed);
      search_.tell(candidate, *succeeded ? std::optional(found_.of(candidate).cost) : std::nullopt);
      return true;
    });
  }

  const std::vector<TuneCandidate>& candidates_;
  CandidateSearch& search_;
  TuneCounts& counts_;
  Found& found_;
  const Rung& rung_;
  std::vector<std::size_t> asked_;  ///< and not told yet
  PointCounts total_;
  bool stopped_ = false;
};

SearchedCandidates searched(const Tuning& tuning, const std::vector<TuneCandidate>& candidates) {
  const std::vector<std::vector<double>> positions = positions_of(tuning.plan.sweep);
  SearchedCandidates all;
  for (const TuneCandidate& candidate : candidates) {
    all.bounds.push_back(cost_of(tuning.goal.objective, candidate.facts.bound, candidate.facts.size));
    all.estimates.push_back(cost_of(tuning.goal.objective, candidate.facts.estimate, candidate.facts.size));
    all.positions.push_back(positions[candidate.point]);
    all.left_out.push_back(candidate.is_rough);
  }
  return all;
}

/// Seeds of every candidate; absent where they differ.
std::optional<std::int64_t> common_seeds(const std::vector<TuneCandidate>& candidates) {
  if (candidates.empty()) return std::nullopt;
  const std::int64_t seeds = candidates.front().seeds;
  const bool are_alike =
      std::ranges::all_of(candidates, [&](const TuneCandidate& candidate) { return candidate.seeds == seeds; });
  return are_alike ? std::optional(seeds) : std::nullopt;
}

/// Runs one search: of all candidates with few seeds, and then of fewer with more.
class Searcher {
 public:
  Searcher(const TuneRequest& request, Tuning& tuning, const std::vector<TuneCandidate>& candidates)
      : request_(request),
        tuning_(tuning),
        candidates_(candidates),
        limits_(tuning.exact ? SearchLimits{} : limits_of(tuning.goal)),
        search_(searched(tuning, candidates), limits_),
        found_(tuning, candidates) {}

  void run() {
    const std::int64_t all = common_seeds(candidates_).value_or(1);
    std::int64_t seeds = tuning_.exact ? all : 1;
    on_rung(seeds, all, [&](const Rung& rung) { explore(rung); });
    std::vector<std::size_t> left = search_.ranking();
    while (seeds < all && !left.empty() && !interrupt_requested()) {
      seeds = std::min(2 * seeds, all);
      left.resize((left.size() + 1) / 2);
      on_rung(seeds, all, [&](const Rung& rung) { repeat(left, rung); });
      std::ranges::stable_sort(left, {}, [&](std::size_t candidate) { return found_.of(candidate).cost; });
    }
    report();
  }

 private:
  /// Calls \p simulate with candidates of \p seeds, where their experiments ask for \p all.
  template <class Simulate>
  void on_rung(std::int64_t seeds, std::int64_t all, Simulate simulate) {
    if (seeds == all) return simulate(Rung{tuning_.plan, std::nullopt});
    const SweepPlan plan = with_seeds(request_, tuning_.plan, seeds);
    simulate(Rung{plan, seeds});
  }

  void explore(const Rung& rung) {
    SearchedPoints points(candidates_, search_, tuning_.counts, found_, rung);
    ProgressLine progress(request_.quiet, "whole steps");
    const std::size_t most = std::min(limits_.budget.value_or(candidates_.size()), candidates_.size());
    run_points(rung.plan, points, how(), [&](const PointCounts&) { progress(search_.told(), most); });
  }

  void repeat(const std::vector<std::size_t>& some, const Rung& rung) {
    std::vector<std::size_t> points;
    for (const std::size_t candidate : some)
      points.push_back(candidates_[candidate].point);
    ListedPoints listed(unfinished(rung.plan, points, false));
    ProgressLine progress(request_.quiet, "whole steps with more seeds");
    run_points(rung.plan, listed, how(),
               [&](const PointCounts& done) { progress(done.simulated, points.size()); });
    for (const std::size_t candidate : some)
      if (found_.take(candidate, rung).value_or(false)) search_.revise(candidate, found_.of(candidate).cost);
  }

  SweepRun how() const { return {.workers = workers_of(request_.jobs), .limit = std::nullopt}; }

  void report() {
    for (const std::size_t candidate : search_.ranking())
      tuning_.ranking.push_back(found_.of(candidate));
    tuning_.counts.rough =
        static_cast<std::size_t>(std::ranges::count_if(candidates_, &TuneCandidate::is_rough));
    tuning_.counts.pruned = search_.pruned();
    tuning_.counts.open = search_.open();
    tuning_.worst_regret = search_.worst_regret();
    tuning_.likely_regret = search_.likely_regret();
    tuning_.broken_bounds = search_.broken_bounds();
  }

  const TuneRequest& request_;
  Tuning& tuning_;
  const std::vector<TuneCandidate>& candidates_;
  SearchLimits limits_;
  CandidateSearch search_;
  Found found_;
};

}  // namespace

int workers_of(int jobs) {
  if (jobs > 0) return jobs;
  return static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
}

void search_candidates(const TuneRequest& request, Tuning& tuning,
                       const std::vector<TuneCandidate>& candidates) {
  Searcher(request, tuning, candidates).run();
}

}}  // namespace c3::app
