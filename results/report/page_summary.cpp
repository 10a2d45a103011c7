#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "results/recommendation.hpp"
#include "results/report/sections.hpp"

namespace c3 { inline namespace results {
namespace {

std::string time_text(const TimeAxis& axis, Seconds time) {
  return fmt::format("{} {}", axis.unit.format(time), axis.unit.name);
}

std::string fastest(const ReportRun& run, const TimeAxis& axis) {
  const auto& strategies = run.study.strategies;
  if (strategies.empty()) return "";
  const auto& best = *std::ranges::min_element(strategies, {}, &StrategyResult::time);
  auto text = fmt::format("fastest is {}, {}", best.name, time_text(axis, best.time));
  if (best.share_of_ideal) text += fmt::format(", {:.1f}% of ideal", 100 * *best.share_of_ideal);
  if (best.kernel) text += fmt::format("; kernels alone take {}", time_text(axis, best.kernel->alone));
  if (best.collective) text += fmt::format(", collectives alone {}", time_text(axis, best.collective->alone));
  return text;
}

/// A strategy's loss to one resource on two systems.
struct LossChange {
  std::string strategy;
  const char* part = "";
  Seconds before, after;
  double size() const { return std::abs((after - before) / 1.0_us); }
};

/// The loss that differs most between the same strategies of \p first and \p other.
std::optional<LossChange> largest_change(const ReportRun& first, const ReportRun& other) {
  std::optional<LossChange> largest;
  for (const auto& strategy : other.study.strategies) {
    const auto index = first.index_of(strategy.name);
    if (!index || !strategy.loss || !first.study.strategies[*index].loss) continue;
    for (const auto& part : kLossParts) {
      const LossChange change{strategy.name, part.name, (*first.study.strategies[*index].loss).*part.loss,
                              (*strategy.loss).*part.loss};
      if (!largest || change.size() > largest->size()) largest = change;
    }
  }
  return largest;
}

}  // namespace

std::vector<std::string> summary(const ReportScope& scope) {
  std::vector<std::string> sentences;
  for (const auto& run : scope.runs) {
    auto sentence = run.label + ": " + fastest(run, scope.axis);
    if (const auto recommendation = recommend(run.study))
      sentence += "; " + recommendation_text(*recommendation);
    sentences.push_back(sentence + ".");
  }
  for (std::size_t i = 1; i < scope.runs.size(); ++i) {
    if (scope.runs[i].study.experiment != scope.runs.front().study.experiment) continue;
    const auto change = largest_change(scope.runs.front(), scope.runs[i]);
    if (!change || change->size() == 0) continue;
    sentences.push_back(fmt::format("The loss that differs most: {} in {}, {:.1f} us on {}, {:.1f} us on {}.",
                                    change->part, change->strategy, change->before / 1.0_us,
                                    scope.runs.front().label, change->after / 1.0_us, scope.runs[i].label));
  }
  return sentences;
}

}}  // namespace c3::results
