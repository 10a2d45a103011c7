#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "results/report/html.hpp"
#include "results/report/sweep/sweep_sections.hpp"

namespace c3 { inline namespace results {
namespace {

std::string attribute(const SweepTable& table, std::string_view name) {
  for (const auto& [key, text] : table.attributes)
    if (key == name) return text;
  return "";
}

/// The first and the last where there are many.
std::string values_text(const SweptKey& axis) {
  constexpr std::size_t kFew = 8;
  const auto& labels = axis.labels;
  if (labels.size() <= kFew) return fmt::format("{}", fmt::join(labels, ", "));
  return fmt::format("{}, {}, {} … {} ({} values)", labels[0], labels[1], labels[2], labels.back(),
                     labels.size());
}

std::string role_of(const SweptKey& axis) {
  if (axis.levels() == 1) return "one value";
  if (!axis.follows.empty()) return "swept together with " + axis.follows;
  if (axis.name == kStrategyAxis) return "compared";
  return axis.is_given ? "given: changes the work or the machine (--choose makes it a choice)"
                       : "a choice: how it is run";
}

std::string keys_table(const SweepGrid& grid) {
  std::vector<std::vector<std::string>> rows;
  for (const SweptKey& axis : grid.axes()) {
    rows.push_back({escaped(axis.name), R"(<td class="words">)" + escaped(values_text(axis)) + "</td>",
                    R"(<td class="words muted">)" + escaped(role_of(axis)) + "</td>"});
  }
  if (grid.strategies().size() == 1)
    rows.push_back({"strategy", R"(<td class="words">)" + escaped(grid.strategies().front()) + "</td>", ""});
  return table_html("times keys", {"swept key", "values", ""}, rows);
}

std::string counts_text(const SweepGrid& grid) {
  const SweepTable& table = grid.table();
  std::string text = fmt::format("{} points", table.rows());
  if (grid.seeds() > 1)
    text += fmt::format(" ({} combinations, {} seeds)", table.rows() / grid.seeds(), grid.seeds());
  for (const char* status : {"ok", "out_of_memory", "failed", "missing"}) {
    const std::size_t count = table.count(status);
    if (count > 0) text += fmt::format(", {} {}", count, status_words(status));
  }
  return text;
}

/// How many strategies of points have times that were not simulated whole, and the least part that was; empty:
/// none.
std::string estimates_text(const SweepTable& table) {
  std::size_t estimated = 0;
  double least = 1.0, widest = 0.0;
  for (const ColumnData& column : table.columns) {
    const bool is_share = column.spec.name.ends_with(".estimate_simulated");
    const bool is_bound = column.spec.name.ends_with(".estimate_bound");
    if (!is_share && !is_bound) continue;
    for (const double value : std::get<std::vector<double>>(column.values)) {
      if (std::isnan(value)) continue;
      if (is_bound) widest = std::max(widest, value);
      if (is_share) least = std::min(least, value);
      if (is_share) ++estimated;
    }
  }
  if (estimated == 0) return "";
  const std::string bound =
      widest > 0.0 ? fmt::format(", bounds up to {:.2f}% at 95% confidence", 100 * widest) : "";
  return fmt::format(
      "Estimates: {} times were not simulated whole (measure.estimate); of the least {:.3g}% was simulated{}. "
      "Columns estimate_* of the merged table have each.",
      estimated, 100 * least, bound);
}

/// Points that have no numbers for one reason.
struct Cause {
  std::size_t first_row = 0;
  std::size_t count = 0;
};

std::string point_text(const SweepGrid& grid, std::size_t row) {
  std::vector<std::size_t> axes, levels;
  for (const std::size_t axis : grid.free_axes()) {
    if (grid.axes()[axis].name == kStrategyAxis) continue;
    axes.push_back(axis);
    levels.push_back(grid.axes()[axis].level[row]);
  }
  return where_text(grid, axes, levels);
}

}  // namespace

std::string sweep_head_section(const SweepScope& scope, const std::string& title) {
  const SweepTable& table = scope.grid.table();
  std::string html = "<header>\n<h1>" + escaped(title) + "</h1>\n<p class=\"counts\">" +
                     escaped(counts_text(scope.grid)) + "</p>\n" + keys_table(scope.grid) +
                     "<p class=\"command\"><code>" + escaped(attribute(table, "command_line")) +
                     "</code></p>\n";
  if (const std::string estimates = estimates_text(table); !estimates.empty())
    html += "<p class=\"note\">" + escaped(estimates) + "</p>\n";
  if (values_of(scope.grid, scope.choice.y).empty())
    html +=
        "<p><b>No point has a value of " + escaped(scope.choice.y) + ": there is nothing to draw.</b></p>\n";
  return html + "</header>\n";
}

std::string sweep_failures_section(const SweepScope& scope) {
  constexpr std::size_t kMost = 30;
  const SweepGrid& grid = scope.grid;
  const auto &status = grid.table().texts("status"), &error = grid.table().texts("error");
  std::vector<Cause> causes;
  std::size_t points = 0;
  std::map<std::pair<std::string, std::string>, std::size_t> known;
  for (std::size_t row = 0; row < status.size(); ++row) {
    if (status[row] == "ok") continue;
    const auto [found, is_new] = known.try_emplace({status[row], error[row]}, causes.size());
    if (is_new) causes.push_back({.first_row = row});
    ++causes[found->second].count;
    ++points;
  }
  if (causes.empty()) return "";
  std::vector<std::vector<std::string>> rows;
  for (const std::size_t i : thinned(causes.size(), kMost)) {
    const std::size_t row = causes[i].first_row;
    rows.push_back({fmt::format("{}", causes[i].count), escaped(status_words(status[row])),
                    R"(<td class="words">)" + escaped(error[row]) + "</td>",
                    R"(<td class="words">)" + escaped(point_text(grid, row)) + "</td>",
                    command_cell(grid, row)});
  }
  return fmt::format("<section id=\"failures\">\n<h2>{} points without numbers</h2>\n", points) +
         table_html("times points failures", {"points", "status", "why", "the first of them", ""}, rows) +
         left_out_note(rows.size(), causes.size(), "reasons") + "</section>\n";
}

std::string sweep_provenance_section(const SweepScope& scope) {
  std::string items, definition;
  for (const auto& [name, value] : scope.grid.table().attributes) {
    if (name == "definition") {
      definition = value;
    } else {
      items += fmt::format("<dt>{}</dt><dd>{}</dd>\n", escaped(name), escaped(value));
    }
  }
  return "<section id=\"provenance\">\n<details><summary>How it was made</summary>\n<dl "
         "class=\"provenance\">\n" +
         items + "</dl>\n<details><summary>Definition of the sweep</summary><pre>" + escaped(definition) +
         "</pre></details>\n</details>\n</section>\n";
}

}}  // namespace c3::results
