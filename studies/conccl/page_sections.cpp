#include "studies/conccl/page_sections.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>

#include "base/percent.hpp"
#include "importers/collective_times/headed_table.hpp"
#include "results/report/bar_axis.hpp"
#include "results/report/html.hpp"
#include "results/report/plot.hpp"

namespace c3 { inline namespace studies {
namespace {

std::string cell(std::string_view css_class, std::string_view text) {
  return fmt::format(R"(<td class="{}">{}</td>)", css_class, escaped(text));
}

std::string number(std::optional<double> value) { return value ? fmt::format("{:.1f}", *value) : ""; }

// --- The ladder.

const char* colour_of(const StudyStrategy& strategy) {
  if (strategy.id.starts_with("conccl")) return "engines";
  return strategy.id.starts_with("base") ? "share base" : "share";
}

std::string ladder_bar(const Figure& figure, const StudyStrategy& strategy, const BarAxis& axis) {
  constexpr double kMargin = 5;
  const double value = figure.simulated.value_or(0.0);
  std::string svg = plot_begin(kBarHeight, strategy.label) + bar_grid(axis);
  svg += value_bar(colour_of(strategy), 0, value, kMargin, kBarHeight - 2 * kMargin, axis,
                   fmt::format("{}: {:.1f} %", strategy.label, value));
  if (figure.p5 && figure.p95) svg += whisker(axis, *figure.p5, *figure.p95);
  svg += vertical("zero", axis.x(0), kBarHeight, "") + kPlotEnd;
  if (figure.reference.published)
    svg += fmt::format(R"(<b class="published mark" style="left:{}%" title="published: {:g} %">◆</b>)",
                       axis.left(*figure.reference.published), *figure.reference.published);
  return fmt::format(R"(<td class="bar"><div class="plot">{}</div></td>)", svg);
}

std::optional<double> beside(const StudyLine& line, std::string_view name) {
  const auto found = std::ranges::find(line.beside, name, &std::pair<std::string, double>::first);
  return found == line.beside.end() ? std::nullopt : std::optional(found->second);
}

/// Lines of the shares, each with its strategy.
using LadderLine = std::pair<const StudyStrategy*, const StudyLine*>;

std::vector<LadderLine> ladder_lines(const StudyReport& report, std::string_view prefix) {
  std::vector<LadderLine> found;
  for (const StudyStrategy& strategy : kStudyStrategies) {
    for (const StudyLine* line : lines_of(report, fmt::format("{}{}", prefix, strategy.id))) {
      if (line->label == strategy.label &&
          line->figure.reference.id == fmt::format("{}{}", prefix, strategy.id))
        found.emplace_back(&strategy, line);
    }
  }
  return found;
}

std::string ladder_table(const std::vector<LadderLine>& lines) {
  BarAxis axis{.low = 0.0, .high = kPercent};
  for (const auto& [strategy, line] : lines) {
    const Figure& figure = line->figure;
    for (const auto& value : {figure.simulated, figure.p5, figure.p95, figure.reference.published})
      axis.hold(value);
  }
  axis.high += 0.02 * (axis.high - axis.low);
  std::string rows;
  for (const auto& [strategy, line] : lines) {
    const Figure& figure = line->figure;
    const std::string span =
        figure.p5 && figure.p95 ? fmt::format("{:.1f} to {:.1f}", *figure.p5, *figure.p95) : "";
    rows += fmt::format(R"(<tr><th scope="row">{}</th>)", escaped(line->label)) +
            ladder_bar(figure, *strategy, axis) + cell("number time", number(figure.simulated)) +
            cell("number", span) + cell("number", number(beside(*line, "nominal"))) +
            cell("number", number(figure.reference.published)) + "</tr>\n";
  }
  return fmt::format(
      "<div class=\"scroll\"><table class=\"bars ladder\">\n<thead><tr><th></th><th class=\"bar\">{}</th>"
      "<th>here [%]</th><th>5-95 "
      "%</th><th>nominal</th><th>published</th></tr></thead>\n"
      "<tbody>\n{}</tbody></table></div>\n",
      bar_ticks(axis), rows);
}

/// A share in percent: the more the darker, a loss in another colour.
std::string shaded(double share) {
  constexpr double kDarkest = 0.5;
  return fmt::format(
      R"html(<td class="number heat" style="background:color-mix(in srgb, var(--{}) {:.0f}%, transparent)">{}</td>)html",
      share < 0.0 ? "links" : "cus", kDarkest * std::clamp(std::abs(share), 0.0, kPercent),
      short_number(std::round(share)));
}

// --- What moves the shares.

/// Changes of one strategy's share with a prior at its ends.
struct Change {
  std::string strategy;
  double low = 0.0, high = 0.0;
};

std::vector<Change> changes_of(const StudyLine& line) {
  constexpr std::string_view kLow = " low";
  std::vector<Change> changes;
  for (const auto& [name, value] : line.beside) {
    if (!name.ends_with(kLow)) continue;
    const std::string strategy = name.substr(0, name.size() - kLow.size());
    changes.push_back({strategy, value, beside(line, strategy + " high").value_or(0.0)});
  }
  return changes;
}

std::string change_bar(const Change& change, const BarAxis& axis) {
  constexpr double kMargin = 4, kHeight = (kBarHeight - 2 * kMargin) / 2;
  return R"(<td class="bar">)" + plot_begin(kBarHeight, change.strategy) + bar_grid(axis) +
         value_bar("low", 0, change.low, kMargin, kHeight, axis,
                   fmt::format("{} at the low end: {:+.1f} points", change.strategy, change.low)) +
         value_bar("high", 0, change.high, kMargin + kHeight, kHeight, axis,
                   fmt::format("{} at the high end: {:+.1f} points", change.strategy, change.high)) +
         vertical("zero", axis.x(0), kBarHeight, "") + kPlotEnd + "</td>";
}

std::string tornado_header(const std::vector<Change>& changes, const BarAxis& axis, std::string_view value) {
  std::string cells = "<th></th>";
  for (const Change& change : changes)
    cells += fmt::format(R"(<th class="bar"><b>{}</b>{}</th>)", escaped(change.strategy), bar_ticks(axis));
  return fmt::format("<tr>{}<th>{}</th></tr>", cells, escaped(value));
}

}  // namespace

std::vector<const StudyLine*> lines_of(const StudyReport& report, std::string_view id) {
  std::vector<const StudyLine*> lines;
  for (const StudySection& section : report) {
    for (const StudyLine& line : section.lines) {
      const std::string& figure_id = line.figure.reference.id;
      if (figure_id == id || figure_id.starts_with(fmt::format("{}.", id))) lines.push_back(&line);
    }
  }
  return lines;
}

std::string ladder_section(const StudyReport& report) {
  const std::vector<LadderLine> predicted = ladder_lines(report, "");
  if (predicted.empty()) return "";
  std::string tables = ladder_table(predicted);
  if (const std::vector<LadderLine> fitted = ladder_lines(report, "calibrated."); !fitted.empty())
    tables += "<h3>Calibrated: with a loss fitted to such results, no prediction</h3>\n" + ladder_table(fitted);
  return "<section id=\"ladder\">\n<h2>Share of the ideal speedup, mean of the scenarios</h2>\n"
         "<p class=\"legend\"><span><i class=\"share\"></i>collective on CUs</span> "
         "<span><i class=\"engines\"></i>on copy engines</span> <span><i class=\"whisker\"></i>5-95 % of "
         "draws</span> <span><b class=\"published\">◆</b> published</span></p>\n" +
         tables + "</section>\n";
}

std::vector<ScenarioShares> scenario_shares(const LadderCases& cases) {
  std::vector<ScenarioShares> rows;
  for (std::size_t i = 0; i < cases.scenarios().size(); ++i) {
    const Scenario& scenario = cases.scenarios()[i];
    const LadderTimes& times = cases.times(0)[i];
    const auto time = [](Seconds alone) { return fmt::format("{:.0f}", alone / 1.0_us); };
    ScenarioShares row{
        .cells = {scenario.id, fmt::format("{} x {} x {}", scenario.gemm.m, scenario.gemm.n, scenario.gemm.k),
                  time(times.kernel),
                  fmt::format("{} {} MiB", name_of(scenario.collective.kind),
                              short_number(scenario.collective.bytes / 1.0_MiB)),
                  time(times.collective),
                  fmt::format("{}, {}", name_of(scenario.bound), name_of(scenario.length)),
                  fmt::format("{:.2f}", study_speedup(scenario, times, kStudyStrategies.front()).ideal)},
        .shares = {}};
    for (const StudyStrategy& strategy : kStudyStrategies)
      row.shares.push_back(kPercent * study_speedup(scenario, times, strategy).share());
    rows.push_back(std::move(row));
  }
  return rows;
}

std::string scenarios_section(const std::vector<ScenarioShares>& scenarios) {
  if (scenarios.empty()) return "";
  std::string header =
      "<th>scenario</th><th>GEMM</th><th>alone [us]</th><th>collective</th><th>alone [us]</th>"
      "<th>class</th><th>ideal</th>";
  for (const StudyStrategy& strategy : kStudyStrategies)
    header += fmt::format(R"(<th class="strategy">{}</th>)", escaped(strategy.label));
  std::string rows;
  for (const ScenarioShares& scenario : scenarios) {
    rows += fmt::format(R"(<tr><th scope="row">{}</th>)", escaped(scenario.cells.front()));
    for (const std::string& text : std::span(scenario.cells).subspan(1))
      rows += cell(number_in(text) ? "number" : "", text);
    for (const double share : scenario.shares)
      rows += shaded(share);
    rows += "</tr>\n";
  }
  return fmt::format(
      "<section id=\"scenarios\">\n<h2>Every scenario: share of its ideal speedup [%], nominal values, first "
      "seed</h2>\n"
      "<div class=\"scroll\"><table class=\"times scenarios\">\n<thead><tr>{}</tr></thead>\n<tbody>\n{}</tbody>"
      "</table></div>\n<p class=\"note\">cb, mb: bound by arithmetic, by memory. More than 100 %: copy engines "
      "are faster than the collective that the ideal is made of.</p>\n</section>\n",
      header, rows);
}

std::string tornado_section(const StudyReport& report) {
  const std::vector<const StudyLine*> lines = lines_of(report, "tornado");
  if (lines.empty()) return "";
  BarAxis axis{.low = 0.0, .high = 0.0};
  for (const StudyLine* line : lines) {
    for (const Change& change : changes_of(*line)) {
      axis.hold(change.low);
      axis.hold(change.high);
    }
  }
  if (axis.high - axis.low <= 0.0) return "";
  std::string rows;
  for (const StudyLine* line : lines) {
    rows += fmt::format(R"(<tr><th scope="row">{}</th>)", escaped(line->label));
    for (const Change& change : changes_of(*line))
      rows += change_bar(change, axis);
    rows += cell("number time", number(line->figure.simulated)) + "</tr>\n";
  }
  return fmt::format(
      "<section id=\"tornado\">\n<h2>What moves the shares: one prior at an end of its range [points]</h2>\n"
      "<p class=\"legend\"><span><i class=\"low\"></i>low end</span> <span><i class=\"high\"></i>high "
      "end</span></p>\n<div class=\"scroll\"><table class=\"bars "
      "tornado\">\n<thead>{}</thead>\n<tbody>\n{}</tbody></table></div>\n</section>\n",
      tornado_header(changes_of(*lines.front()), axis, "largest span"), rows);
}

}}  // namespace c3::studies
