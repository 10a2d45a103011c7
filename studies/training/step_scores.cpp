#include "studies/training/step_scores.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <utility>

#include "base/statistics.hpp"
#include "studies/comparison.hpp"
#include "studies/training/step_numbers.hpp"
#include "workloads/analysis/steady_state.hpp"

namespace c3 { inline namespace studies {
namespace {

constexpr std::uint64_t kDraws = 10;

struct GroupLabel {
  std::string_view group, label;
};
constexpr std::array kGroups = {
    GroupLabel{"titan128", "LLaMA 3.1 8B, FSDP over 128 H100, torchtitan"},
    GroupLabel{"titan_tp", "LLaMA 3.1 8B, FSDP 8 x TP 8, 64 H100, torchtitan"},
    GroupLabel{"mpt", "MPT 125M and 1B, FSDP over 8 A100, LLM-Foundry"},
    GroupLabel{"simumax.tp2", "LLaMA 3 70B, 12 layers, TP 2 of 8 B200, Megatron-LM"},
    GroupLabel{"simumax.tp4", "the same, TP 4"},
    GroupLabel{"simumax.tp8", "the same, TP 8"},
    GroupLabel{"vtrain18b", "GPT 18.4B, TP x DP on 256 A100, Megatron-DeepSpeed"}};

double error_of(const SimulatedStep& step, const StepTime& time) {
  return kPercent * (time.here / step.measured - 1.0);
}

/// Of the steps that are in \p group and were simulated.
struct GroupErrors {
  Comparison comparison;
  double signed_sum = 0.0, first_sum = 0.0;
  std::size_t rows = 0, first_rows = 0;

  void add(const SimulatedStep& step, std::uint64_t block) {
    if (!step.now) return comparison.skip();
    std::vector<Comparison::Beside> beside;
    if (step.first) {
      beside.emplace_back("first", step.first->here);
      first_sum += error_of(step, *step.first);
      ++first_rows;
    }
    comparison.add({step.measured, step.now->here, block}, beside);
    signed_sum += error_of(step, *step.now);
    ++rows;
  }
  std::optional<double> signed_now() const {
    return rows > 0 ? std::optional(signed_sum / static_cast<double>(rows)) : std::nullopt;
  }
  std::optional<double> signed_first() const {
    return first_rows > 0 ? std::optional(first_sum / static_cast<double>(first_rows)) : std::nullopt;
  }
};

void beside_if(StudyLine& line, const char* name, std::optional<double> value) {
  if (value) line.beside.emplace_back(name, *value);
}

/// Of rows with an interval, how many lie in it, and the median width in percent of the time.
struct Coverage {
  std::size_t rows = 0, held = 0;
  std::vector<double> widths;

  void add(Seconds measured, const StepTime& time) {
    if (!time.p5) return;
    ++rows;
    if (*time.p5 <= measured && measured <= *time.p95) ++held;
    widths.push_back(kPercent * ((*time.p95 - *time.p5) / time.here));
  }
  std::optional<double> share() const {
    return rows > 0 ? std::optional(kPercent * static_cast<double>(held) / static_cast<double>(rows))
                    : std::nullopt;
  }
  std::optional<double> width() const { return rows > 0 ? std::optional(quantile(widths, 0.5)) : std::nullopt; }
};

std::pair<Coverage, Coverage> coverage_of(const std::vector<SimulatedStep>& steps,
                                          const std::function<bool(const SimulatedStep&)>& is) {
  std::pair<Coverage, Coverage> coverage;  // now and first
  for (const SimulatedStep& step : steps) {
    if (!is(step)) continue;
    if (step.now) coverage.first.add(step.measured, *step.now);
    if (step.first) coverage.second.add(step.measured, *step.first);
  }
  return coverage;
}

std::vector<std::string> sets_of(const std::vector<SimulatedStep>& steps) {
  std::vector<std::string> sets;
  for (const SimulatedStep& step : steps)
    if (std::ranges::find(sets, step.set) == sets.end()) sets.push_back(step.set);
  return sets;
}

}  // namespace

StepTime time_with_interval(Seconds here, const std::vector<double>& drawn) {
  if (drawn.empty()) return {.here = here};
  return {.here = here, .p5 = Seconds{quantile(drawn, 0.05)}, .p95 = Seconds{quantile(drawn, 0.95)}};
}

MeasuredStepsPart::MeasuredStepsPart(std::vector<MeasuredStep> steps) {
  for (MeasuredStep& step : steps) {
    ExperimentFile file = ExperimentFile::load(experiment_of_study("training", step.frame), step.sets);
    rows_.push_back({.of = std::move(step), .file = std::move(file)});
  }
}

void MeasuredStepsPart::plan(SimulationJobs& jobs) {
  for (Row& row : rows_) {
    const auto simulate = [&row](std::optional<std::uint64_t> draw) {
      const Experiment step = row.file.make(draw);
      return SimulatedTime{.time = run_step(step, step.strategies.front(), {.seed = draw.value_or(0)}).time};
    };
    jobs.push_back({[simulate] { return simulate(std::nullopt); },
                    [&row](const SimulatedTime& found) { row.here = found.time; }});
    for (std::uint64_t draw = 0; draw < kDraws; ++draw)
      jobs.push_back({[simulate, draw] { return simulate(draw); },
                      [&row](const SimulatedTime& found) {
                        if (found.time) row.drawn.push_back(found.time->value);
                      }});
  }
}

std::vector<SimulatedStep> MeasuredStepsPart::results(const FirstTable& first) const {
  std::vector<SimulatedStep> steps;
  for (const Row& row : rows_) {
    SimulatedStep step{.set = row.of.set,
                       .group = row.of.group,
                       .row = row.of.row,
                       .measured = row.of.measured,
                       .first = first.find(row.of.set, row.of.row)};
    if (row.here) step.now = time_with_interval(*row.here, row.drawn);
    steps.push_back(std::move(step));
  }
  return steps;
}

StudySection groups_section(const std::vector<SimulatedStep>& steps, const PublishedFigures& published) {
  StudySection section{.heading = "Steps by group: mean absolute error", .lines = {}, .notes = {}};
  for (const auto& [group, label] : kGroups) {
    GroupErrors errors;
    std::uint64_t block = 0;
    for (const SimulatedStep& step : steps)
      if (step.group == group) errors.add(step, block++);
    const std::string id = fmt::format("steps.{}", group);
    StudyLine line = errors.comparison.line(published.find(id), FigureKind::predicted, std::string(label));
    beside_if(line, "signed", errors.signed_now());
    beside_if(line, "first signed", errors.signed_first());
    section.lines.push_back(std::move(line));
    if (group != "mpt") continue;
    StudyLine mean{.figure = {.of = published.find(id + ".signed")},
                   .label = "the same, mean of signed errors"};
    mean.rows = errors.rows;
    mean.figure.simulated = errors.signed_now();
    beside_if(mean, "first", errors.signed_first());
    section.lines.push_back(std::move(mean));
  }
  section.value = "now";
  section.notes = {
      "first: before the model of steps was changed (studies/training/first.csv). p5..p95: over rows."};
  return section;
}

StudySection gain_section(const std::vector<SimulatedStep>& steps, const PublishedFigures& published) {
  StudyLine line{.figure = {.of = published.find("async_gain")}, .label = "64 H100, FSDP 8 x TP 8"};
  const auto step = [&](std::string_view row) -> const SimulatedStep* {
    const auto found = std::ranges::find_if(
        steps, [row](const SimulatedStep& each) { return each.set == "titan_tp" && each.row == row; });
    return found == steps.end() ? nullptr : &*found;
  };
  const SimulatedStep *plain = step("plain"), *async = step("async");
  if (plain != nullptr && async != nullptr && plain->now && async->now) {
    line.rows = 2;
    line.figure.simulated = plain->now->here / async->now->here;
    if (plain->first && async->first) line.beside = {{"first", plain->first->here / async->first->here}};
  }
  return {.heading = "Asynchronous tensor parallelism: time without over time with it",
          .lines = {std::move(line)},
          .notes = {},
          .value = "now",
          .decimals = 3};
}

StudySection rows_section(const std::vector<SimulatedStep>& steps, const PublishedFigures& published) {
  StudySection section{.heading = "Steps by row: signed error", .lines = {}, .notes = {}};
  for (const SimulatedStep& step : steps) {
    std::string name = step.row;
    std::ranges::replace(name, ' ', '-');
    StudyLine line{.figure = {.of = published.find(fmt::format("steps.{}.{}", step.group, name))},
                   .label = fmt::format("{}, {}", step.set, step.row)};
    if (step.now) {
      line.figure.simulated = error_of(step, *step.now);
      if (step.now->p5) {
        line.figure.p5 = kPercent * (*step.now->p5 / step.measured - 1.0);
        line.figure.p95 = kPercent * (*step.now->p95 / step.measured - 1.0);
      }
    }
    if (step.first) line.beside.emplace_back("first", error_of(step, *step.first));
    line.beside.emplace_back("measured [ms]", step.measured / 1.0_ms);
    section.lines.push_back(std::move(line));
  }
  section.value = "now";
  section.notes = {fmt::format("p5..p95: over {} draws of everything that is a range.", kDraws)};
  return section;
}

StudySection intervals_section(const std::vector<SimulatedStep>& steps, const PublishedFigures& published) {
  StudySection section{.heading = "Intervals of 90 %: rows whose measured time lies in them, and width",
                       .lines = {},
                       .notes = {}};
  const auto add = [&](const std::string& id, const std::string& label, std::size_t rows,
                       std::optional<double> now, std::optional<double> first) {
    StudyLine line{.figure = {.of = published.find(id)}, .label = label, .rows = rows};
    line.figure.simulated = now;
    beside_if(line, "first", first);
    section.lines.push_back(std::move(line));
  };
  const auto [now, first] = coverage_of(steps, [](const SimulatedStep&) { return true; });
  add("intervals.held", "all rows", now.rows, now.share(), first.share());
  std::optional<double> least_now, least_first;
  for (const std::string& set : sets_of(steps)) {
    const auto [here, then] = coverage_of(steps, [&](const SimulatedStep& step) { return step.set == set; });
    add("intervals.held." + set, "of these " + set, here.rows, here.share(), then.share());
    if (here.share()) least_now = std::min(least_now.value_or(kPercent), *here.share());
    if (then.share()) least_first = std::min(least_first.value_or(kPercent), *then.share());
  }
  add("intervals.least", "in the set with the fewest", 0, least_now, least_first);
  add("intervals.width", "median width, of the time", now.rows, now.width(), first.width());
  section.value = "now";
  return section;
}

}}  // namespace c3::studies
