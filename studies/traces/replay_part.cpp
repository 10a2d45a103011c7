#include <algorithm>
#include <string>
#include <tuple>

#include <fmt/format.h>

#include "studies/traces/parts.hpp"

namespace c3 { inline namespace studies {
namespace {

constexpr double kPercent = 100.0;

StudyLine line_of(const PublishedFigures& published, const std::string& id, const std::string& label,
                  double value) {
  StudyLine line{.figure = {.of = published.find(id)}, .label = label};
  line.figure.simulated = value;
  return line;
}

StudySection step_section(const TraceRuns& runs, const PublishedFigures& published) {
  StudySection section{.heading = "Replay of the recorded durations, waits of hosts derived: error of the step",
                       .lines = {},
                       .notes = {},
                       .value = "here",
                       .decimals = 4};
  double worst = 0;
  for (const TraceRun* const run : runs.all()) {
    if (run->report.errors.step.count <= 0) continue;
    const double error = kPercent * run->report.errors.step_error;
    worst = std::max(worst, error);
    const std::string id = run->name == kMegatronRun ? "replay.megatron"
                           : run->name == kDlrmRun   ? "replay.dlrm"
                                                     : "replay." + run->name;
    section.lines.push_back(line_of(published, id, run->name, error));
  }
  if (section.lines.empty()) return section;
  const std::size_t traces = section.lines.size();
  section.lines.push_back(line_of(published, "replay", "the worst of these", worst));
  section.lines.back().rows = traces;
  return section;
}

void add_starts(const TraceRun& run, const std::string& id, const PublishedFigures& published,
                StudySection& section) {
  const StartErrors& with = run.report.errors;
  const StartErrors& without = run.report.errors_without_cross_stream;
  for (const auto& [name, here, there] :
       {std::tuple("median", with.median, without.median), std::tuple("p95", with.p95, without.p95)}) {
    StudyLine line = line_of(published, fmt::format("start.{}.{}", id, name),
                             fmt::format("{}, {}", run.name, name), kPercent * here);
    line.beside = {{"without edges between streams", kPercent * there}};
    section.lines.push_back(std::move(line));
  }
}

StudySection start_section(const TraceRuns& runs, const PublishedFigures& published) {
  StudySection section{.heading = "The same: error of the start of GPU work, of a step",
                       .lines = {},
                       .notes = {},
                       .value = "here",
                       .decimals = 4};
  if (const TraceRun* const run = runs.find(kMegatronRun)) add_starts(*run, "megatron", published, section);
  if (const TraceRun* const run = runs.find(kDlrmRun)) add_starts(*run, "dlrm", published, section);
  return section;
}

/// How many times worse Megatron's starts are without edges between streams.
StudySection worth_section(const TraceRuns& runs, const PublishedFigures& published) {
  StudySection section{.heading = "What edges between streams are worth: start error without over with them",
                       .lines = {},
                       .notes = {"Errors below 1e-9 of a step count as that."},
                       .value = "here",
                       .decimals = 0};
  constexpr double kLeast = 1e-9;
  if (const TraceRun* const run = runs.find(kMegatronRun)) {
    const StartErrors& with = run->report.errors;
    const StartErrors& without = run->report.errors_without_cross_stream;
    section.lines.push_back(line_of(published, "start.worth.median", "megatron_tp8_a100, median",
                                    without.median / std::max(with.median, kLeast)));
    section.lines.push_back(line_of(published, "start.worth.p95", "megatron_tp8_a100, p95",
                                    without.p95 / std::max(with.p95, kLeast)));
  }
  return section;
}

}  // namespace

StudyReport replay_sections(const TraceRuns& runs, const PublishedFigures& published) {
  return {step_section(runs, published), start_section(runs, published), worth_section(runs, published)};
}

}}  // namespace c3::studies
