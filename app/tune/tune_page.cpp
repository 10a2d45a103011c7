/// `c3sim tune --page`: what was simulated, the front, and why the best wins, as one HTML page.

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

#include "app/tune/tune_answer.hpp"
#include "app/tune/tuning.hpp"
#include "results/report/curve_svg.hpp"
#include "results/report/html.hpp"
#include "results/report/style.hpp"
#include "results/sweep/pareto.hpp"

namespace c3 { inline namespace app {
namespace {

constexpr std::size_t kMostRows = 40;

/// A number of a candidate on an axis of the front; absent where it is not known.
struct FrontAxis {
  std::string name;  ///< with its unit
  std::function<std::optional<double>(const TunedCandidate&)> value;
};

FrontAxis objective_axis(Objective objective) {
  if (objective == Objective::time)
    return {"time [ms]",
            [](const TunedCandidate& candidate) { return std::optional(candidate.takes.time.value * 1e3); }};
  return {std::string(unit_of(objective)), [objective](const TunedCandidate& candidate) {
            return std::optional(value_of(objective, candidate.cost));
          }};
}

FrontAxis memory_axis() {
  return {"memory needed [GB]", [](const TunedCandidate& candidate) {
            const Bytes needed = candidate.what.facts.needed;
            return needed > Bytes{} ? std::optional(needed.value / 1e9) : std::nullopt;
          }};
}

FrontAxis energy_axis() {
  return {"energy of a step [kJ]", [](const TunedCandidate& candidate) {
            const auto energy = energy_of(candidate);
            return energy ? std::optional(energy->value / 1e3) : std::nullopt;
          }};
}

FrontAxis money_axis(const Tuning& tuning) { return {std::string(usd_of_work_name(tuning)), usd_of_work}; }

/// Axes of the front besides the objective: each has a value for at least one candidate. Energy and money are
/// left out when they are the objective.
std::vector<FrontAxis> other_axes(const Tuning& tuning) {
  std::vector<FrontAxis> axes = {memory_axis()};
  if (!needs_power(tuning.goal.objective)) axes.push_back(energy_axis());
  if (!needs_price(tuning.goal.objective)) axes.push_back(money_axis(tuning));
  std::erase_if(axes, [&](const FrontAxis& axis) {
    return std::ranges::none_of(
        tuning.ranking, [&](const TunedCandidate& candidate) { return axis.value(candidate).has_value(); });
  });
  return axes;
}

/// "training.pipeline 2, training.micro_batch 1".
std::string settings_text(const Tuning& tuning, const TunedCandidate& candidate) {
  const std::vector<std::string>& names = tuning.plan.sweep.names();
  const std::vector<std::string> texts =
      tuning.plan.sweep.texts(tuning.plan.sweep.points()[candidate.what.point]);
  std::string text;
  for (std::size_t axis = 0; axis < names.size(); ++axis)
    text += fmt::format("{}{} {}", axis == 0 ? "" : ", ", names[axis], texts[axis]);
  return text;
}

/// Candidates by \p y over the objective; empty where fewer than two have both numbers.
std::string front_figure(const Tuning& tuning, const FrontAxis& x, const FrontAxis& y) {
  std::vector<CurvePoint> points;
  std::vector<Costs> costs;
  for (std::size_t i = 0; i < tuning.ranking.size(); ++i) {
    const TunedCandidate& candidate = tuning.ranking[i];
    const auto across = x.value(candidate), up = y.value(candidate);
    if (!across || !up) continue;
    points.push_back(
        {.x = *across,
         .y = *up,
         .title = fmt::format("rank {}: {}\n{}: {}, {}: {}", i + 1, settings_text(tuning, candidate), x.name,
                              number_text(*across), y.name, number_text(*up))});
    costs.push_back({static_cast<double>(i), *up});
  }
  if (points.size() < 2) return "";
  Curve on{.label = "front", .points = {}}, off{.label = "beaten", .points = {}, .has_line = false};
  const std::vector<std::size_t> front = pareto_front(costs);
  for (std::size_t i = 0; i < points.size(); ++i) {
    points[i].stands_out = std::ranges::find(front, i) != front.end();
    (points[i].stands_out ? on : off).points.push_back(points[i]);
  }
  std::ranges::stable_sort(on.points, {}, &CurvePoint::x);
  const auto [left, right] = std::ranges::minmax(points, {}, &CurvePoint::x);
  const auto [low, high] = std::ranges::minmax(points, {}, &CurvePoint::y);
  return curve_figure({.title = fmt::format("{} against {}", y.name, x.name),
                       .x = value_axis(x.name, left.x, right.x, false),
                       .y = value_axis(y.name, low.y, high.y, false),
                       .curves = {std::move(off), std::move(on)}});
}

std::string front_section(const Tuning& tuning) {
  const FrontAxis cost = objective_axis(tuning.goal.objective);
  std::string figures;
  for (const FrontAxis& axis : other_axes(tuning))
    figures += front_figure(tuning, cost, axis);
  if (figures.empty()) return "";
  return "<section id=\"front\">\n<h2>What else may be chosen</h2>\n<div class=\"plots\">\n" + figures +
         "</div>\n<p class=\"note\">Every candidate that was simulated. No other one beats those on the front "
         "in both numbers.</p>\n</section>\n";
}

std::string ranking_section(const Tuning& tuning) {
  const FrontAxis cost = objective_axis(tuning.goal.objective);
  const std::vector<FrontAxis> others = other_axes(tuning);
  const auto text = [](std::optional<double> value) { return value ? number_text(*value) : std::string(); };
  std::vector<std::string> header = {"rank"};
  for (const std::string& name : tuning.plan.sweep.names())
    header.push_back(escaped(name));
  for (const std::string& name :
       {std::string("strategy"), std::string("time [ms]"), std::string("bound"), cost.name})
    if (std::ranges::find(header, name) == header.end()) header.push_back(escaped(name));
  for (const FrontAxis& axis : others)
    header.push_back(escaped(axis.name));
  std::vector<std::vector<std::string>> rows;
  for (std::size_t i = 0; i < std::min(kMostRows, tuning.ranking.size()); ++i) {
    const TunedCandidate& candidate = tuning.ranking[i];
    std::vector<std::string> row = {std::to_string(i + 1)};
    for (const std::string& level : tuning.plan.sweep.texts(tuning.plan.sweep.points()[candidate.what.point]))
      row.push_back(escaped(level));
    row.push_back(escaped(candidate.strategy));
    row.push_back(fmt::format("{:.3f}", candidate.takes.time.value * 1e3));
    row.push_back(fmt::format("{:.1f}%", 100.0 * bound_over_cost(tuning.goal.objective, candidate)));
    if (tuning.goal.objective != Objective::time) row.push_back(text(cost.value(candidate)));
    for (const FrontAxis& axis : others)
      row.push_back(text(axis.value(candidate)));
    rows.push_back(std::move(row));
  }
  return "<section id=\"ranking\">\n<h2>The best that were simulated</h2>\n" +
         table_html("times", header, rows) +
         fmt::format(
             "<p class=\"note\">Bound: of the {}, found without a simulation; memory: needed of the fullest "
             "GPU.</p>\n</section>\n",
             bounded_word(tuning.goal.objective));
}

std::string comparison_section(const Tuning& tuning) {
  if (tuning.ranking.size() < 2) return "";
  std::vector<std::vector<std::string>> rows;
  for (const ComparedNumber& number : compared(tuning.ranking[0], tuning.ranking[1]))
    rows.push_back({escaped(fmt::format("{} [{}]", number.name, number.unit)),
                    fmt::format("{:.1f}", number.best), fmt::format("{:.1f}", number.other),
                    fmt::format("{:+.1f}", number.other - number.best)});
  if (rows.empty()) return "";
  return "<section id=\"why\">\n<h2>Why the best wins over the next</h2>\n" +
         table_html("times", {"", "best", "next", "difference"}, rows) + "</section>\n";
}

}  // namespace

std::string tune_page(const Tuning& tuning) {
  const std::string title = tuning.plan.sweep.name() + ", tuned";
  const std::string best =
      tuning.ranking.empty()
          ? "No candidate was simulated."
          : fmt::format("Best of {} candidates: {}. {} were simulated.", tuning.counts.candidates,
                        settings_text(tuning, tuning.ranking.front()), tuning.counts.simulated);
  return page_begin(title, std::string(kReportStyle) + kCurveStyle) +
         fmt::format("<header>\n<h1>{}</h1>\n<p>{}</p>\n</header>\n", escaped(title), escaped(best)) +
         front_section(tuning) + ranking_section(tuning) + comparison_section(tuning) +
         "<section id=\"answer\">\n<details><summary>The answer as the terminal has it</summary>\n<pre>" +
         escaped(tune_text(tuning, kMostRows)) + "</pre></details>\n</section>\n" + kPageEnd;
}

}}  // namespace c3::app
