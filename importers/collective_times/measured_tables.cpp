#include "importers/collective_times/measured_tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <tuple>

#include "base/small_letters.hpp"
#include "importers/collective_times/measured_row.hpp"

namespace c3 { inline namespace importers {
namespace {

/// Takes the shorter one.
void take_least(std::optional<Seconds>& to, const std::optional<Seconds>& other) {
  if (other && (!to || *other < *to)) to = other;
}

/// One file on its way into tables.
class Reader {
 public:
  Reader(const HeadedTable& file, const std::vector<CellFilter>& filters, std::optional<CollectiveKind> op)
      : file_(file), asked_(op), rows_(file, op) {
    for (const CellFilter& filter : filters)
      filters_.emplace_back(file.need({in_small_letters(filter.column)}, "the map picks rows by it"),
                            in_small_letters(filter.value));
  }

  MeasuredTables read() {
    result_.broken = file_.broken();
    for (const HeadedTable::Row& row : file_.rows()) {
      try {
        read(row);
      } catch (const ConfigError& error) {
        result_.broken.emplace_back(error.what());
      }
    }
    for (CollectiveTable& table : result_.tables)
      merge_repeated(table.rows);
    name_tables();
    return std::move(result_);
  }

 private:
  void read(const HeadedTable::Row& row) {
    const auto is_other = [&](const auto& filter) {
      return in_small_letters(row.cells[filter.first]) != filter.second;
    };
    if (std::ranges::any_of(filters_, is_other)) return;
    const std::optional<MeasuredRow> read = rows_.read(row);
    if (!read || (asked_ && read->table.kind != *asked_)) return;
    CollectiveTable& table = table_of(read->table);
    table.rows.push_back(read->measured);
    if (table.library.empty()) table.library = read->table.library;
  }

  CollectiveTable& table_of(const CollectiveTable& row) {
    const auto key = [](const CollectiveTable& table) {
      return std::tie(table.kind, table.ranks, table.nodes, table.hosts, table.redop);
    };
    const auto found = std::ranges::find_if(
        result_.tables, [&](const CollectiveTable& table) { return key(table) == key(row); });
    return found != result_.tables.end() ? *found : result_.tables.emplace_back(row);
  }

  /// Rows of one size and type become one, with the least times.
  static void merge_repeated(std::vector<MeasuredCollective>& rows) {
    const auto size_and_type = [](const MeasuredCollective& row) {
      return std::tie(row.bytes, row.dtype, row.other_type.name);
    };
    std::ranges::stable_sort(rows, [&](const MeasuredCollective& a, const MeasuredCollective& b) {
      return std::pair(size_and_type(a), a.time) < std::pair(size_and_type(b), b.time);
    });
    std::vector<MeasuredCollective> merged;
    std::size_t in_place = 0, out_of_place = 0, rows_of_size = 0;
    for (const MeasuredCollective& row : rows) {
      if (merged.empty() || size_and_type(merged.back()) != size_and_type(row)) {
        merged.push_back(row);
        in_place = out_of_place = rows_of_size = 0;
      }
      in_place += row.in_place ? 1U : 0U;
      out_of_place += row.out_of_place ? 1U : 0U;
      ++rows_of_size;
      take_least(merged.back().out_of_place, row.out_of_place);
      take_least(merged.back().in_place, row.in_place);
      const bool has_places = in_place + out_of_place >= rows_of_size;
      merged.back().repetitions =
          static_cast<int>(has_places ? std::max(in_place, out_of_place) : rows_of_size);
    }
    rows = std::move(merged);
  }

  void name_tables() {
    const std::string stem = std::filesystem::path(file_.file()).stem().string();
    for (CollectiveTable& table : result_.tables) {
      table.name = stem;
      for (const auto& [column, value] : filters_)
        table.name += ' ' + value;
      if (rows_.has_op()) table.name += fmt::format(" {}", c3::name_of(table.kind));
      if (rows_.has_ranks() && table.ranks) table.name += fmt::format(" {}", *table.ranks);
      if (rows_.has_nodes() && table.nodes) table.name += fmt::format("x{}", *table.nodes);
    }
  }

  const HeadedTable& file_;
  std::optional<CollectiveKind> asked_;
  MeasuredRowReader rows_;
  std::vector<std::pair<std::size_t, std::string>> filters_;
  MeasuredTables result_;
};

}  // namespace

MeasuredTables read_measured_tables(const HeadedTable& file, const std::vector<CellFilter>& filters,
                                    std::optional<CollectiveKind> op) {
  return Reader(file, filters, op).read();
}

}}  // namespace c3::importers
