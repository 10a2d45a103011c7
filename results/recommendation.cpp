#include "results/recommendation.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "results/hardware_words.hpp"
#include "results/ranking.hpp"

namespace c3 { inline namespace results {
namespace {

constexpr double kNoise = 0.01;  ///< times closer than this are equal: what the model leaves out is larger

/// A part of the loss split, as the table's column is named.
struct Loss {
  Seconds LossSplit::*part;
  const char* column;
};
constexpr std::array kLosses{
    Loss{&LossSplit::dispatch, "dispatch"}, Loss{&LossSplit::cus, "CUs"},
    Loss{&LossSplit::cache, "cache"},       Loss{&LossSplit::hbm, "HBM"},
    Loss{&LossSplit::links, "links"},       Loss{&LossSplit::interaction, "interaction"}};

/// What \p next loses most beyond \p best; empty where it loses nothing more, or that was not split.
std::string avoided(const StrategyResult& best, const StrategyResult& next, std::string_view compute_units) {
  if (!best.loss || !next.loss) return "";
  const auto more = [&](const Loss& loss) { return (*next.loss).*loss.part - (*best.loss).*loss.part; };
  constexpr Seconds kShown{0.05e-6};
  const Loss* const largest = first_of(kLosses, more, kShown);
  if (largest == nullptr) return "";
  const bool is_of_units = largest->part == &LossSplit::cus;
  return fmt::format(", which loses {:.1f} us more to {}", more(*largest) / 1.0_us,
                     is_of_units ? compute_units : std::string_view(largest->column));
}

std::string faster(const StrategyResult& best, const StrategyResult& next) {
  return fmt::format("{:.1f}% faster than {}", 100 * (next.time / best.time - 1), next.name);
}

std::vector<PickedByRule> picked_by_rules(const StudyResult& study, const StrategyResult& best) {
  std::vector<PickedByRule> rules;
  for (const HeuristicPick& pick : study.heuristics)
    rules.push_back({pick, pick.time / best.time - 1.0});
  return rules;
}

/// "sp (+19.6%)", "rp with 32 CUs (+32.7%)"
std::string rule_text(const PickedByRule& rule) {
  const std::string cus = rule.pick.cus > 0 ? fmt::format(" with {} CUs", rule.pick.cus) : "";
  return fmt::format("{}{} ({:+.1f}%)", rule.pick.strategy, cus, 100 * rule.regret);
}

}  // namespace

std::optional<Recommendation> recommend(const StudyResult& study) {
  if (study.strategies.size() < 2) return std::nullopt;
  std::vector<const StrategyResult*> fastest;
  for (const StrategyResult& strategy : study.strategies)
    fastest.push_back(&strategy);
  std::ranges::stable_sort(fastest, {}, [](const StrategyResult* strategy) { return strategy->time; });
  const StrategyResult& best = *fastest[0];
  const StrategyResult& next = *fastest[1];
  const Seconds slowest = best.spread ? best.spread->p95 : best.time;
  const Seconds noise = std::max(slowest, best.time * (1 + kNoise));
  if (noise < next.time) {
    const std::string once =
        study.conditions.is_repeated() ? "" : "; of one run each: seeds may differ by more";
    return Recommendation{
        best.name, faster(best, next) + avoided(best, next, compute_units_of(study.conditions.gpu)) + once,
        picked_by_rules(study, best)};
  }
  std::vector<std::string> as_good;
  for (const StrategyResult* strategy : fastest) {
    if (strategy->time <= noise) as_good.push_back(strategy->name);
  }
  const std::string last = as_good.back();
  as_good.pop_back();
  return Recommendation{std::nullopt,
                        fmt::format("no clear winner {} {} and {}: {}",
                                    as_good.size() > 1 ? "among" : "between", fmt::join(as_good, ", "), last,
                                    slowest < next.time ? "less than 1% apart is within noise"
                                                        : "their medians are within the spread of the first"),
                        picked_by_rules(study, best)};
}

std::string recommendation_text(const Recommendation& recommendation) {
  std::string text = recommendation.strategy
                         ? fmt::format("recommended: {}, {}", *recommendation.strategy, recommendation.reason)
                         : recommendation.reason;
  std::vector<std::string> rules;
  std::ranges::transform(recommendation.rules, std::back_inserter(rules), rule_text);
  if (!rules.empty()) text += fmt::format("; runtime rules pick {}", fmt::join(rules, " and "));
  return text;
}

}}  // namespace c3::results
