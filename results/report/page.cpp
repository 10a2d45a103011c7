#include "results/report/page.hpp"

#include <algorithm>
#include <set>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "results/picoseconds.hpp"
#include "results/report/html.hpp"
#include "results/report/sections.hpp"
#include "results/report/style.hpp"

namespace c3 { inline namespace results {
namespace {

std::vector<std::string> all_strategies(std::span<const ReportRun> runs) {
  std::vector<std::string> names;
  for (const auto& run : runs) {
    for (const auto& strategy : run.study.strategies) {
      if (std::ranges::find(names, strategy.name) == names.end()) names.push_back(strategy.name);
    }
  }
  return names;
}

/// A little longer than the longest run, so that its end is seen.
TimeAxis axis_of(std::int64_t longest) {
  constexpr double kRoom = 1.02;
  return {.end = static_cast<std::int64_t>(kRoom * static_cast<double>(longest)),
          .unit = unit_for(seconds(longest))};
}

ReportScope scope_of(std::span<const ReportRun> runs) {
  std::int64_t longest = 1, longest_drawn = 1;
  for (const auto& run : runs) {
    for (const auto& strategy : run.study.strategies)
      longest = std::max(longest, picoseconds(strategy.time));
    for (const auto& timeline : run.timelines)
      longest_drawn = std::max({longest_drawn, timeline.time, timeline.recorded_end.value_or(0)});
  }
  return {.runs = runs,
          .strategies = all_strategies(runs),
          .axis = axis_of(longest),
          .timelines = axis_of(longest_drawn)};
}

std::string default_title(std::span<const ReportRun> runs) {
  std::vector<std::string> names;
  for (const auto& run : runs) {
    if (std::ranges::find(names, run.study.experiment) == names.end()) names.push_back(run.study.experiment);
  }
  return fmt::format("{}", fmt::join(names, " and "));
}

}  // namespace

std::string ReportScope::compared_item() const {
  if (std::ranges::all_of(runs, [](const ReportRun& run) { return run.other_work.empty(); })) return "";
  std::set<std::string_view> items;
  for (const ReportRun& run : runs)
    for (const StrategyResult& strategy : run.study.strategies)
      items.insert(strategy.throughput ? name_of(strategy.throughput->of_step.item) : "");
  if (items.size() != 1 || items.begin()->empty()) return "";
  const std::string_view item = *items.begin();
  return std::string(item.substr(0, item.size() - 1));  // without its "s"
}

std::string report_page(std::span<const ReportRun> runs, const std::string& title) {
  const ReportScope scope = scope_of(runs);
  const auto heading = title.empty() ? default_title(runs) : title;
  return page_begin(heading, kReportStyle) + head_section(scope, heading) + overview_section(scope) +
         table_section(scope) + step_section(scope) + loss_section(scope) + timeline_section(scope) +
         channels_section(scope) + definitions_section() + provenance_section(scope) + kPageEnd;
}

}}  // namespace c3::results
