#include <algorithm>

#include <fmt/format.h>

#include "results/report/html.hpp"
#include "results/report/sections.hpp"
#include "results/study_cells.hpp"

namespace c3 { inline namespace results {
namespace {

/// One rank is simulated for all that do the same; how many there are may differ from strategy to strategy.
std::string ranks_text(const ReportRun& run) {
  const std::string gpus = fmt::format("{} × {}", run.ranks, run.gpu);
  if (run.timelines.empty()) return gpus;
  const auto [least, most] = std::ranges::minmax_element(
      run.timelines, {}, [](const StrategyTimeline& timeline) { return timeline.gpus.size(); });
  const std::size_t few = least->gpus.size(), many = most->gpus.size();
  const auto ranks = static_cast<std::size_t>(run.ranks);
  if (few == ranks) return gpus;
  if (many == 1) return gpus + "; all do the same, 1 simulated";
  if (few == many)
    return fmt::format("{}; {} classes of ranks that do the same, 1 of each simulated", gpus, few);
  return fmt::format("{}; {} to {} classes of ranks that do the same, by strategy, 1 of each simulated", gpus,
                     few, many);
}

std::string facts_list(const ReportRun& run) {
  std::string text;
  for (const auto& fact : run.facts)
    text += fmt::format("<div><dt>{}</dt><dd>{}</dd></div>", escaped(fact.what), escaped(fact.value));
  return R"(<dl class="facts">)" + text + "</dl>";
}

/// What a reader must know before comparing any number.
std::string warnings(const ReportScope& scope) {
  std::string text;
  const auto add = [&](const std::string& sentence) {
    text += "<p class=\"warning\">" + escaped(sentence) + "</p>\n";
  };
  const std::string item = scope.compared_item();
  for (const auto& run : scope.runs) {
    if (!run.incomplete.empty()) add(run.file + ": " + run.incomplete);
    if (run.other_work.empty()) continue;
    add(fmt::format("work differs: {} ({} / {}){}", run.other_work, scope.runs.front().label, run.label,
                    item.empty() ? "; times below do not compare machines" : "; ratios below are per " + item));
  }
  return text;
}

}  // namespace

std::string head_section(const ReportScope& scope, const std::string& title) {
  std::string systems;
  for (const auto& run : scope.runs) {
    systems +=
        fmt::format("<div class=\"system\"><h2>{}</h2>\n<p>{}</p>\n<p class=\"muted\">{}</p>\n{}</div>\n",
                    escaped(run.label), escaped(ranks_text(run)),
                    escaped(repetitions_text(run.study.conditions) + "; modelled with " +
                            conditions_text(run.study.conditions)),
                    facts_list(run));
  }
  return fmt::format("<header>\n<h1>{}</h1>\n{}<div class=\"systems\">\n{}</div>\n</header>\n", escaped(title),
                     warnings(scope), systems);
}

std::string provenance_section(const ReportScope& scope) {
  std::string files;
  for (const auto& run : scope.runs) {
    std::string items, configuration;
    for (const auto& [name, value] : run.attributes) {
      if (name == "config_resolved") {
        configuration = value;
      } else {
        items += fmt::format("<dt>{}</dt><dd>{}</dd>\n", escaped(name), escaped(value));
      }
    }
    files += fmt::format(
        "<h3>{}</h3>\n<dl class=\"provenance\">\n{}</dl>\n"
        "<details><summary>Configuration, every number with its source</summary><pre>{}</pre></details>\n",
        escaped(run.file), items, escaped(configuration));
  }
  return "<section id=\"provenance\">\n<details><summary>How it was made</summary>\n" + files +
         "</details>\n</section>\n";
}

}}  // namespace c3::results
