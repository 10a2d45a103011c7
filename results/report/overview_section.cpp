#include <fmt/format.h>

#include "results/picoseconds.hpp"
#include "results/report/html.hpp"
#include "results/report/sections.hpp"

namespace c3 { inline namespace results {
namespace {

constexpr double kBarHeight = 20;  // pixels; a half for each side

/// The split of what was drawn, or of a whole training step.
BusySplit split_of(const ReportRun& run, std::size_t index) {
  const std::optional<StepResult>& step = run.study.strategies[index].step;
  if (!step) return run.timelines[index].split();
  const Seconds both = step->times.communication - step->times.exposed;
  return {.compute_only = picoseconds(step->times.kernels - both),
          .both = picoseconds(both),
          .communication_only = picoseconds(step->times.exposed),
          .neither = picoseconds(step->times.idle)};
}

/// Upper half compute, lower half communication: where both are filled they run together.
std::string bar(const BusySplit& split, const StrategyResult& strategy, const TimeAxis& axis) {
  constexpr double kHalf = kBarHeight / 2;
  const auto text = [&](const char* what, std::int64_t time) {
    return fmt::format("{}: {} {}", what, axis.text(time), axis.unit.name);
  };
  const double both_from = axis.x(split.compute_only);
  const double both_to = axis.x(split.compute_only + split.both);
  const double communication_to = both_to + axis.x(split.communication_only);
  const double end = axis.x(picoseconds(strategy.time));
  return plot_begin(kBarHeight, strategy.name) + grid(axis, kBarHeight) +
         rectangle("span", 0, 0, end, kBarHeight, text("neither", split.neither)) +
         rectangle("compute", 0, 0, both_from, kHalf, text("compute only", split.compute_only)) +
         rectangle("compute", both_from, 0, both_to - both_from, kHalf, text("both", split.both)) +
         rectangle("comm", both_from, kHalf, both_to - both_from, kHalf, text("both", split.both)) +
         rectangle("comm", both_to, kHalf, communication_to - both_to, kHalf,
                   text("communication only", split.communication_only)) +
         bound_line(axis.x(picoseconds(strategy.lower_bound)), kBarHeight,
                    text("lower bound", picoseconds(strategy.lower_bound))) +
         kPlotEnd;
}

/// Time over that of the same strategy in the first file; where the work differs, of an item of it.
std::string against_first(const ReportScope& scope, const ReportRun& run, const StrategyResult& strategy) {
  if (&run == &scope.runs.front()) return "";
  const auto first = scope.runs.front().index_of(strategy.name);
  if (!first) return "";
  const StrategyResult& reference = scope.runs.front().study.strategies[*first];
  if (!scope.compared_item().empty())
    return fmt::format("{:.2f}", reference.throughput->per_second / strategy.throughput->per_second);
  return fmt::format("{:.2f}", strategy.time / reference.time);
}

std::string cells_of(const ReportScope& scope, const ReportRun& run, std::size_t index) {
  const auto& strategy = run.study.strategies[index];
  const auto split = split_of(run, index);
  const auto cell = [](const char* label, const std::string& text) {
    return fmt::format(R"(<td class="number" data-label="{}">{}</td>)", label, text);
  };
  std::string cells;
  if (scope.compares()) cells += fmt::format(R"(<td class="system">{}</td>)", escaped(run.label));
  cells += R"(<td class="bar">)" + bar(split, strategy, scope.axis) + "</td>";
  cells += fmt::format(R"(<td class="number time">{}<span class="unit"> {}</span></td>)",
                       scope.axis.text(picoseconds(strategy.time)), scope.axis.unit.name);
  cells += cell("compute only", scope.axis.text(split.compute_only));
  cells += cell("both", scope.axis.text(split.both));
  cells += cell("comm. only", scope.axis.text(split.communication_only));
  cells += cell("× bound", fmt::format("{:.2f}", strategy.time / strategy.lower_bound));
  if (scope.compares()) cells += cell("× first", against_first(scope, run, strategy));
  return cells;
}

std::string header(const ReportScope& scope) {
  const auto& unit = scope.axis.unit.name;
  const std::string item = scope.compared_item();
  std::string cells = R"(<th scope="col">strategy</th>)";
  if (scope.compares()) cells += R"(<th scope="col" class="system">system</th>)";
  cells +=
      fmt::format(R"(<th scope="col" class="bar"><div class="ticks">{}</div></th>)", tick_labels(scope.axis));
  cells += fmt::format(R"(<th scope="col">time [{}]</th>)", unit);
  for (const auto* name : {"compute only", "both", "comm. only", "× bound"})
    cells += fmt::format(R"(<th scope="col">{}</th>)", name);
  if (scope.compares())
    cells += fmt::format(R"(<th scope="col">× {}{}</th>)", escaped(scope.runs.front().label),
                         item.empty() ? "" : " per " + item);
  return "<tr>" + cells + "</tr>";
}

}  // namespace

std::string overview_section(const ReportScope& scope) {
  std::string rows, sentences;
  for (const auto& sentence : summary(scope))
    sentences += "<p>" + escaped(sentence) + "</p>\n";
  for (const auto& name : scope.strategies) {
    std::vector<std::string> group;
    for (const auto& run : scope.runs) {
      const auto index = run.index_of(name);
      if (index) group.push_back(cells_of(scope, run, *index));
    }
    rows += grouped_rows(name, group);
  }
  return fmt::format(
      "<section id=\"glance\">\n<h2>At a glance</h2>\n{}"
      R"(<p class="legend"><span><i class="compute"></i>upper half: kernels run</span> )"
      R"(<span><i class="comm"></i>lower half: collectives run</span> )"
      R"(<span><i class="span"></i>that side is idle</span> )"
      R"(<span><i class="bound"></i>lower bound</span> )"
      R"(<span class="muted">Both halves filled: they overlap. Sorted by kind; when each ran is in the )"
      "timeline.</span></p>\n"
      R"(<table class="bars glance" )"
      "data-axis-ps=\"{}\">\n<thead>{}</thead>\n<tbody>\n{}</tbody></table>\n</section>\n",
      sentences, scope.axis.end, header(scope), rows);
}

}}  // namespace c3::results
