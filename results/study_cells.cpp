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

}  // namespace

TimeUnit time_unit(const StudyResult& study) {
  Seconds longest;
  for (const auto& strategy : study.strategies)
    longest = std::max(longest, strategy.time_p95);
  return unit_for(longest);
}

StudyCells time_cells(const StudyResult& study) {
  const auto unit = time_unit(study);
  StudyCells cells{
      .header = {"strategy", "time", "p5 - p95", "bound", "speedup", "ideal", "share", "kernel", "collective",
                 "CUs"},
      .rows = {},
      .notes = fmt::format(
          "times in {}: median, 5-95 %, lower bound; kernel and collective: alone > together\n"
          "speedup over serial; share = (speedup - 1) / (ideal - 1); CUs: best of the partitions tried\n",
          unit.name)};
  for (const auto& s : study.strategies) {
    cells.rows.push_back(
        {s.name, unit.format(s.time), fmt::format("{} - {}", unit.format(s.time_p5), unit.format(s.time_p95)),
         unit.format(s.lower_bound), fmt::format("{:.3f}", s.speedup), fmt::format("{:.3f}", s.ideal_speedup),
         s.share_of_ideal ? fmt::format("{:.1f}%", 100 * *s.share_of_ideal) : kAbsentCell,
         format_side(s.kernel, unit), format_side(s.collective, unit),
         s.best_cus ? fmt::format("{}", *s.best_cus) : kAbsentCell});
  }
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
                          us(dispatch + cus + cache + hbm + links + interaction)});
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
  return fmt::format("HBM arbitration {}, dispatch {}, {} seeds{}", name_of(conditions.hbm_arbitration),
                     name_of(conditions.dispatch_policy), conditions.seeds, draws);
}

}  // namespace c3
