#include "results/study_cells.hpp"

#include <algorithm>
#include <iterator>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "results/hardware_words.hpp"
#include "results/step_cells.hpp"

namespace c3 { inline namespace results {
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

bool has_spread(const StudyResult& study) {
  return std::ranges::any_of(study.strategies, [](const StrategyResult& s) { return s.spread.has_value(); });
}

/// Ranks of one name whose times and memory read the same.
struct RanksAlike {
  std::string name;
  std::vector<std::string> figures;
  RankRanges ranks;

  std::vector<std::string> row() const {
    std::vector<std::string> cells{name, text_of(ranks), fmt::format("{}", count_of(ranks))};
    std::ranges::copy(figures, std::back_inserter(cells));
    return cells;
  }
};

bool has_memory(const StrategyResult& strategy) {
  return std::ranges::any_of(strategy.classes,
                             [](const auto& rank_class) { return rank_class.memory.has_value(); });
}

bool has_bubble(const StrategyResult& strategy) {
  return strategy.step && strategy.step->facts.pipeline &&
         std::ranges::any_of(strategy.classes,
                             [](const auto& rank_class) { return rank_class.times.bubble > Seconds{}; });
}

/// Columns that not every study has.
struct RankColumns {
  bool bubble = false, memory = false;
};

std::vector<RanksAlike> ranks_alike(const StrategyResult& strategy, const TimeUnit& unit, RankColumns with) {
  std::vector<RanksAlike> all;
  for (const SimulatedClass& rank_class : strategy.classes) {
    const std::string name =
        fmt::format("{} {}", strategy.name, rank_class.name.empty() ? kAbsentCell : rank_class.name);
    std::vector<std::string> figures{unit.format(rank_class.times.kernels),
                                     unit.format(rank_class.times.communication),
                                     unit.format(rank_class.times.exposed), unit.format(rank_class.times.idle)};
    if (with.bubble)
      figures.push_back(has_bubble(strategy) ? unit.format(rank_class.times.bubble) : kAbsentCell);
    if (with.memory) figures.push_back(rank_class.memory ? gigabytes(*rank_class.memory) : kAbsentCell);
    auto found = std::ranges::find_if(
        all, [&](const RanksAlike& known) { return known.name == name && known.figures == figures; });
    if (found == all.end()) found = all.insert(found, {name, figures, {}});
    found->ranks = united(found->ranks, rank_class.ranks);
  }
  return all;
}

/// Why some shares are above 100 %; empty where none is.
std::string beyond_ideal(const StudyResult& study) {
  constexpr double kShown = 1.0005;  // 100.1%
  std::vector<std::string> names;
  for (const auto& s : study.strategies) {
    if (s.share_of_ideal && *s.share_of_ideal >= kShown) names.push_back(s.name);
  }
  if (names.empty()) return "";
  const std::string text =
      fmt::format("share above 100%: faster than the isolated runs (default backend, all {}) that make ideal:",
                  compute_units_of(study.conditions.gpu));
  const std::string list = fmt::format("{}", fmt::join(names, ", "));
  constexpr std::size_t kWidth = 110;
  return text + (text.size() + 1 + list.size() <= kWidth ? " " : "\n") + list + "\n";
}

/// What the power limit leaves of the clock; empty where power is not known.
std::string clock_note(const StudyResult& study) {
  std::vector<std::string> parts;
  const auto add = [&](const std::string& name, const std::optional<RunClock>& clock) {
    if (clock) parts.push_back(fmt::format("{} {:.1f}%", name, 100.0 * clock->speed));
  };
  if (!study.strategies.empty()) add("kernels alone", study.strategies.front().kernel_clock);
  for (const StrategyResult& strategy : study.strategies)
    add(strategy.name, strategy.clock);
  if (parts.empty()) return "";
  return fmt::format("core clock, of boost, as the power limit leaves it: {}\n", fmt::join(parts, ", "));
}

/// A note on a rate that no measurement of this part says; empty in a burst, which has no such rate.
std::string level_note(const StudyConditions& conditions) {
  const std::optional<SustainedLevel>& level = conditions.level;
  if (!level || conditions.clock_state == ClockState::burst) return "";
  const auto tflops = [](FlopsPerSecond rate) { return fmt::format("{:.4g}", rate / 1.0_TFLOPs); };
  std::string range;
  if (level->low && level->high)
    range = fmt::format(" ({} to {}, +-10 %)", tflops(*level->low), tflops(*level->high));
  const std::string settles =
      fmt::format("large 16-bit products sustain {} TFLOP/s{}: ", tflops(level->rate), range);
  switch (level->evidence) {
    case LevelEvidence::none:
      return settles + "no part of this chip, board and limit was measured\n";
    case LevelEvidence::relative:
      return settles + fmt::format("as {}, of the same chip, board and limit\n", level->measured_on);
    case LevelEvidence::measured:
    case LevelEvidence::node:
      break;
  }
  return "";
}

/// A bound so many times the time says nothing of it.
constexpr double kBounded = 3.0;

std::string estimate_note(const StudyResult& study) {
  const TimeUnit unit = time_unit(study);
  std::string text;
  for (const StrategyResult& strategy : study.strategies)
    if (strategy.estimate)
      text += fmt::format("{}: {}\n", strategy.name, estimate_text(*strategy.estimate, strategy.time, unit));
  return text;
}

std::string time_notes(const StudyResult& study) {
  const bool has_sides = first_step(study) == nullptr;
  std::string notes = fmt::format("times in {}: {}bound: no run can be faster{}\n", time_unit(study).name,
                                  has_spread(study) ? "median, 5-95 %; " : "",
                                  has_sides ? "; kernel, collective: alone > together" : "");
  notes += "speedup over serial; ideal: speedup of a perfect overlap; share = (speedup - 1) / (ideal - 1)\n";
  if (std::ranges::any_of(study.strategies, [](const StrategyResult& s) { return s.best_cus.has_value(); }))
    notes += fmt::format("{}: the best of the partitions tried\n", compute_units_of(study.conditions.gpu));
  return notes + estimate_note(study) + clock_note(study) + level_note(study.conditions) + beyond_ideal(study);
}

}  // namespace

std::string estimate_text(const Estimate& estimate, Seconds time, const TimeUnit& unit) {
  const std::string bound =
      estimate.bound ? fmt::format(", within {:.2f}% at 95% confidence", 100.0 * *estimate.bound) : "";
  const std::string range =
      estimate.high > kBounded * time
          ? fmt::format("{} or more, by loads that differ too much for an upper bound",
                        unit.format(estimate.low))
          : fmt::format("{} to {}", unit.format(estimate.low), unit.format(estimate.high));
  return fmt::format("estimate by {}{}, {}, {:.3g}% simulated", estimate.method, bound, range,
                     100.0 * estimate.simulated);
}

StudyCells time_cells(const StudyResult& study) {
  const auto unit = time_unit(study);
  const bool is_repeated = has_spread(study);
  // Kernels and collectives of a step run many times; from the first to the last of them is most of the step.
  const bool has_sides = first_step(study) == nullptr;
  const bool has_partitions =
      std::ranges::any_of(study.strategies, [](const StrategyResult& s) { return s.best_cus.has_value(); });
  StudyCells cells{.header = {"strategy", "time"}, .rows = {}, .notes = time_notes(study)};
  const auto add_columns = [](std::vector<std::string>& row, bool is_shown, std::vector<std::string> more) {
    if (is_shown) std::ranges::move(more, std::back_inserter(row));
  };
  add_columns(cells.header, is_repeated, {"p5 - p95"});
  add_columns(cells.header, true, {"bound", "speedup", "ideal", "share"});
  add_columns(cells.header, has_sides, {"kernel", "collective"});
  add_columns(cells.header, has_partitions, {std::string(compute_units_of(study.conditions.gpu))});
  for (const auto& s : study.strategies) {
    auto& row = cells.rows.emplace_back(std::vector{s.name, unit.format(s.time)});
    add_columns(row, is_repeated, {format_spread(s.spread, unit)});
    const auto ratio = [](std::optional<double> value) {
      return value ? fmt::format("{:.3f}", *value) : kAbsentCell;
    };
    add_columns(row, true,
                {unit.format(s.lower_bound), ratio(s.speedup), ratio(s.ideal_speedup),
                 s.share_of_ideal ? fmt::format("{:.1f}%", 100 * *s.share_of_ideal) : kAbsentCell});
    add_columns(row, has_sides, {format_side(s.kernel, unit), format_side(s.collective, unit)});
    add_columns(row, has_partitions, {s.best_cus ? fmt::format("{}", *s.best_cus) : kAbsentCell});
  }
  return cells;
}

StudyCells loss_cells(const StudyResult& study) {
  StudyCells cells{.header = {"loss [us]", "dispatch", std::string(compute_units_of(study.conditions.gpu)),
                              "cache", "HBM", "links", "interaction", "total"},
                   .rows = {},
                   .notes =
                       "time beyond ideal, by the resource whose sharing causes it (Shapley values)\n"
                       "interaction: what stays when nothing is shared; below 0 where a backend is faster than "
                       "when isolated\n"};
  const auto us = [](Seconds loss) {
    const std::string text = fmt::format("{:.1f}", loss / 1.0_us);
    return text == "-0.0" ? "0.0" : text;
  };
  for (const auto& s : study.strategies) {
    if (!s.loss) continue;
    const auto& [dispatch, cus, cache, hbm, links, interaction] = *s.loss;
    cells.rows.push_back(
        {s.name, us(dispatch), us(cus), us(cache), us(hbm), us(links), us(interaction), us(s.loss->total())});
  }
  return cells;
}

StudyCells stream_cells(const StudyResult& study) {
  const auto unit = time_unit(study);
  StudyCells cells{
      .header = {"stream"},
      .rows = {},
      .notes = fmt::format("times in {}: alone, under the strategy's settings > together\n", unit.name)};
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

StudyCells rank_cells(const StudyResult& study) {
  constexpr std::size_t kShown = 16;  // rows of a strategy
  const auto unit = time_unit(study);
  StudyCells cells{
      .header = {"ranks", "which", "how many", "kernels", "comm.", "exposed", "idle"},
      .rows = {},
      .notes = fmt::format("times in {} of each rank; exposed: communication beside no kernel\n", unit.name)};
  const RankColumns with{.bubble = std::ranges::any_of(study.strategies, has_bubble),
                         .memory = std::ranges::any_of(study.strategies, has_memory)};
  if (with.bubble) {
    cells.header.emplace_back("bubble");
    cells.notes += "bubble: neither a kernel nor a collective but messages\n";
  }
  if (with.memory) {
    cells.header.emplace_back("memory");
    cells.notes += first_step(study) != nullptr
                       ? "memory in GB: what the allocator reserves where there is room\n"
                       : "memory in GB: tensors and buffers of the largest operation of each stream\n";
  }
  for (const StrategyResult& strategy : study.strategies) {
    if (std::ranges::all_of(strategy.classes, [](const auto& rank_class) { return rank_class.name.empty(); }))
      continue;
    const std::vector<RanksAlike> alike = ranks_alike(strategy, unit, with);
    for (std::size_t i = 0; i < std::min(kShown, alike.size()); ++i)
      cells.rows.push_back(alike[i].row());
    if (alike.size() > kShown)
      cells.notes += fmt::format("{}: {} rows more, see c3sim inspect --table classes\n", strategy.name,
                                 alike.size() - kShown);
  }
  return cells;
}

std::string repetitions_text(const StudyConditions& conditions) {
  const auto counted = [](int count, const char* what) {
    return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
  };
  const std::string seeds = counted(conditions.seeds, "seed");
  return conditions.draws > 0 ? seeds + " x " + counted(conditions.draws, "draw") : seeds;
}

std::string conditions_text(const StudyConditions& conditions) {
  const std::string clock =
      conditions.clock_state ? fmt::format(", {} clock", name_of(*conditions.clock_state)) : "";
  return fmt::format("HBM arbitration {}, dispatch {}{}", name_of(conditions.hbm_arbitration),
                     name_of(conditions.dispatch_policy), clock);
}

}}  // namespace c3::results
