#include "studies/training/step_scores.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/cpu_clock.hpp"
#include "base/statistics.hpp"
#include "studies/training/step_numbers.hpp"
#include "workloads/analysis/steady_state.hpp"

namespace c3 { inline namespace studies {
namespace {

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

void beside_if(StudyLine& line, const char* name, std::optional<double> value) {
  if (value) line.beside.emplace_back(name, *value);
}

/// Counts rows with an interval and how many of them lie in it, and gives the median width in percent of the
/// time.
struct Coverage {
  std::size_t rows = 0, held = 0;
  std::vector<double> widths;

  void add(Seconds measured, const std::optional<StepTime>& time) {
    if (!time || !time->p5) return;
    ++rows;
    if (*time->p5 <= measured && measured <= *time->p95) ++held;
    widths.push_back(kPercent * ((*time->p95 - *time->p5) / time->here));
  }
  std::optional<double> share() const {
    return rows > 0 ? std::optional(kPercent * static_cast<double>(held) / static_cast<double>(rows))
                    : std::nullopt;
  }
  std::optional<double> width() const { return rows > 0 ? std::optional(quantile(widths, 0.5)) : std::nullopt; }
};

/// Now and first, of the steps of \p set; empty: of all.
std::pair<Coverage, Coverage> coverage_of(const std::vector<SimulatedStep>& steps, std::string_view set) {
  std::pair<Coverage, Coverage> coverage;
  for (const SimulatedStep& step : steps) {
    if (!set.empty() && step.reference.set != set) continue;
    coverage.first.add(step.reference.measured, step.now);
    coverage.second.add(step.reference.measured, step.reference.first);
  }
  return coverage;
}

}  // namespace

double SimulatedStep::error(Seconds time) const { return kPercent * (time / reference.measured - 1.0); }

StepTime time_with_interval(Seconds here, const std::vector<double>& drawn) {
  if (drawn.empty()) return {.here = here};
  return {.here = here, .p5 = Seconds{quantile(drawn, 0.05)}, .p95 = Seconds{quantile(drawn, 0.95)}};
}

MeasuredStepsPart::MeasuredStepsPart(const std::vector<MeasuredStep>& steps) {
  for (const MeasuredStep& step : steps)
    rows_.push_back({.reference = step});
}

void MeasuredStepsPart::plan(SimulationJobs& jobs) {
  for (Row& row : rows_) {
    const auto simulate = [&row](std::optional<std::uint64_t> draw, std::uint64_t seed) {
      const CpuClock clock;
      const Experiment step = row.reference.make(draw);
      const RunResult run = run_step(step, step.strategies.front(), {.seed = seed});
      const StepBreakdown& times = run.classes.front().times;
      return SimulatedTime{
          .time = run.time,
          .values = {times.kernels.value, times.exposed.value, times.idle.value, clock.seconds()}};
    };
    const int seeds = row.reference.is_seeded ? row.reference.make(std::nullopt).measure.seeds : 1;
    for (int seed = 0; seed < seeds; ++seed)
      jobs.push_back({[simulate, seed] { return simulate(std::nullopt, static_cast<std::uint64_t>(seed)); },
                      [&row](const SimulatedTime& found) {
                        if (!found.time) return;
                        const std::vector<double>& values = found.values;
                        row.samples.push_back({*found.time, Seconds{values.at(0)}, Seconds{values.at(1)},
                                               Seconds{values.at(2)}, values.at(3)});
                      }});
    for (std::uint64_t draw = 0; draw < row.reference.draws; ++draw)
      jobs.push_back({[simulate, draw, &row] { return simulate(draw, row.reference.is_seeded ? 0 : draw); },
                      [&row](const SimulatedTime& found) {
                        if (found.time) row.drawn.push_back(found.time->value);
                      }});
  }
}

std::vector<SimulatedStep> MeasuredStepsPart::results() const {
  std::vector<SimulatedStep> steps;
  for (const Row& row : rows_) {
    SimulatedStep step{.reference = row.reference};
    if (!row.samples.empty()) {
      step.sample = lower_median(row.samples);
      step.now = time_with_interval(step.sample.time, row.drawn);
    }
    steps.push_back(std::move(step));
  }
  return steps;
}

std::vector<std::string> names_of(const std::vector<SimulatedStep>& steps, std::string MeasuredStep::*name) {
  std::vector<std::string> names;
  for (const SimulatedStep& step : steps)
    if (std::ranges::find(names, step.reference.*name) == names.end()) names.push_back(step.reference.*name);
  return names;
}

Comparison errors_of(const std::vector<SimulatedStep>& steps,
                     const std::function<bool(const SimulatedStep&)>& is) {
  Comparison errors;
  std::uint64_t block = 0;
  for (const SimulatedStep& step : steps) {
    if (!is(step)) continue;
    std::vector<Comparison::Beside> beside;
    if (step.reference.first) beside.emplace_back("first", step.reference.first->here);
    if (step.now)
      errors.add({step.reference.measured, step.now->here, block++}, beside);
    else
      errors.skip();
  }
  return errors;
}

void set_error(StudyLine& line, const SimulatedStep& step) {
  if (step.now) {
    line.figure.simulated = step.error(step.now->here);
    if (step.now->p5) {
      line.figure.p5 = step.error(*step.now->p5);
      line.figure.p95 = step.error(*step.now->p95);
    }
  }
  if (step.reference.first) line.beside.emplace_back("first", step.error(step.reference.first->here));
}

StudySection groups_section(const std::vector<SimulatedStep>& steps, const PublishedFigures& published) {
  StudySection section{.heading = "Steps by group: mean absolute error", .lines = {}, .notes = {}};
  for (const auto& [group, label] : kGroups) {
    const Comparison errors =
        errors_of(steps, [&](const SimulatedStep& step) { return step.reference.group == group; });
    const std::string id = fmt::format("steps.{}", group);
    StudyLine line = errors.line(published.find(id), FigureKind::predicted, std::string(label));
    beside_if(line, "signed", errors.signed_mean());
    beside_if(line, "first signed", errors.signed_mean("first"));
    section.lines.push_back(std::move(line));
    if (group == "mpt")
      section.lines.push_back(
          errors.signed_line(published.find(id + ".signed"), "the same, mean of signed errors"));
  }
  section.value = "now";
  section.notes = {
      "first: before the model of steps was changed (studies/training/first.csv). p5..p95: over rows."};
  return section;
}

StudySection gain_section(const std::vector<SimulatedStep>& steps, const PublishedFigures& published) {
  StudyLine line{.figure = {.reference = published.find("async_gain")}, .label = "64 H100, FSDP 8 x TP 8"};
  const auto step = [&](std::string_view row) -> const SimulatedStep* {
    const auto found = std::ranges::find_if(steps, [row](const SimulatedStep& candidate) {
      return candidate.reference.set == "titan_tp" && candidate.reference.row == row;
    });
    return found == steps.end() ? nullptr : &*found;
  };
  const SimulatedStep *plain = step("plain"), *async = step("async");
  if (plain != nullptr && async != nullptr && plain->now && async->now) {
    line.rows = 2;
    line.figure.simulated = plain->now->here / async->now->here;
    if (plain->reference.first && async->reference.first)
      line.beside = {{"first", plain->reference.first->here / async->reference.first->here}};
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
    std::string name = step.reference.row;
    std::ranges::replace(name, ' ', '-');
    StudyLine line{
        .figure = {.reference = published.find(fmt::format("steps.{}.{}", step.reference.group, name))},
        .label = fmt::format("{}, {}", step.reference.set, step.reference.row)};
    set_error(line, step);
    line.beside.emplace_back("measured [ms]", step.reference.measured / 1.0_ms);
    section.lines.push_back(std::move(line));
  }
  section.value = "now";
  section.notes = {"p5..p95: over 10 draws of everything that is a range."};
  return section;
}

StudySection intervals_section(const std::vector<SimulatedStep>& steps, const PublishedFigures& published) {
  StudySection section{.heading = "Intervals of 90 %: rows whose measured time lies in them, and width",
                       .lines = {},
                       .notes = {},
                       .value = "now"};
  const auto add = [&](const std::string& id, const std::string& label, std::size_t rows,
                       std::optional<double> now, std::optional<double> first) {
    section.lines.push_back(
        {.figure = {.reference = published.find(id), .simulated = now}, .label = label, .rows = rows});
    beside_if(section.lines.back(), "first", first);
  };
  const auto [now, first] = coverage_of(steps, "");
  add("intervals.held", "all rows", now.rows, now.share(), first.share());
  std::optional<double> least_now, least_first;
  for (const std::string& set : names_of(steps, &MeasuredStep::set)) {
    const auto [here, then] = coverage_of(steps, set);
    add("intervals.held." + set, "of these " + set, here.rows, here.share(), then.share());
    if (here.share()) least_now = std::min(least_now.value_or(kPercent), *here.share());
    if (then.share()) least_first = std::min(least_first.value_or(kPercent), *then.share());
  }
  add("intervals.least", "in the set with the fewest", 0, least_now, least_first);
  add("intervals.width", "median width, of the time", now.rows, now.width(), first.width());
  return section;
}

}}  // namespace c3::studies
