#include "studies/collectives/collectives_part.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "base/nearest_name.hpp"

namespace c3 { inline namespace studies {
namespace {

std::optional<CollectiveKind> operation_of(const MapEntry& entry) {
  if (entry.op.empty()) return std::nullopt;
  if (const auto kind = operation_named(entry.op)) return kind;
  throw ConfigError(entry.op_at, "op", unknown_name("operation", entry.op, offered_operations()));
}

}  // namespace

void CollectivesPart::add(const HeadedTable& file, const MapEntry& entry) {
  MeasuredTables measured = read_measured_tables(file, entry.where, operation_of(entry));
  std::ranges::move(measured.broken, std::back_inserter(broken_));
  if (measured.tables.empty()) throw ConfigError(entry.at, "file", "has no row to run");
  std::map<std::pair<int, std::string>, std::shared_ptr<const ClusterSpec>> clusters;  // by nodes and library
  for (CollectiveTable& table : measured.tables) {
    try {
      MapEntry of_table = entry;
      of_table.nodes = entry.nodes.value_or(table.nodes.value_or(1));
      auto& cluster = clusters[{*of_table.nodes, table.library}];
      if (!cluster) cluster = load_system(of_table, table.library);
      TableRun run(file.file(), std::move(table), of_table, cluster);
      const auto same = [&](const TableRun& other) { return other.name() == run.name(); };
      if (std::ranges::any_of(tables_, same)) run.rename(fmt::format("{} @{}", run.name(), entry.at.line));
      tables_.push_back(std::move(run));
    } catch (const ConfigError& error) {
      broken_.emplace_back(error.what());
    }
  }
}

void CollectivesPart::plan(SimulationJobs& jobs) {
  for (TableRun& table : tables_)
    table.plan(jobs);
}

std::vector<std::string> CollectivesPart::broken() const {
  std::vector<std::string> all = broken_;
  for (const TableRun& table : tables_)
    std::ranges::move(table.refusals(), std::back_inserter(all));
  return all;
}

std::string CollectivesPart::rows_as_csv() const {
  std::string text = fmt::format("{}\n", TableRun::kRowColumns);
  for (const TableRun& table : tables_)
    text += table.rows_as_csv();
  return text;
}

}}  // namespace c3::studies
