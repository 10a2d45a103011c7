#include "results/report/report_run.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>

#include <fmt/format.h>

#include "results/hardware_words.hpp"
#include "results/report/value_scale.hpp"
#include "results/study_reader.hpp"

namespace c3 { inline namespace results {
namespace {

/// "7 × 48.4 GB/s" of several alike.
std::string several(const std::map<double, int>& counts) {
  std::string text;
  for (const auto& [capacity, count] : counts) {
    if (!text.empty()) text += " + ";
    text += (count > 1 ? fmt::format("{} × ", count) : "") + with_prefix(capacity, "B/s");
  }
  return text;
}

/// Facts about the first GPU. Capacities are those at the start; links are counted in the direction that sends.
std::vector<GpuFact> read_facts(const ResultReader& file, const std::string& strategy) {
  const auto list = file.table(strategy, "resources/list");
  const auto& names = list.values<std::string>("name");
  const auto& ranks = list.values<std::int64_t>("gpu");
  const auto& capacities = list.values<double>("capacity");
  const auto units = compute_units_of(file.attribute("gpu"));
  std::vector<GpuFact> facts;
  std::map<double, int> links, engines;
  for (std::size_t row = 0; row < names.size(); ++row) {
    const auto& name = names[row];
    if (ranks[row] != 0 || !std::isfinite(capacities[row])) continue;
    if (name.ends_with(".cus")) facts.push_back({std::string(units), fmt::format("{:.0f}", capacities[row])});
    if (name.ends_with(".hbm")) facts.push_back({"HBM", with_prefix(capacities[row], "B/s")});
    if (name.starts_with("gpu0.dma")) ++engines[capacities[row]];
    if (!name.starts_with("gpu") && !name.starts_with("link.") && !name.ends_with(".duplex") &&
        !name.ends_with(".in"))
      ++links[capacities[row]];
  }
  std::ranges::sort(facts, {}, &GpuFact::what);
  if (!links.empty()) facts.push_back({"links out", several(links)});
  if (!engines.empty()) facts.push_back({"copy engines", several(engines)});
  return facts;
}

}  // namespace

std::optional<std::size_t> ReportRun::index_of(const std::string& strategy) const {
  const auto found = std::ranges::find(study.strategies, strategy, &StrategyResult::name);
  if (found == study.strategies.end()) return std::nullopt;
  return static_cast<std::size_t>(found - study.strategies.begin());
}

ReportRun read_report_run(const ResultReader& file, const std::vector<std::string>& strategies) {
  ReportRun run;
  run.file = std::filesystem::path(file.path()).filename().string();
  run.attributes = file.attributes();
  run.study = read_study(file);
  if (!strategies.empty()) {
    std::erase_if(run.study.strategies, [&](const StrategyResult& strategy) {
      return std::ranges::find(strategies, strategy.name) == strategies.end();
    });
  }
  run.incomplete = file.incomplete().value_or("");
  run.label = run.study.conditions.system;
  run.gpu = file.attribute("gpu");
  run.ranks = static_cast<int>(file.number("ranks"));
  for (const auto& strategy : run.study.strategies) {
    run.timelines.push_back(read_timeline(file, strategy.name));
    run.buffers.push_back(read_buffers(file, strategy.name));
  }
  if (!run.study.strategies.empty()) run.facts = read_facts(file, run.study.strategies.front().name);
  return run;
}

}}  // namespace c3::results
