#include "app/collective/measured_choice.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "base/usage_error.hpp"
#include "importers/collective_times/headed_table.hpp"

namespace c3 { inline namespace app {
namespace {

std::string title_of(const CollectiveTable& table) {
  if (!table.ranks) return std::string(name_of(table.kind));
  return fmt::format("{} on {} GPUs", name_of(table.kind), *table.ranks);
}

std::string titles_of(const std::vector<CollectiveTable>& tables) {
  std::vector<std::string> titles;
  for (const CollectiveTable& table : tables)
    titles.push_back(title_of(table));
  return fmt::format("{}", fmt::join(titles, ", "));
}

}  // namespace

MeasuredChoice choose_measured(const std::string& file, std::optional<CollectiveKind> op,
                               std::optional<std::size_t> ranks) {
  const HeadedTable text(file);
  MeasuredTables found = read_measured_tables(text, {}, op);
  if (found.tables.empty()) {
    const std::string broken =
        found.broken.empty() ? "" : "; the first row that is none: " + found.broken.front();
    throw UsageError(fmt::format("--table: {} has no row{} to compare with{}", file,
                                 op ? fmt::format(" of {}", name_of(*op)) : "", broken));
  }
  const std::string all = titles_of(found.tables);
  if (ranks)
    std::erase_if(found.tables, [&](const CollectiveTable& table) {
      return table.ranks && static_cast<std::size_t>(*table.ranks) != *ranks;
    });
  if (found.tables.size() == 1) return {std::move(found.tables.front()), std::move(found.broken)};
  throw UsageError(fmt::format("--table: {} has {}; choose one by OP and --ranks", file, all));
}

std::vector<int> ranks_of(const CollectiveTable& table, const ClusterSpec& cluster) {
  if (!table.ranks || *table.ranks == cluster.ranks()) return {};
  const int gpus = *table.ranks / cluster.nodes;
  if (*table.ranks > cluster.ranks() || gpus * cluster.nodes != *table.ranks)
    throw UsageError(fmt::format(
        "--table: it has times of {} GPUs, and there are {}, in {} of {}; say --nodes, --system or --ranks",
        *table.ranks, cluster.ranks(), cluster.nodes == 1 ? "one node" : fmt::format("{} nodes", cluster.nodes),
        cluster.node.gpus));
  return cluster.first_of_each_node(gpus);
}

}}  // namespace c3::app
