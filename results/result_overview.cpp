#include "results/result_overview.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

#include <fmt/format.h>

#include "base/json.hpp"
#include "results/estimate_json.hpp"
#include "results/picoseconds.hpp"
#include "results/resource_steps.hpp"
#include "results/schema.hpp"
#include "results/step_tables.hpp"
#include "results/study_cells.hpp"
#include "results/study_reader.hpp"
#include "results/text_table.hpp"

namespace c3 { inline namespace results {
namespace {

constexpr double kMicrosecond = 1e6;  // ps
constexpr std::size_t kShownResources = 5;
constexpr std::size_t kShownCollectives = 3;
constexpr std::array kTables{"activities", "dependencies", "resources/list", "resources/steps", "collectives"};

struct ResourceUse {
  std::string name;
  double mean = 0;  ///< share of capacity in use, averaged over the run
};

/// Integral of used / capacity over the steps of every resource, divided by the run's length, largest first.
std::vector<ResourceUse> resource_use(const ResultReader& file, const std::string& strategy) {
  struct Integral {
    double sum = 0;          ///< integral of share * ps
    double share = 0;        ///< since `since`
    std::int64_t since = 0;  ///< ps
    bool has_steps = false;
    void advance(std::int64_t now, double next_share) {
      sum += share * static_cast<double>(now - since);
      share = next_share;
      since = now;
    }
  };
  const auto names = file.table(strategy, "resources/list").values<std::string>("name");
  const std::int64_t makespan = recorded_picoseconds(file, strategy);
  std::vector<Integral> integrals(names.size());
  each_resource_step(file, strategy, names.size(),
                     [&](std::size_t resource, std::int64_t time, double used, double capacity) {
                       integrals[resource].has_steps = true;
                       integrals[resource].advance(time, capacity > 0 ? used / capacity : 0);
                     });
  std::vector<ResourceUse> use;
  for (std::size_t i = 0; i < names.size(); ++i) {
    Integral& integral = integrals[i];
    if (!integral.has_steps) continue;
    integral.advance(makespan, 0);
    use.push_back({.name = names[i], .mean = makespan > 0 ? integral.sum / static_cast<double>(makespan) : 0});
  }
  std::ranges::sort(use, {}, &ResourceUse::name);
  std::ranges::stable_sort(use, std::ranges::greater{}, &ResourceUse::mean);
  return use;
}

std::int64_t makespan_of(const ResultReader& file, const std::string& strategy) {
  return file.table(strategy, "summary").values<std::int64_t>("time").at(0);
}

std::string collectives_text(const ResultTable& table) {
  constexpr double kGigabyte = 1e9;
  TextTable text(
      {"    collective", "gpu", "op", "algorithm", "protocol", "backend", "bytes", "time us", "busbw GB/s"});
  const auto word = [&](const char* column, std::size_t row) {
    return table.values<std::string>(column).at(row);
  };
  const auto shown = std::min(table.rows(), kShownCollectives);
  for (std::size_t row = 0; row < shown; ++row) {
    const auto time = table.values<std::int64_t>("end").at(row) - table.values<std::int64_t>("start").at(row);
    text.add({"    " + word("name", row), fmt::format("{}", table.values<std::int64_t>("gpu").at(row)),
              word("op", row), word("algorithm", row), word("protocol", row), word("backend", row),
              fmt::format("{:.0f}", table.values<double>("bytes").at(row)),
              fmt::format("{:.2f}", static_cast<double>(time) / kMicrosecond),
              fmt::format("{:.1f}", table.values<double>("busbw").at(row) / kGigabyte)});
  }
  const auto left = table.rows() - shown;
  return text.text() + (left > 0 ? fmt::format("    ... {} more: --table collectives\n", left) : "");
}

/// Mean power of the boards that a run has it of, and their energy; empty where no power is known.
std::string power_text(const ResultReader& file, const std::string& strategy) {
  constexpr std::size_t kShownBoards = 4;
  const ResultTable list = file.table(strategy, "resources/list");
  const double run = static_cast<double>(recorded_picoseconds(file, strategy)) / 1e12;  // s
  std::string text;
  std::size_t boards = 0;
  for (std::size_t row = 0; row < list.rows(); ++row) {
    if (list.values<std::string>("unit")[row] != "W" || ++boards > kShownBoards) continue;
    const double joules = list.values<double>("total")[row];
    text += fmt::format(" gpu{} {:.0f} W, {:.3g} J;", list.values<std::int64_t>("gpu")[row],
                        run > 0.0 ? joules / run : 0.0, joules);
  }
  if (boards == 0) return "";
  text.back() = '\n';
  return "  board power, derived (mean, and energy of the run):" + text;
}

std::string strategy_text(const ResultReader& file, const std::string& strategy) {
  const auto time = makespan_of(file, strategy);
  auto text = fmt::format("\n{}: {:.2f} us\n ", strategy, static_cast<double>(time) / kMicrosecond);
  if (const auto estimate = read_estimate(file, strategy))
    text += " " + estimate_text(*estimate, seconds(time), unit_for(seconds(time))) + "\n ";
  for (const auto* table : kTables)
    text += fmt::format(" {} {},", table, file.rows(strategy, table));
  text.back() = '\n';
  const auto use = resource_use(file, strategy);
  if (!use.empty()) text += "  busiest, mean over the run:";
  for (std::size_t i = 0; i < std::min(use.size(), kShownResources); ++i) {
    text += fmt::format(" {} {:.0f}%,", use[i].name, 100 * use[i].mean);
  }
  if (!use.empty()) text.back() = '\n';
  text += power_text(file, strategy);
  const auto collectives = file.table(strategy, "collectives");
  return collectives.rows() > 0 ? text + collectives_text(collectives) : text;
}

}  // namespace

std::string overview_text(const ResultReader& file, const std::vector<std::string>& strategies) {
  std::string text;
  if (const auto incomplete = file.incomplete()) text = *incomplete + "\n\n";
  for (const auto& [name, value] : file.attributes()) {
    const auto lines = std::ranges::count(value, '\n');
    text += fmt::format("{:<17} {}\n", name, lines > 0 ? fmt::format("({} lines of TOML)", lines) : value);
  }
  for (const auto& strategy : strategies)
    text += strategy_text(file, strategy);
  return text;
}

std::string overview_json(const ResultReader& file, const std::vector<std::string>& strategies) {
  Json json{{"schema_version", kJsonSchemaVersion}};
  for (const auto& [name, value] : file.attributes())
    json["attributes"][name] = value;
  json["strategies"] = Json::array();
  for (const auto& strategy : strategies) {
    const auto time = makespan_of(file, strategy);
    Json entry{
        {"strategy", strategy}, {"time_ps", time}, {"rows", Json::object()}, {"mean_use", Json::object()}};
    entry["estimate"] = estimate_json(read_estimate(file, strategy));
    for (const auto* table : kTables)
      entry["rows"][table] = file.rows(strategy, table);
    for (const auto& [name, mean] : resource_use(file, strategy))
      entry["mean_use"][name] = mean;
    json["strategies"].push_back(std::move(entry));
  }
  return json.dump(2) + "\n";
}

}}  // namespace c3::results
