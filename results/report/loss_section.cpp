#include <algorithm>

#include <fmt/format.h>

#include "results/report/html.hpp"
#include "results/report/sections.hpp"
#include "results/study_cells.hpp"

namespace c3 { inline namespace results {
namespace {

constexpr double kBarHeight = 20;  // pixels

/// The scale that all bars share: gains go to the left of zero, losses to the right.
struct LossScale {
  Seconds gains, losses;  ///< the longest stacks
  double x(Seconds loss) const { return kPlotWidth * ((gains + loss) / (gains + losses)); }
};

std::pair<Seconds, Seconds> stacks(const LossSplit& loss) {
  Seconds gains, losses;
  for (const auto& part : kLossParts) {
    const auto value = loss.*part.loss;
    (value < Seconds{} ? gains : losses) += value < Seconds{} ? Seconds{-value.value} : value;
  }
  return {gains, losses};
}

LossScale common_scale(const ReportScope& scope) {
  LossScale scale{.gains = Seconds{}, .losses = Seconds{}};
  for (const auto& run : scope.runs) {
    for (const auto& strategy : run.study.strategies) {
      if (!strategy.loss) continue;
      const auto [gains, losses] = stacks(*strategy.loss);
      scale.gains = std::max(scale.gains, gains);
      scale.losses = std::max(scale.losses, losses);
    }
  }
  return scale;
}

/// HTML above the bar, where it is wide enough for it.
std::string name_of_part(const char* name, double from, double to) {
  constexpr double kNarrowest = 120;  // units
  if (to - from < kNarrowest) return "";
  return fmt::format(R"(<span class="name" style="left:{}%;width:{}%">{}</span>)",
                     short_number(100 * from / kPlotWidth), short_number(100 * (to - from) / kPlotWidth), name);
}

std::string bar(const std::string& label, const LossSplit& loss, const LossScale& scale) {
  auto svg = plot_begin(kBarHeight, label);
  std::string names;
  Seconds left, right;  // ends of the two stacks
  for (const auto& part : kLossParts) {
    const auto value = loss.*part.loss;
    auto& stack = value < Seconds{} ? left : right;
    const auto from = std::min(stack, stack + value), to = std::max(stack, stack + value);
    stack = stack + value;
    names += name_of_part(part.name, scale.x(from), scale.x(to));
    svg += rectangle(fmt::format("part-{}", part.css_class), scale.x(from), 2, scale.x(to) - scale.x(from),
                     kBarHeight - 4, fmt::format("{}: {:.1f} us", part.name, value / 1.0_us));
  }
  return svg + vertical("zero", scale.x(Seconds{}), kBarHeight, "") + kPlotEnd + names;
}

std::string cells_of(const ReportScope& scope, const ReportRun& run, const std::vector<std::string>& cells,
                     const LossScale& scale) {
  const auto& loss = *run.study.strategies[run.index_of(cells.front()).value()].loss;
  std::string text;
  if (scope.compares()) text += fmt::format(R"(<td class="system">{}</td>)", escaped(run.label));
  text += R"(<td class="bar"><div class="plot">)" + bar(cells.front(), loss, scale) + "</div></td>";
  for (std::size_t i = 1; i <= kLossParts.size(); ++i) {
    const auto& part = kLossParts.at(i - 1);
    text += fmt::format(R"(<td class="number" data-label="{}"><i class="part-{}"></i>{}</td>)", part.name,
                        part.css_class, escaped(cells[i]));
  }
  return text +
         fmt::format(R"(<td class="number time">{}<span class="unit"> us</span></td>)", escaped(cells.back()));
}

std::string header(const ReportScope& scope, const std::vector<std::string>& names) {
  auto text = std::string(R"(<th scope="col">strategy</th>)");
  if (scope.compares()) text += R"(<th scope="col" class="system">system</th>)";
  text += fmt::format(R"(<th scope="col" class="bar">{}</th>)", escaped(names.front()));
  for (std::size_t i = 1; i < names.size(); ++i) {
    const auto swatch = i <= kLossParts.size()
                            ? fmt::format(R"(<i class="part-{}"></i>)", kLossParts.at(i - 1).css_class)
                            : std::string();
    text += fmt::format(R"(<th scope="col">{}{}</th>)", swatch, escaped(names[i]));
  }
  return "<tr>" + text + "</tr>";
}

}  // namespace

std::string loss_section(const ReportScope& scope) {
  const auto scale = common_scale(scope);
  std::string rows;
  for (const auto& name : scope.strategies) {
    std::vector<std::string> group;
    for (const auto& run : scope.runs) {
      const auto cells = loss_cells(run.study);
      const auto found = std::ranges::find(cells.rows, name, [](const auto& row) { return row.front(); });
      if (found != cells.rows.end()) group.push_back(cells_of(scope, run, *found, scale));
    }
    rows += grouped_rows(name, group);
  }
  if (rows.empty()) return "";
  const auto cells = loss_cells(scope.runs.front().study);
  return fmt::format(
      "<section id=\"losses\">\n<h2>Where the time beyond ideal goes</h2>\n"
      R"(<div class="scroll"><table class="bars )"
      "losses\">\n<thead>{}</thead>\n<tbody>\n{}</tbody></table></div>\n"
      R"(<p class="note">{}<br/>All bars have one scale; left of the line is gained, not )"
      "lost.</p>\n</section>\n",
      header(scope, cells.header), rows, escaped_lines(cells.notes));
}

}}  // namespace c3::results
