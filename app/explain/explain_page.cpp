/// `c3sim explain --page`: waterfall, critical path, levers and schedule as one HTML page.

#include <fmt/format.h>

#include "app/explain/explain_schedule.hpp"
#include "app/explain/explanation.hpp"
#include "results/report/bar_axis.hpp"
#include "results/report/html.hpp"
#include "results/report/plot.hpp"
#include "results/report/style.hpp"
#include "results/time_unit.hpp"

namespace c3 { inline namespace app {
namespace {

constexpr double kBarMargin = 5;  // pixels above and below a bar

std::string percent_text(double share) { return fmt::format("{:.1f}%", 100.0 * share); }
std::string signed_percent(double share) { return fmt::format("{:+.1f}%", 100.0 * share); }

/// A cell that has its column's name where the page is too narrow for a header.
std::string labelled(std::string_view label, std::string_view text) {
  return fmt::format(R"(<td data-label="{}">{}</td>)", escaped(label), escaped(text));
}

std::string bars_table(std::string_view css_class, const std::string& header, const std::string& rows) {
  return fmt::format(
      "<div class=\"scroll\"><table class=\"bars {}\">\n<thead><tr>{}</tr></thead>\n<tbody>\n{}</tbody>"
      "</table></div>\n",
      css_class, header, rows);
}

const char* part_colour(const WaterfallPart& part) {
  if (part.time < Seconds{}) return "gain";
  if (part.name.starts_with("communication")) return "comm";
  if (part.name.starts_with("interference")) return "shared";
  if (part.method == PartMethod::counterfactual || part.name == "pipeline bubble" ||
      part.name == "waiting for other ranks")
    return "late";
  return "compute";
}

/// A row of the waterfall, from where the parts before it end.
std::string fall_row(const std::string& name, const char* colour, double from, double to, const BarAxis& axis,
                     const std::string& cells) {
  return fmt::format(R"(<tr><th scope="row">{}</th><td class="bar">{}{}{}{}</td>{}</tr>)", escaped(name),
                     plot_begin(kBarHeight, name), bar_grid(axis),
                     value_bar(colour, from, to, kBarMargin, kBarHeight - 2 * kBarMargin, axis,
                               fmt::format("{}: {}", name, short_number(to - from))),
                     kPlotEnd, cells) +
         "\n";
}

std::string waterfall_section(const Explanation& explanation) {
  const Waterfall& fall = explanation.waterfall;
  const TimeUnit unit = unit_for(fall.time);
  const auto size = [&](Seconds time) { return time / unit.size; };
  BarAxis axis{.low = 0.0, .high = size(fall.time)};
  Seconds sum = fall.at_peak;
  for (const WaterfallPart& part : fall.parts)
    axis.hold(size(sum += part.time));
  const std::string unit_name(unit.name);
  const auto cells = [&](Seconds time, std::optional<double> left, const std::string& method) {
    return fmt::format(R"(<td class="time">{}<span class="unit"> {}</span></td>)", unit.format(time),
                       unit.name) +
           labelled("of the run", percent_text(time / fall.time)) +
           labelled("peak left", left ? percent_text(*left) : "") + labelled("found by", method);
  };
  std::string rows;
  if (fall.at_peak > Seconds{})
    rows += fall_row("flops at peak", "used", 0.0, size(fall.at_peak), axis,
                     cells(fall.at_peak, 1.0, std::string(name_of(PartMethod::closed_form))));
  sum = fall.at_peak;
  for (std::size_t i = 0; i < fall.parts.size(); ++i) {
    const WaterfallPart& part = fall.parts[i];
    rows += fall_row(part.name, part_colour(part), size(sum), size(sum + part.time), axis,
                     cells(part.time, fall.reached_before(i + 1), std::string(name_of(part.method))));
    sum += part.time;
  }
  rows += fall_row("the run", "whole", 0.0, size(fall.time), axis, cells(fall.time, fall.reached(), ""));
  return fmt::format(
             "<section id=\"waterfall\">\n<h2>From the peak of the GPU to what the run reaches</h2>\n"
             "<p class=\"legend\"><span><i class=\"used\"></i>flops at peak</span> <span><i "
             "class=\"compute\"></i>kernels</span> <span><i class=\"comm\"></i>communication</span> <span><i "
             "class=\"shared\"></i>interference</span> <span><i class=\"late\"></i>waiting, hosts, power, "
             "stragglers</span> <span><i class=\"gain\"></i>gain</span></p>\n") +
         bars_table("fall",
                    fmt::format(R"(<th></th><th class="bar">{}</th><th>{}</th><th>of the run</th><th>peak )"
                                "left</th><th>found by</th>",
                                bar_ticks(axis), unit_name),
                    rows) +
         "<p class=\"note\">Parts add up to the time of the run. Counterfactual: simulated again with the "
         "cause made impossible. Interval union: kernels and waiting of the run in which every cause is "
         "impossible.</p>\n</section>\n";
}

std::string exposed_section(const Explanation& explanation) {
  if (explanation.communication.empty()) return "";
  const Seconds time = explanation.waterfall.time;
  const TimeUnit unit = unit_for(time);
  const auto text = [&](const std::optional<Seconds>& duration) {
    return duration ? unit.format(*duration) : std::string();
  };
  std::vector<std::vector<std::string>> rows;
  for (const CommunicationSplit& split : explanation.communication)
    rows.push_back({escaped(split.name), unit.format(split.exposed), percent_text(split.exposed / time),
                    unit.format(split.waiting), text(split.latency), text(split.bandwidth)});
  return "<section id=\"exposed\">\n<h2>Communication that no kernel hides</h2>\n" +
         table_html("times", {"", unit.name, "of the run", "waiting", "latency", "bandwidth"}, rows) +
         "<p class=\"note\">Of the run as it is, on an average GPU. Waiting: for members that have not come."
         "</p>\n</section>\n";
}

std::string path_section(const Explanation& explanation) {
  const CriticalPath& path = explanation.path;
  const TimeUnit unit = unit_for(path.time);
  std::vector<std::vector<std::string>> rows;
  for (const PathClass& path_class : path.classes)
    rows.push_back({escaped(path_class.name), unit.format(path_class.on_path),
                    percent_text(path_class.on_path / path.time), std::to_string(path_class.on),
                    std::to_string(path_class.off),
                    path_class.off > 0 ? unit.format(path_class.least_slack) : "",
                    path_class.off > 0 ? unit.format(path_class.median_slack) : ""});
  return "<section id=\"path\">\n<h2>What the end waited for</h2>\n" +
         table_html("times",
                    {"", unit.name, "share", "operations on it", "off it",
                     fmt::format("least slack [{}]", unit.name), fmt::format("median slack [{}]", unit.name)},
                    rows) +
         fmt::format(
             "<p class=\"note\">The critical path of one repetition{}. Slack: how much later an "
             "operation that is not on it may end before the run takes longer.</p>\n</section>\n",
             explanation.path_of.empty() ? "" : ", " + escaped(explanation.path_of));
}

std::string lever_row(const LeverResult& lever, Seconds time, const BarAxis& axis) {
  const auto change = [time](Seconds other) { return signed_percent(other / time - 1.0); };
  std::string svg =
      plot_begin(kBarHeight, lever.name) + bar_grid(axis) +
      value_bar(lever.elasticity < 0.0 ? "low" : "high", 0.0, lever.elasticity, kBarMargin,
                kBarHeight - 2 * kBarMargin, axis, fmt::format("{}: {:+.3f}", lever.name, lever.elasticity));
  if (lever.p5) svg += whisker(axis, *lever.p5, *lever.p95);
  svg += vertical("zero", axis.x(0.0), kBarHeight, "") + kPlotEnd;
  return fmt::format(R"(<tr><th scope="row">{}</th><td class="bar">{}</td><td class="time">{:+.3f}</td>)",
                     escaped(lever.name), svg, lever.elasticity) +
         labelled("5-95 %", lever.p5 ? fmt::format("{:+.3f} to {:+.3f}", *lever.p5, *lever.p95) : "") +
         labelled("less of it", change(lever.at_low)) + labelled("more of it", change(lever.at_high)) +
         labelled("1.5 times better", change(lever.improved)) + "</tr>\n";
}

std::string lever_section(const Explanation& explanation) {
  if (explanation.levers.empty()) return "";
  const std::vector<LeverResult>& levers = explanation.levers;
  BarAxis axis{.low = 0.0, .high = 0.0};
  for (const LeverResult& lever : levers)
    for (const auto& value : {std::optional(lever.elasticity), lever.p5, lever.p95})
      axis.hold(value);
  if (axis.high <= axis.low) axis.high = axis.low + 1.0;
  std::string rows;
  for (const LeverResult& lever : levers)
    rows += lever_row(lever, explanation.waterfall.time, axis);
  const bool has_draws = levers.front().p5.has_value();
  return "<section id=\"levers\">\n<h2>What would change the time</h2>\n<p class=\"legend\"><span><i "
         "class=\"low\"></i>more of it takes less time</span> <span><i class=\"high\"></i>more of it takes "
         "more time</span>" +
         std::string(has_draws ? " <span><i class=\"whisker\"></i>5-95 % of draws of assumed ranges</span>"
                               : "") +
         "</p>\n" +
         bars_table("levers",
                    fmt::format(R"(<th></th><th class="bar">{}</th><th>elasticity</th><th>5-95 %</th><th>less )"
                                "of it</th><th>more of it</th><th>1.5 times better</th>",
                                bar_ticks(axis)),
                    rows) +
         fmt::format(
             "<p class=\"note\">Elasticity: d ln(time) / d ln(lever), between 1/{0} and {0} of a rate "
             "or latency; other columns: change of the time.{1}</p>\n"
             "</section>\n",
             kLeverStep, has_draws ? "" : " With --draws each has a range.");
}

std::string choice_section(const Explanation& explanation) {
  std::vector<std::vector<std::string>> rows;
  for (const ChoiceResult& result : explanation.choices)
    if (result.problem.empty())
      rows.push_back({escaped(result.choice.key.what), escaped(result.choice.part),
                      signed_percent(-result.saving(explanation.waterfall.time))});
  if (rows.empty()) return "";
  return "<section id=\"choices\">\n<h2>What can be set otherwise on the same hardware</h2>\n" +
         table_html("times", {"", "for", "change of the time"}, rows) +
         "<p class=\"note\">Each by itself, simulated, with as many tokens in a step.</p>\n</section>\n";
}

constexpr const char* kExplainStyle =
    R"(header p { max-width: 110ch; }
.shared, .legend i.shared { fill: var(--dispatch); --fill: var(--dispatch); }
.late, .legend i.late { fill: var(--cache); --fill: var(--cache); }
.gain, .legend i.gain { fill: var(--hbm); --fill: var(--hbm); }
.whole { fill: var(--interaction); }
.low, .legend i.low { fill: var(--hbm); --fill: var(--hbm); }
.high, .legend i.high { fill: var(--links); --fill: var(--links); }
table.fall td, table.fall th, table.levers td, table.levers th { vertical-align: middle; }
table.fall tbody th, table.levers tbody th { text-align: left; font-weight: normal; white-space: normal; max-width: 34ch; }
table.fall td:last-child { color: var(--muted); font-size: 13px; }
table.fall .ticks span:first-child, table.levers .ticks span:first-child { transform: translateX(-50%); }
)";

}  // namespace

std::string explain_page(const Explanation& explanation) {
  const std::string title = explanation.experiment + ", " + explanation.strategy;
  return page_begin(title, std::string(kReportStyle) + kBarStyle + kExplainStyle + kScheduleStyle) +
         fmt::format("<header>\n<h1>{}</h1>\n<p>{}</p>\n<p class=\"muted\">{}; mean of {} {}</p>\n</header>\n",
                     escaped(title), escaped(explanation.words()), escaped(explanation.system),
                     explanation.seeds, explanation.seeds == 1 ? "seed" : "seeds") +
         waterfall_section(explanation) + exposed_section(explanation) + lever_section(explanation) +
         choice_section(explanation) + path_section(explanation) +
         schedule_section(explanation.schedule, explanation.path_of) + kPageEnd;
}

}}  // namespace c3::app
