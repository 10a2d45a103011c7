#include "results/diff/summary_diff.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <unordered_map>

#include "files/io_error.hpp"
#include "results/picoseconds.hpp"

namespace c3 { inline namespace results {
namespace {

struct Number {
  std::string unit;
  double value = 0;
};

/// The numbers of one file, in its order.
struct Numbers {
  std::vector<std::string> names;
  std::unordered_map<std::string, Number> values;

  /// Rows of the same name, such as tensors alike, are one number.
  void add(const std::string& name, const std::string& unit, double value) {
    const auto [entry, is_new] = values.try_emplace(name, Number{unit, 0.0});
    entry->second.value += value;
    if (is_new) names.push_back(name);
  }
};

std::optional<double> number_at(const ColumnData& column, std::size_t row) {
  if (const auto* integers = std::get_if<std::vector<std::int64_t>>(&column.values))
    return static_cast<double>(integers->at(row));
  if (const auto* reals = std::get_if<std::vector<double>>(&column.values)) return reals->at(row);
  return std::nullopt;
}

/// Tables of one row, a number a column.
void add_single(Numbers& numbers, const StrategyIn& strategy, const std::string& table,
                const std::string& prefix) {
  if (!strategy.file.has_table(strategy.name, table)) return;
  for (const ColumnData& column : strategy.file.table(strategy.name, table).columns) {
    if (const auto value = number_at(column, 0))
      numbers.add(prefix + column.spec.name, column.spec.units, *value);
  }
}

std::string stream_name(const StrategyIn& strategy, std::int64_t stream) {
  const auto names = strategy.file.streams();
  const auto index = static_cast<std::size_t>(stream);  // a negative one is beyond, too
  if (index >= names.size())
    throw IoError(strategy.file.path(), "read", "table 'streams' points beyond /streams");
  return names[index];
}

/// A row's name: its texts, or for streams the name that its number stands for.
std::string row_name(const StrategyIn& strategy, const ResultTable& table, std::size_t row) {
  if (table.name == "streams") return stream_name(strategy, table.values<std::int64_t>("stream").at(row));
  std::string name;
  for (const ColumnData& column : table.columns) {
    if (const auto* texts = std::get_if<std::vector<std::string>>(&column.values))
      name = name.empty() ? texts->at(row) : fmt::format("{} of {}", texts->at(row), name);
  }
  return name;
}

/// Tables of which every row has a name.
void add_rows(Numbers& numbers, const StrategyIn& strategy, const std::string& name) {
  if (!strategy.file.has_table(strategy.name, name)) return;
  const ResultTable table = strategy.file.table(strategy.name, name);
  for (std::size_t row = 0; row < table.rows(); ++row) {
    const std::string prefix = fmt::format("{}.{}.", name, row_name(strategy, table, row));
    for (const ColumnData& column : table.columns) {
      const auto value = column.spec.name == "stream" ? std::nullopt : number_at(column, row);
      if (value) numbers.add(prefix + column.spec.name, column.spec.units, *value);
    }
  }
}

Numbers numbers_of(const StrategyIn& strategy) {
  Numbers numbers;
  add_single(numbers, strategy, "summary", "");
  for (const char* const name : {"recorded_seed", "recorded_draw"}) {
    if (const auto text = strategy.file.attribute(strategy.name, "summary", name))
      numbers.add(name, "1", std::stod(*text));
  }
  add_single(numbers, strategy, "step", "step.");
  for (const char* const table : {"streams", "classes", "step_classes", "memory"})
    add_rows(numbers, strategy, table);
  return numbers;
}

/// Times before all else, and what only one file has after what can be compared.
std::array<double, 3> order_of(const NumberChange& change) {
  const bool is_time = change.unit == "ps";
  const double infinite = std::numeric_limits<double>::infinity();
  const auto size = is_time ? change.change() : change.relative();
  return {is_time ? 0.0 : 1.0, change.change() ? 0.0 : 1.0, size ? -std::abs(*size) : -infinite};
}

Seconds time_of(const Numbers& numbers, const StrategyIn& strategy) {
  const auto time = numbers.values.find("time");
  if (time == numbers.values.end())
    throw IoError(strategy.file.path(), "read", "strategy '" + strategy.name + "' has no time");
  return Seconds{time->second.value / kPicosecondsPerSecond};
}

}  // namespace

bool within(double tolerance, double a, double b) {
  return std::abs(a - b) <= tolerance * std::max(std::abs(a), std::abs(b));
}

std::optional<double> NumberChange::change() const {
  if (!a || !b) return std::nullopt;
  return *b - *a;
}

std::optional<double> NumberChange::relative() const {
  if (!a || !b || *a == 0.0) return std::nullopt;
  return *b / *a - 1.0;
}

SummaryDiff diff_summaries(const StrategyIn& a, const StrategyIn& b, double tolerance) {
  const Numbers first = numbers_of(a), second = numbers_of(b);
  SummaryDiff diff{.time_a = time_of(first, a), .time_b = time_of(second, b)};
  for (const std::string& name : first.names) {
    const Number& number = first.values.at(name);
    const auto other = second.values.find(name);
    if (other == second.values.end()) {
      diff.changes.push_back({name, number.unit, number.value, std::nullopt});
    } else if (within(tolerance, number.value, other->second.value)) {
      ++diff.equal;
    } else {
      diff.changes.push_back({name, number.unit, number.value, other->second.value});
    }
  }
  for (const std::string& name : second.names) {
    const Number& number = second.values.at(name);
    if (!first.values.contains(name)) diff.changes.push_back({name, number.unit, std::nullopt, number.value});
  }
  std::ranges::stable_sort(diff.changes, {}, order_of);
  return diff;
}

}}  // namespace c3::results
