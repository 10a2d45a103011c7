#include "results/table.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include <fmt/format.h>

#include "results/text_table.hpp"

namespace c3 {
namespace {

constexpr const char* kAbsent = "-";

/// One unit for all times of a table, so that they compare at a glance, with four digits for the longest.
struct TimeUnit {
  const char* name;
  Seconds size;
  int decimals;

  std::string format(Seconds time) const { return fmt::format("{:.{}f}", time / size, decimals); }
};

TimeUnit unit_for(Seconds longest) {
  constexpr std::array kUnits{TimeUnit{"us", 1.0_us, 3}, TimeUnit{"ms", 1.0_ms, 3}, TimeUnit{"s", 1.0_s, 3}};
  constexpr double kReadable = 1000;  // larger numbers go to the next unit
  auto unit = *std::find_if(kUnits.begin(), kUnits.end() - 1,
                            [&](const TimeUnit& candidate) { return longest / candidate.size < kReadable; });
  for (double limit = 10; longest / unit.size >= limit && unit.decimals > 0; limit *= 10)
    --unit.decimals;
  return unit;
}

Seconds longest_time(const StudyResult& study) {
  Seconds longest;
  for (const auto& strategy : study.strategies)
    longest = std::max(longest, strategy.time_p95);
  return longest;
}

std::string format_side(const std::optional<SideTimes>& side, const TimeUnit& unit) {
  return side ? fmt::format("{} > {}", unit.format(side->alone), unit.format(side->together)) : kAbsent;
}

std::string format_times(const StudyResult& study) {
  const auto unit = unit_for(longest_time(study));
  TextTable table(
      {"strategy", "time", "p5 - p95", "bound", "speedup", "ideal", "share", "kernel", "collective", "CUs"});
  for (const auto& s : study.strategies) {
    table.add(
        {s.name, unit.format(s.time), fmt::format("{} - {}", unit.format(s.time_p5), unit.format(s.time_p95)),
         unit.format(s.lower_bound), fmt::format("{:.3f}", s.speedup), fmt::format("{:.3f}", s.ideal_speedup),
         s.share_of_ideal ? fmt::format("{:.1f}%", 100 * *s.share_of_ideal) : kAbsent,
         format_side(s.kernel, unit), format_side(s.collective, unit),
         s.best_cus ? fmt::format("{}", *s.best_cus) : kAbsent});
  }
  return table.text() +
         fmt::format(
             "times in {}: median, 5-95 %, lower bound; kernel and collective: alone > together\n"
             "speedup over serial; share = (speedup - 1) / (ideal - 1); CUs: best of the partitions tried\n",
             unit.name);
}

std::string format_losses(const StudyResult& study) {
  TextTable table({"loss [us]", "dispatch", "CUs", "cache", "HBM", "links", "interaction", "total"});
  const auto us = [](Seconds loss) {
    const std::string text = fmt::format("{:.1f}", loss / 1.0_us);
    return text == "-0.0" ? "0.0" : text;
  };
  for (const auto& s : study.strategies) {
    if (!s.loss) continue;
    const auto& [dispatch, cus, cache, hbm, links, interaction] = *s.loss;
    table.add({s.name, us(dispatch), us(cus), us(cache), us(hbm), us(links), us(interaction),
               us(dispatch + cus + cache + hbm + links + interaction)});
  }
  return table.text() + "time beyond ideal, by the resource whose sharing causes it (Shapley values)\n";
}

std::string format_conditions(const StudyResult& study) {
  const StudyConditions& conditions = study.conditions;
  const std::string draws = conditions.draws > 0 ? fmt::format(" x {} draws", conditions.draws) : "";
  return fmt::format("{} on {}: HBM arbitration {}, dispatch {}, {} seeds{}\n\n", study.experiment,
                     conditions.system, name_of(conditions.hbm_arbitration),
                     name_of(conditions.dispatch_policy), conditions.seeds, draws);
}

}  // namespace

std::string format_study(const StudyResult& study) {
  const auto has_loss = [](const StrategyResult& strategy) { return strategy.loss.has_value(); };
  auto text = format_conditions(study) + format_times(study);
  if (std::ranges::any_of(study.strategies, has_loss)) text += '\n' + format_losses(study);
  return text;
}

}  // namespace c3
