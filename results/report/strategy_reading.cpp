#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "results/report/sections.hpp"

namespace c3 { inline namespace results {
namespace {

constexpr double kWorthNaming = 0.05;  ///< share of what is lost and gained together
constexpr double kWorthSaying = 0.01;  ///< share of the strategy's time

std::string notes_sentence(const StrategyResult& strategy) {
  return strategy.notes.empty() ? "" : fmt::format("{}. ", fmt::join(strategy.notes, "; "));
}

std::string loss_sentence(const StrategyResult& strategy) {
  if (!strategy.loss) return "";
  std::vector<std::pair<const char*, double>> parts;  // us
  parts.reserve(kLossParts.size());
  for (const auto& part : kLossParts)
    parts.emplace_back(part.name, (*strategy.loss).*part.loss / 1.0_us);
  double total = 0, moved = 0;
  for (const auto& [_, us] : parts) {
    total += us;
    moved += std::abs(us);
  }
  const double share = total / (strategy.time / 1.0_us);
  if (std::abs(share) < kWorthSaying) {
    constexpr double kTenths = 10;
    const double within = std::max(std::ceil(kTenths * 100 * std::abs(share)), 1.0) / kTenths;
    return fmt::format("Takes the ideal time, to within {:.1f}%. ", within);
  }
  std::ranges::stable_sort(parts, std::ranges::greater{},
                           [](const auto& part) { return std::abs(part.second); });
  std::string named;
  for (const auto& [name, us] : parts) {
    if (std::abs(us) < kWorthNaming * moved) continue;
    named += fmt::format("{}{} {:.1f}", named.empty() ? "" : ", ", name, us);
  }
  return fmt::format("{:.1f} us beyond ideal, {:.0f}% of its time: {}. ", total, 100 * share, named);
}

std::string slowdown_sentence(const StrategyResult& strategy) {
  std::string text;
  const auto say = [&](const char* name, const std::optional<SideTimes>& side) {
    if (!side || side->alone <= Seconds{}) return;
    text += fmt::format("{}{} {:.2f}×", text.empty() ? "" : ", ", name, side->together / side->alone);
  };
  say("kernels", strategy.kernel);
  say("collectives", strategy.collective);
  return text.empty() ? "" : "Together against alone: " + text + ". ";
}

/// Operations that were released long before their first part ran, and what that part waited for.
std::string waiting_sentences(const StrategyTimeline& timeline, const TimeAxis& axis) {
  constexpr std::size_t kMost = 2;
  std::vector<const Slice*> waiting;
  for (const auto& lane : timeline.last_gpu().streams) {
    for (const auto& slice : lane.slices) {
      const auto wait = slice.running - slice.start;
      if (slice.kind == "wait" || slice.waited_for.empty()) continue;
      if (static_cast<double>(wait) < kWorthSaying * static_cast<double>(timeline.time)) continue;
      waiting.push_back(&slice);
    }
  }
  std::ranges::stable_sort(waiting, std::ranges::greater{},
                           [](const Slice* slice) { return slice->running - slice->start; });
  std::string text;
  for (std::size_t i = 0; i < std::min(waiting.size(), kMost); ++i) {
    text += fmt::format("{} waits {} {} for {}. ", waiting[i]->name,
                        axis.text(waiting[i]->running - waiting[i]->start), axis.unit.name,
                        fmt::join(waiting[i]->waited_for, ", "));
  }
  return text;
}

}  // namespace

std::string reading(const ReportRun& run, std::size_t strategy, const TimeAxis& axis) {
  const auto& result = run.study.strategies[strategy];
  return notes_sentence(result) + loss_sentence(result) + slowdown_sentence(result) +
         waiting_sentences(run.timelines[strategy], axis);
}

}}  // namespace c3::results
