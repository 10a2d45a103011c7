#include "app/collective/measured_choice.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/usage_error.hpp"
#include "importers/collective_times/headed_table.hpp"

namespace c3 { inline namespace app {
namespace {

constexpr std::string_view kSum = "sum";  // what is simulated

std::string title_of(const CollectiveTable& table) {
  std::string title(name_of(table.kind));
  if (!table.redop.empty() && table.redop != kSum) title += fmt::format(" ({})", table.redop);
  if (table.ranks) title += fmt::format(" on {} GPUs", *table.ranks);
  return title;
}

std::string titles_of(const std::vector<CollectiveTable>& tables) {
  std::vector<std::string> titles;
  for (const CollectiveTable& table : tables)
    titles.push_back(title_of(table));
  return fmt::format("{}", fmt::join(titles, ", "));
}

/// Takes away other reductions of what is measured with sums, too.
void keep_sums(std::vector<CollectiveTable>& tables, std::vector<std::string>& notes) {
  const auto is_of_sum = [](const CollectiveTable& table) { return table.redop == kSum; };
  std::vector<CollectiveTable> sums;
  std::ranges::copy_if(tables, std::back_inserter(sums), is_of_sum);
  std::vector<std::string> left;
  std::erase_if(tables, [&](const CollectiveTable& table) {
    const bool has_sum = std::ranges::any_of(sums, [&](const CollectiveTable& sum) {
      return sum.kind == table.kind && sum.ranks == table.ranks && sum.nodes == table.nodes &&
             sum.hosts == table.hosts;
    });
    const bool goes = has_sum && !is_of_sum(table);
    if (goes) left.push_back(title_of(table));
    return goes;
  });
  if (!left.empty())
    notes.push_back(fmt::format("not compared, since sums are simulated: {}", fmt::join(left, ", ")));
}

/// What the rows of \p table are that cannot be simulated as they are.
void add_notes(std::vector<std::string>& notes, const CollectiveTable& table) {
  if (!table.redop.empty() && table.redop != kSum)
    notes.push_back(fmt::format("measured with {}; a sum of as many bytes is simulated", table.redop));
  std::set<std::string> types;
  int most = 1;
  for (const MeasuredCollective& row : table.rows) {
    if (!row.other_type.name.empty()) types.insert(row.other_type.name);
    most = std::max(most, row.repetitions);
  }
  if (!types.empty())
    notes.push_back(
        fmt::format("no collective here has elements of type {}; as many bytes of another type are simulated",
                    fmt::join(types, ", ")));
  if (most > 1)
    notes.push_back(
        fmt::format("sizes were measured up to {} times; the shortest time of each is compared", most));
}

}  // namespace

TableFile choose_measured(const std::string& file, std::optional<CollectiveKind> op,
                          std::optional<std::size_t> ranks) {
  const HeadedTable text(file);
  TableFile chosen{.name = std::filesystem::path(file).stem().string(),
                   .log = text.log(),
                   .measured = std::nullopt,
                   .notes = {}};
  if (text.rows().empty() && text.broken().empty() && text.log().has_facts()) return chosen;
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
  keep_sums(found.tables, chosen.notes);
  if (found.tables.size() != 1)
    throw UsageError(fmt::format("--table: {} has {}; choose one by OP and --ranks", file, all));
  add_notes(chosen.notes, found.tables.front());
  chosen.measured = {std::move(found.tables.front()), std::move(found.broken)};
  return chosen;
}

std::vector<int> ranks_of(std::optional<int> measured, const ClusterSpec& cluster) {
  if (!measured || *measured == cluster.ranks()) return {};
  const int gpus = *measured / cluster.nodes;
  if (*measured > cluster.ranks() || gpus * cluster.nodes != *measured)
    throw UsageError(fmt::format(
        "--table: it has times of {} GPUs, and there are {}, in {} of {}; say --nodes, --system or --ranks",
        *measured, cluster.ranks(), cluster.nodes == 1 ? "one node" : fmt::format("{} nodes", cluster.nodes),
        cluster.node.gpus));
  return cluster.first_of_each_node(gpus);
}

}}  // namespace c3::app
