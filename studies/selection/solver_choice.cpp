#include "studies/selection/solver_choice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "gpu/calibration/cross_validation.hpp"

namespace c3 { inline namespace studies {
namespace {

constexpr std::size_t kFolds = 5;
constexpr std::size_t kFewestLayers = 20;
constexpr std::uint64_t kSeed = 1;
constexpr double kPercent = 100.0;
constexpr double kAsGood = 1.05;  ///< of the least time
constexpr double kFewHuge = 1e3;  ///< ms: a handful of problems that are longer outweigh all others
constexpr std::array kPasses = {ConvolutionPass::forward, ConvolutionPass::data, ConvolutionPass::weight};
constexpr std::array kTypes = {DType::fp16, DType::fp32};

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
class Scores {
 public:
  void add(double time, double least) {
    ++rows_;
    good_ += time <= kAsGood * least ? 1.0 : 0.0;
    best_ += time <= least ? 1.0 : 0.0;
    time_ += time;
    least_ += least;
    if (least >= kFewHuge) return;
    usual_time_ += time;
    usual_least_ += least;
  }
  /// A choice whose time is not known: longer than all that are.
  void add_unknown() { ++rows_; }

  std::size_t rows() const { return rows_; }
  double good() const { return kPercent * good_ / static_cast<double>(rows_); }
  double best() const { return kPercent * best_ / static_cast<double>(rows_); }
  double regret() const { return kPercent * (time_ / least_ - 1.0); }

  StudyLine line(PublishedFigure of, FigureKind kind, std::string label) const {
    StudyLine line{.figure = {.of = std::move(of), .kind = kind}, .label = std::move(label), .rows = rows_};
    if (rows_ == 0) return line;
    line.figure.simulated = good();
    line.beside = {{"best [%]", best()},
                   {"lost [%]", regret()},
                   {"lost below 1 s [%]", kPercent * (usual_time_ / usual_least_ - 1.0)}};
    return line;
  }

 private:
  std::size_t rows_ = 0;
  double good_ = 0.0, best_ = 0.0, time_ = 0.0, least_ = 0.0, usual_time_ = 0.0, usual_least_ = 0.0;
};

Scores scores_of(
    const SolverTable& of, const Picks& picks,
    const std::function<bool(const SolverProblem&)>& counts = [](const SolverProblem&) { return true; }) {
  Scores scores;
  for (std::size_t i = 0; i < picks.size(); ++i)
    if (counts(of.problems[i])) scores.add(of.problems[i].times[picks[i]], of.problems[i].least());
  return scores;
}

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

}  // namespace

SolverChoice::SolverChoice(const SolverTable& of)
    : of_(of),
      by_rule_(kRules.size(), Picks(of.problems.size())),
      learned_(of.problems.size()),
      shipped_(of.problems.size()),
      open_(of.problems.size()) {}

void SolverChoice::choose(const Rows& fitted, const Rows& held_out) {
  for (const ConvolutionPass pass : kPasses) {
    const KernelSelector selector = solver_selector(of_, fitted, pass, {});
    const KernelSelector shipped = solver_selector(of_, fitted, pass, kShippedSolvers);
    for (const std::size_t row : held_out) {
      const SolverProblem& problem = of_.problems[row];
      if (problem.shape.pass != pass) continue;
      learned_[row] = best_listed(selector.steps.front().trees, problem);
      shipped_[row] = best_listed(shipped.steps.front().trees, problem);
      open_[row] = best_of_all(selector, problem);
    }
  }
  for (std::size_t rule = 0; rule < kRules.size(); ++rule)
    kRules[rule].pick(of_, fitted, held_out, by_rule_[rule]);
}

void SolverChoice::plan(Jobs& jobs) {
  std::vector<std::uint64_t> layers;
  for (const SolverProblem& problem : of_.problems)
    layers.push_back(problem.layer);
  if (std::set<std::uint64_t>(layers.begin(), layers.end()).size() < kFewestLayers) return;
  was_chosen_ = true;
  for (const Split& split : folds_by_key(layers, kFolds, kSeed))
    jobs.emplace_back([this, split] { choose(split.fitted, split.held_out); });
}

StudySection SolverChoice::listed(const PublishedFigures& published) const {
  StudySection section{
      .heading = fmt::format("{}: kernels chosen among those that the find-db lists", of_.name),
      .lines = {},
      .notes = {"near best: share of convolutions whose chosen kernel takes at most 5 % longer than the "
                "best. lost: time of all chosen kernels over that of the best, less 1."},
      .value = "near best"};
  const Scores learned = was_chosen_ ? scores_of(of_, learned_) : Scores();
  section.lines.push_back(learned.line(published.find(fmt::format("choice.{}.learned", of_.words)),
                                       FigureKind::fitted, "learned, layers left out"));
  section.lines.push_back((was_chosen_ ? scores_of(of_, shipped_) : Scores())
                              .line(published.find(fmt::format("choice.{}.shipped", of_.words)),
                                    FigureKind::fitted, "learned, as shipped: fewer trees"));
  double least_lost = 0.0;
  for (std::size_t rule = 0; rule < kRules.size(); ++rule) {
    const Scores scores = was_chosen_ ? scores_of(of_, by_rule_[rule]) : Scores();
    section.lines.push_back(scores.line(published.find(fmt::format("choice.{}.{}", of_.words, kRules[rule].id)),
                                        FigureKind::fitted, std::string(kRules[rule].label)));
    if (scores.rows() > 0 && (rule == 0 || scores.regret() < least_lost)) least_lost = scores.regret();
  }
  StudyLine lost{.figure = {.of = published.find("lost." + of_.words), .kind = FigureKind::fitted},
                 .label = "lost over the best rule's [%]",
                 .rows = learned.rows()};
  if (learned.rows() > 0) lost.figure.simulated = kPercent * learned.regret() / least_lost;
  section.lines.push_back(std::move(lost));
  return section;
}

StudySection SolverChoice::parts(const PublishedFigures& published) const {
  StudySection section{.heading = fmt::format("{}: the learned choice by type and pass", of_.name),
                       .lines = {},
                       .notes = {},
                       .value = "near best"};
  for (const DType type : kTypes) {
    for (const ConvolutionPass pass : kPasses) {
      const auto counts = [&](const SolverProblem& problem) {
        return problem.shape.dtype == type && problem.shape.pass == pass;
      };
      section.lines.push_back(
          (was_chosen_ ? scores_of(of_, learned_, counts) : Scores())
              .line(published.find(fmt::format("part.{}.{}.{}", of_.words, name_of(type), name_of(pass))),
                    FigureKind::fitted, fmt::format("{}, {}", name_of(type), name_of(pass))));
    }
  }
  return section;
}

StudySection SolverChoice::open(const PublishedFigures& published) const {
  StudySection section{
      .heading = fmt::format("{}: kernels chosen among all that were seen for the kind", of_.name),
      .lines = {},
      .notes = {"A kernel that the find-db does not list for the convolution counts as wrong."},
      .value = "near best"};
  Scores scores;
  std::size_t listed = 0;
  for (std::size_t i = 0; was_chosen_ && i < open_.size(); ++i) {
    const SolverProblem& problem = of_.problems[i];
    if (open_[i] == problem.tokens.size()) {
      scores.add_unknown();
      continue;
    }
    ++listed;
    scores.add(problem.times[open_[i]], problem.least());
  }
  StudyLine line{.figure = {.of = published.find("open." + of_.words), .kind = FigureKind::fitted},
                 .label = "learned, layers left out",
                 .rows = scores.rows()};
  if (scores.rows() > 0) {
    line.figure.simulated = scores.good();
    line.beside = {{"best [%]", scores.best()},
                   {"listed [%]", kPercent * static_cast<double>(listed) / static_cast<double>(scores.rows())}};
  }
  section.lines.push_back(std::move(line));
  return section;
}

}}  // namespace c3::studies
