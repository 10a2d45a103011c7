#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/percent.hpp"
#include "studies/figure_line.hpp"
#include "studies/selection/fifths.hpp"
#include "studies/selection/solver_baselines.hpp"

namespace c3 { inline namespace studies {
namespace {

constexpr double kAsGood = 1.05;  ///< of the least time
constexpr double kFewHuge = 1e3;  ///< ms: a handful of problems that are longer outweigh all others

struct Rule {
  std::string_view id;
  std::string_view label;
  PickRule pick;
};
constexpr std::array<Rule, 5> kRules = {{{"majority", "most often the best", pick_majority},
                                         {"kind", "most often the best of the kind", pick_majority_of_kind},
                                         {"neighbours", "vote of the 8 nearest", pick_by_neighbours},
                                         {"roofline", "roofline", pick_by_roofline},
                                         {"model", "our cost model", pick_by_model}}};

/// How good choices were.
struct Scores {
  void add(double time, double least) {
    ++rows;
    near_best += time <= kAsGood * least ? 1.0 : 0.0;
    right += time <= least ? 1.0 : 0.0;
    times += time;
    least_times += least;
    if (least >= kFewHuge) return;
    usual_times += time;
    usual_least += least;
  }

  double good() const { return kPercent * near_best / static_cast<double>(rows); }
  double best() const { return kPercent * right / static_cast<double>(rows); }
  double regret() const { return kPercent * (times / least_times - 1.0); }
  double usual_regret() const { return kPercent * (usual_times / usual_least - 1.0); }

  std::size_t rows = 0;  ///< of a choice whose time is not known nothing else: longer than all that are
  double near_best = 0.0, right = 0.0, times = 0.0, least_times = 0.0, usual_times = 0.0, usual_least = 0.0;
};

/// The listed kernel that \p trees like best.
std::size_t best_listed(const BoostedTrees& trees, const SolverProblem& problem) {
  const std::vector<double> odds = trees.log_probabilities(problem.features, problem.tokens);
  return static_cast<std::size_t>(std::ranges::max_element(odds) - odds.begin());
}

/// The place among the listed of what \p selector would choose of all that it has for the kind.
std::size_t best_of_all(const KernelSelector& selector, const SolverProblem& problem) {
  if (!selector.valid.contains(problem.kind)) return problem.tokens.size();
  const int token = selector.rank(problem.features, problem.kind, 1).front().tokens.front();
  return static_cast<std::size_t>(std::ranges::find(problem.tokens, token) - problem.tokens.begin());
}

class SolverChoice : public StudyPart {
 public:
  explicit SolverChoice(const SolverTable& table)
      : table_(table),
        by_rule_(kRules.size(), Picks(table.problems.size())),
        learned_(table.problems.size()),
        shipped_(table.problems.size()),
        open_(table.problems.size()) {}

  void plan(Jobs& jobs) override {
    std::vector<std::uint64_t> layers;
    for (const SolverProblem& problem : table_.problems)
      layers.push_back(problem.layer);
    was_chosen_ = plan_fifths(layers, jobs,
                              [this](const Rows& fitted, const Rows& held_out) { choose(fitted, held_out); });
  }

  StudyReport sections(const PublishedFigures& published) const override {
    return {listed(published), parts(published), open(published)};
  }

 private:
  using Counts = std::function<bool(const SolverProblem&)>;

  void choose(const Rows& fitted, const Rows& held_out) {
    for (const ConvolutionPass pass : kConvolutionPasses) {
      const KernelSelector selector = solver_selector(table_, fitted, pass, {});
      const KernelSelector shipped = solver_selector(table_, fitted, pass, kShippedSolvers);
      for (const std::size_t row : held_out) {
        const SolverProblem& problem = table_.problems[row];
        if (problem.shape.pass != pass) continue;
        learned_[row] = best_listed(selector.steps.front().trees, problem);
        shipped_[row] = best_listed(shipped.steps.front().trees, problem);
        open_[row] = best_of_all(selector, problem);
      }
    }
    for (std::size_t rule = 0; rule < kRules.size(); ++rule)
      kRules.at(rule).pick(table_, fitted, held_out, by_rule_[rule]);
  }

  /// Nothing where nothing was chosen.
  Scores scores_of(const Picks& picks, const Counts& counts = {}) const {
    Scores scores;
    for (std::size_t i = 0; was_chosen_ && i < picks.size(); ++i) {
      const SolverProblem& problem = table_.problems[i];
      if (counts && !counts(problem)) continue;
      if (picks[i] == problem.tokens.size())
        ++scores.rows;
      else
        scores.add(problem.times[picks[i]], problem.least());
    }
    return scores;
  }

  static StudyLine line(const PublishedFigures& published, const std::string& id, std::string label,
                        const Scores& scores) {
    StudyLine line = figure_line(published, id, std::move(label), std::nullopt);
    line.figure.kind = FigureKind::fitted;
    line.rows = scores.rows;
    if (scores.rows == 0) return line;
    line.figure.simulated = scores.good();
    line.beside = {{"best [%]", scores.best()},
                   {"lost [%]", scores.regret()},
                   {"lost below 1 s [%]", scores.usual_regret()}};
    return line;
  }

  /// Scores of choices among the kernels that the find-db lists.
  StudySection listed(const PublishedFigures& published) const {
    const std::string id = fmt::format("choice.{}.", table_.words);
    const Scores learned = scores_of(learned_);
    StudySection section{
        .heading = fmt::format("{}: kernels chosen among those that the find-db lists", table_.name),
        .lines = {line(published, id + "learned", "learned, layers left out", learned),
                  line(published, id + "shipped", "learned, as shipped: fewer trees", scores_of(shipped_))},
        .notes = {"near best: share of convolutions whose chosen kernel takes at most 5 % longer than the "
                  "best. lost: time of all chosen kernels over that of the best, less 1."},
        .value = "near best"};
    std::optional<double> least_lost;
    for (std::size_t rule = 0; rule < kRules.size(); ++rule) {
      const Scores scores = scores_of(by_rule_[rule]);
      section.lines.push_back(
          line(published, id + std::string(kRules.at(rule).id), std::string(kRules.at(rule).label), scores));
      if (scores.rows > 0) least_lost = std::min(least_lost.value_or(scores.regret()), scores.regret());
    }
    StudyLine lost =
        figure_line(published, "lost." + table_.words, "lost over the best rule's [%]", std::nullopt);
    lost.figure.kind = FigureKind::fitted;
    lost.rows = learned.rows;
    if (least_lost) lost.figure.simulated = kPercent * learned.regret() / *least_lost;
    section.lines.push_back(std::move(lost));
    return section;
  }

  /// The same by type and pass.
  StudySection parts(const PublishedFigures& published) const {
    StudySection section{.heading = fmt::format("{}: the learned choice by type and pass", table_.name),
                         .value = "near best"};
    for (const DType type : {DType::fp16, DType::fp32}) {
      for (const ConvolutionPass pass : kConvolutionPasses)
        section.lines.push_back(line(published,
                                     fmt::format("part.{}.{}.{}", table_.words, name_of(type), name_of(pass)),
                                     fmt::format("{}, {}", name_of(type), name_of(pass)),
                                     scores_of(learned_, [&](const SolverProblem& problem) {
                                       return problem.shape.dtype == type && problem.shape.pass == pass;
                                     })));
    }
    return section;
  }

  /// Scores of choices among all kernels seen for the kind.
  StudySection open(const PublishedFigures& published) const {
    const Scores scores = scores_of(open_);
    StudySection section{
        .heading = fmt::format("{}: kernels chosen among all that were seen for the kind", table_.name),
        .lines = {line(published, "open." + table_.words, "learned, layers left out", scores)},
        .notes = {"A kernel that the find-db does not list for the convolution counts as wrong."},
        .value = "near best"};
    if (scores.rows == 0) return section;
    double listed = 0.0;
    for (std::size_t i = 0; i < open_.size(); ++i)
      listed += open_[i] < table_.problems[i].tokens.size() ? 1.0 : 0.0;
    section.lines.back().beside = {{"best [%]", scores.best()},
                                   {"listed [%]", kPercent * listed / static_cast<double>(scores.rows)}};
    return section;
  }

  const SolverTable& table_;
  bool was_chosen_ = false;
  std::vector<Picks> by_rule_;  ///< shape [rules][problems]
  Picks learned_, shipped_;     ///< place among the listed, by problem; by many trees, by those shipped
  Picks open_;                  ///< place among the listed; their number: none of them
};

}  // namespace

std::unique_ptr<StudyPart> solver_choice(const SolverTable& table) {
  return std::make_unique<SolverChoice>(table);
}

}}  // namespace c3::studies
