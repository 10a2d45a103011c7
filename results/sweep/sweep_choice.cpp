#include "results/sweep/sweep_choice.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "results/summary_numbers.hpp"

namespace c3 { inline namespace results {
namespace {

constexpr std::size_t kMostSeries = 8;

using Axes = std::vector<std::size_t>;

bool is_strategy(const SweepGrid& grid, std::size_t axis) { return grid.axes()[axis].name == kStrategyAxis; }

/// The one of \p axes with the most values for which \p is_wanted, the first of equals.
std::optional<std::size_t> largest(const SweepGrid& grid, const Axes& axes, auto is_wanted) {
  std::optional<std::size_t> best;
  for (const std::size_t i : axes) {
    if (is_wanted(i) && (!best || grid.axes()[i].levels() > grid.axes()[*best].levels())) best = i;
  }
  return best;
}

bool has_values(const SweepGrid& grid, const std::string& metric, std::size_t least) {
  std::set<double> values;
  for (const SweepCase& at : grid.cases()) {
    const auto value = grid.value(at, metric);
    if (value) values.insert(value->median);
    if (values.size() >= least) return true;
  }
  return false;
}

std::string choose_y(const SweepGrid& grid) {
  for (const StepItem item : kStepItems)
    if (has_values(grid, per_second_name(item), 2)) return per_second_name(item);
  // Over a slower machine's serial time a speedup is easily larger: it compares no machines.
  const bool compares_machines = std::ranges::any_of(grid.axes(), &SweptKey::is_machine);
  return !compares_machines && has_values(grid, "speedup", 2) ? "speedup" : "time";
}

std::optional<std::size_t> choose_x(const SweepGrid& grid, const Axes& free) {
  const auto is_key = [&](std::size_t i) { return !is_strategy(grid, i); };
  const auto number = largest(grid, free, [&](std::size_t i) { return grid.axes()[i].is_number(); });
  if (number) return number;
  const auto key = largest(grid, free, is_key);
  return key ? key : largest(grid, free, [](std::size_t) { return true; });
}

std::optional<std::size_t> choose_series(const SweepGrid& grid, const Axes& rest) {
  const auto is_few = [&](std::size_t i) { return grid.axes()[i].levels() <= kMostSeries; };
  for (const std::size_t i : rest)
    if (is_strategy(grid, i)) return i;
  const auto choice = largest(grid, rest, [&](std::size_t i) { return is_few(i) && !grid.axes()[i].is_given; });
  return choice ? choice : largest(grid, rest, is_few);
}

std::optional<std::pair<std::size_t, std::size_t>> choose_heat(const SweepGrid& grid, const Axes& free,
                                                               std::optional<std::size_t> x) {
  if (!x || is_strategy(grid, *x)) return std::nullopt;
  const auto down = largest(grid, free, [&](std::size_t i) { return i != *x && !is_strategy(grid, i); });
  if (!down) return std::nullopt;
  return std::pair(*x, *down);
}

std::vector<std::string> choose_pareto(const SweepGrid& grid) {
  const std::string tokens = per_second_name(StepItem::tokens);  // other steps have no peak of memory
  const std::array<std::array<std::string, 2>, 4> pairs{{{"memory_peak", tokens},
                                                         {"kernel_together", "collective_together"},
                                                         {"memory_peak", "time"},
                                                         {"exposed", "time"}}};
  for (const auto& [x, y] : pairs)
    if (has_values(grid, x, 2) && has_values(grid, y, 2)) return {x, y};
  return {};
}

Axes without(Axes axes, std::optional<std::size_t> taken) {
  if (taken) std::erase(axes, *taken);
  return axes;
}

}  // namespace

bool SweepChoice::has_lines(const SweepGrid& grid) const {
  return x && grid.axes()[*x].is_number() && grid.axes()[*x].levels() > 1;
}

SweepChoice choose(const SweepGrid& grid, const SweepWishes& wishes) {
  SweepChoice choice;
  const Axes free = grid.free_axes();
  choice.y = wishes.y.empty() ? choose_y(grid) : wishes.y;
  choice.series = wishes.series.empty() ? std::nullopt : grid.axis(wishes.series);
  choice.x = wishes.x.empty() ? choose_x(grid, without(free, choice.series)) : grid.axis(wishes.x);
  const Axes rest = without(free, choice.x);
  if (!choice.series) choice.series = choose_series(grid, rest);
  choice.panels = without(rest, choice.series);
  if (wishes.heat.size() == 2) {
    choice.heat = std::pair(grid.axis(wishes.heat[0]).value(), grid.axis(wishes.heat[1]).value());
  } else {
    choice.heat = choose_heat(grid, free, choice.x);
  }
  choice.pareto = wishes.pareto.empty() ? choose_pareto(grid) : wishes.pareto;
  for (const std::size_t i : free)
    if (wishes.for_each.empty() && grid.axes()[i].is_given) choice.for_each.push_back(i);
  for (const std::string& name : wishes.for_each)
    choice.for_each.push_back(grid.axis(name).value());
  return choice;
}

std::pair<std::vector<SweepPanel>, std::size_t> panels_of(const SweepGrid& grid, const Axes& axes,
                                                          std::size_t most) {
  std::map<Axes, std::vector<const SweepCase*>> groups;
  for (const SweepCase& at : grid.cases()) {
    Axes levels;
    for (const std::size_t axis : axes)
      levels.push_back(at.levels[axis]);
    groups[levels].push_back(&at);
  }
  std::vector<SweepPanel> all;
  for (auto& [levels, cases] : groups)
    all.push_back({.levels = levels, .title = where_text(grid, axes, levels), .cases = std::move(cases)});
  std::vector<SweepPanel> kept;
  for (const std::size_t i : thinned(all.size(), most))
    kept.push_back(std::move(all[i]));
  return {std::move(kept), all.size()};
}

std::vector<std::size_t> thinned(std::size_t count, std::size_t most) {
  std::vector<std::size_t> kept;
  if (count <= most) {
    for (std::size_t i = 0; i < count; ++i)
      kept.push_back(i);
  } else if (most == 1) {
    kept.push_back(0);
  } else {
    for (std::size_t i = 0; i < most; ++i)
      kept.push_back(i * (count - 1) / (most - 1));
  }
  return kept;
}

std::string where_text(const SweepGrid& grid, const Axes& axes, const std::vector<std::size_t>& levels) {
  std::string text;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const SweptKey& axis = grid.axes()[axes[i]];
    // A text speaks for itself, a number does not, and a strategy may be called like anything.
    const bool is_named = axis.is_number() || axis.name == kStrategyAxis;
    text += (text.empty() ? "" : ", ") + (is_named ? axis.name + " " : std::string()) + axis.labels[levels[i]];
  }
  return text;
}

}}  // namespace c3::results
