#include "results/report/sweep/sweep_page.hpp"

#include <algorithm>

#include "results/report/curve_svg.hpp"
#include "results/report/html.hpp"
#include "results/report/style.hpp"
#include "results/report/sweep/sweep_sections.hpp"

namespace c3 { inline namespace results {
namespace {

std::string experiment_of(const SweepTable& table) {
  const auto found =
      std::ranges::find(table.attributes, "experiment", &std::pair<std::string, std::string>::first);
  return found == table.attributes.end() ? "sweep" : found->second;
}

}  // namespace

std::vector<SweptKey> page_keys(const SweepTable& table, const SweepWishes& wishes) {
  std::vector<std::string> wished{wishes.x, wishes.series};
  wished.insert(wished.end(), wishes.heat.begin(), wishes.heat.end());
  wished.insert(wished.end(), wishes.for_each.begin(), wishes.for_each.end());
  wished.insert(wished.end(), wishes.choose.begin(), wishes.choose.end());
  std::vector<SweptKey> keys = swept_keys(table, level_labels, wished);
  for (SweptKey& key : keys)
    if (std::ranges::find(wishes.choose, key.name) != wishes.choose.end()) key.is_given = false;
  return keys;
}

std::string sweep_page(const SweepTable& table, const SweepPageRequest& request) {
  const SweepTable kept = only_rows(table, page_keys(table, request.wishes), request.only);
  const SweepGrid grid(kept, page_keys(kept, request.wishes), request.strategies);
  const SweepScope scope{.grid = grid, .choice = choose(grid, request.wishes), .command = request.command};
  const std::string title = request.title.empty() ? experiment_of(table) : request.title;
  return page_begin(title, std::string(kReportStyle) + kCurveStyle + kSweepStyle) +
         sweep_head_section(scope, title) + sweep_best_section(scope) + sweep_lines_section(scope) +
         sweep_bars_section(scope) + sweep_heat_section(scope) + sweep_pareto_section(scope) +
         sweep_failures_section(scope) + sweep_table_section(scope) + sweep_provenance_section(scope) +
         kPageEnd;
}

}}  // namespace c3::results
