#include "results/throughput_cells.hpp"

#include <fmt/format.h>

namespace c3 { inline namespace results {

std::string per_second_text(StepItem item) { return fmt::format("{}/s", name_of(item)); }

std::array<std::string, 2> throughput_texts(const std::optional<Throughput>& throughput) {
  if (!throughput) return {kAbsentCell, kAbsentCell};
  constexpr double kWhole = 1000.0;  // below it four digits, from it on whole numbers
  const auto text = [](double rate) {
    return rate < kWhole ? fmt::format("{:.4g}", rate) : fmt::format("{:.0f}", rate);
  };
  return {text(throughput->per_second), text(throughput->per_second_per_gpu())};
}

StudyCells throughput_cells(const StudyResult& study) {
  StudyCells cells;
  for (const StrategyResult& s : study.strategies) {
    if (!s.throughput || s.step) continue;
    const auto& [item, count] = s.throughput->of_step;
    if (cells.rows.empty()) {
      cells.header = {"strategy", per_second_text(item), "per GPU"};
      cells.notes = fmt::format("{} {} a step of {} GPU{}\n", count, name_of(item), s.throughput->gpus,
                                s.throughput->gpus == 1 ? "" : "s");
    }
    const auto [all, of_one] = throughput_texts(s.throughput);
    cells.rows.push_back({s.name, all, of_one});
  }
  return cells;
}

}}  // namespace c3::results
