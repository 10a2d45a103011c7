#include "results/study_cells.hpp"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

namespace c3 {
namespace {

std::string format_times(const SideTimes& times, const TimeUnit& unit) {
  return fmt::format("{} > {}", unit.format(times.alone), unit.format(times.together));
}

std::string format_side(const std::optional<SideTimes>& side, const TimeUnit& unit) {
  return side ? format_times(*side, unit) : kAbsentCell;
}

std::string format_spread(const std::optional<TimeSpread>& spread, const TimeUnit& unit) {
  return spread ? fmt::format("{} - {}", unit.format(spread->p5), unit.format(spread->p95)) : kAbsentCell;
}

}  // namespace

TimeUnit time_unit(const StudyResult& study) {
  Seconds longest;
  for (const auto& strategy : study.strategies)
    longest = std::max(longest, strategy.spread ? strategy.spread->p95 : strategy.time);
  return unit_for(longest);
}

StudyCells time_cells(const StudyResult& study) {
  const auto unit = time_unit(study);
  const bool has_spread =
      std::ranges::any_of(study.strategies, [](const StrategyResult& s) { return s.spread.has_value(); });
  StudyCells cells{
      .header = {"strategy", "time", "bound", "speedup", "ideal", "share", "kernel", "collective", "CUs"},
      .rows = {},
      .notes = fmt::format(
          "times in {}: {}, lower bound; kernel and collective: alone > together\n"
          "speedup over serial; share = (speedup - 1) / (ideal - 1); CUs: best of the partitions tried\n",
          unit.name, has_spread ? "median, 5-95 %" : "of one run")};
  for (const auto& s : study.strategies) {
    cells.rows.push_back({s.name, unit.format(s.time), unit.format(s.lower_bound), fmt::format("{:.3f}", s.speedup),
                          fmt::format("{:.3f}", s.ideal_speedup),
                          s.share_of_ideal ? fmt::format("{:.1f}%", 100 * *s.share_of_ideal) : kAbsentCell,
                          format_side(s.kernel, unit), format_side(s.collective, unit),
                          s.best_cus ? fmt::format("{}", *s.best_cus) : kAbsentCell});
    if (has_spread) cells.rows.back().insert(cells.rows.back().begin() + 2, format_spread(s.spread, unit));
  }
  if (has_spread) cells.header.insert(cells.header.begin() + 2, "p5 - p95");
  return cells;
}

StudyCells loss_cells(const StudyResult& study) {
  StudyCells cells{.header = {"loss [us]", "dispatch", "CUs", "cache", "HBM", "links", "interaction", "total"},
                   .rows = {},
                   .notes = "time beyond ideal, by the resource whose sharing causes it (Shapley values)\n"};
  const auto us = [](Seconds loss) {
    const std::string text = fmt::format("{:.1f}", loss / 1.0_us);
    return text == "-0.0" ? "0.0" : text;
  };
  for (const auto& s : study.strategies) {
    if (!s.loss) continue;
    const auto& [dispatch, cus, cache, hbm, links, interaction] = *s.loss;
    cells.rows.push_back({s.name, us(dispatch), us(cus), us(cache), us(hbm), us(links), us(interaction),
                          us(s.loss->total())});
  }
  return cells;
}

StudyCells stream_cells(const StudyResult& study) {
  const auto unit = time_unit(study);
  StudyCells cells{
      .header = {"stream"},
      .rows = {},
      .notes = fmt::format("times in {}: alone > together; alone they are the parts of ideal\n", unit.name)};
  for (const auto& s : study.strategies) {
    if (s.streams.empty()) continue;
    if (cells.rows.empty()) {
      for (const StreamTimes& stream : s.streams)
        cells.header.push_back(stream.name);
    }
    cells.rows.push_back({s.name});
    for (const StreamTimes& stream : s.streams)
      cells.rows.back().push_back(format_times(stream.times, unit));
  }
  return cells;
}

std::string conditions_text(const StudyConditions& conditions) {
  const std::string draws = conditions.draws > 0 ? fmt::format(" x {} draws", conditions.draws) : "";
  return fmt::format("HBM arbitration {}, dispatch {}, {} seed{}{}", name_of(conditions.hbm_arbitration),
                     name_of(conditions.dispatch_policy), conditions.seeds, conditions.seeds == 1 ? "" : "s",
                     draws);
}

}  // namespace c3
