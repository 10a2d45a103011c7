#include "configs/tables/timed_table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <functional>
#include <optional>
#include <string_view>

#include "base/nearest_name.hpp"
#include "configs/tables/csv_scanner.hpp"

namespace c3 { inline namespace configs {
namespace {

constexpr std::size_t kLargestTable = 0xFFFFFFFF;  // rows

constexpr std::array<std::string_view, 3> kNameColumns{"name", "kernel", "kernel name"};
constexpr std::array<std::string_view, 8> kTimeColumns{"duration", "time",    "dur",      "kernel dur",
                                                       "latency",  "elapsed", "gpu time", "runtime"};

struct Unit {
  std::string_view name;
  double seconds;
};
constexpr std::array<Unit, 4> kUnits{{{"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1.0}}};

std::optional<double> unit_called(std::string_view name) {
  const auto* const found = std::ranges::find(kUnits, name, &Unit::name);
  return found == kUnits.end() ? std::nullopt : std::optional(found->seconds);
}

/// "duration (ns)", "time us" and "ms" without their unit, and the unit.
struct NamedUnit {
  std::string base;
  std::optional<double> seconds;
};
NamedUnit cut_unit(const std::string& column) {
  const bool has_brackets = column.ends_with(')') || column.ends_with(']');
  const std::size_t at = has_brackets ? column.find_last_of("([") : column.rfind(' ');
  std::string unit = column.substr(at == std::string::npos ? 0 : at + 1);
  if (has_brackets && at != std::string::npos) unit.pop_back();
  const std::optional<double> seconds = unit_called(unit);
  if (!seconds) return {column, std::nullopt};
  std::string base = at == std::string::npos ? "" : column.substr(0, at);
  base.resize(base.find_last_not_of(' ') + 1);
  return {base, seconds};
}

bool is_time(const std::string& column) {
  const NamedUnit cut = cut_unit(column);
  return std::ranges::count(kTimeColumns, cut.base) > 0 || (cut.base.empty() && cut.seconds);
}

/// Reads rows under a header.
class TimedRows : CsvTable {
 public:
  struct Row {
    std::string_view key;
    Seconds time;
    std::string_view iteration;  ///< empty: no such column
  };

  TimedRows(const std::filesystem::path& file, TimedColumns columns, std::span<const std::string_view> keys)
      : CsvTable(file), wanted_(std::move(columns)), keys_(keys) {}

  void take_all(std::function<void(const Row&)> take) {
    take_ = std::move(take);
    read();
  }

  bool unit_assumed() const { return unit_assumed_; }

  double number(std::string_view cell, std::string_view key) const {
    double value = 0.0;
    const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
    if (error != std::errc() || end != cell.data() + cell.size() || !std::isfinite(value) || value < 0.0)
      fail(cell, key, fmt::format("'{}' is not a number of at least 0", cell.substr(0, 40)));
    return value;
  }

 private:
  void read_header() override {
    std::vector<std::string> names;
    for (const std::string_view cell : cells())
      names.push_back(plain_column(cell));
    key_ = find(
        names, wanted_.key, [&](const std::string& name) { return std::ranges::count(keys_, name) > 0; },
        fmt::format("{}", fmt::join(keys_, ", ")));
    time_ = find(names, wanted_.time, is_time,
                 "duration, time or latency, with or without a unit as in duration_us, or ms");
    const auto iteration = std::ranges::find(names, "iteration");
    if (iteration != names.end()) iteration_ = static_cast<std::size_t>(iteration - names.begin());
    const std::optional<double> own = cut_unit(names[time_]).seconds;
    unit_assumed_ = !own && wanted_.unit.empty();
    seconds_ = own ? *own : unit_called(wanted_.unit).value_or(1e-6);
  }

  /// The column called \p wanted, or else the first that \p is_one says yes to.
  template <class IsOne>
  std::size_t find(const std::vector<std::string>& names, const std::string& wanted, IsOne is_one,
                   const std::string& allowed) const {
    const auto found =
        wanted.empty() ? std::ranges::find_if(names, is_one) : std::ranges::find(names, plain_column(wanted));
    if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
    if (!wanted.empty()) {
      const std::vector<std::string> known(cells().begin(), cells().end());
      fail("header", unknown_name("column", wanted, known));
    }
    fail("header", fmt::format("lacks a column, one of {}; it has {}", allowed, fmt::join(cells(), ", ")));
  }

  void read_row() override {
    if (rows() > kLargestTable) fail("row", fmt::format("is beyond row {}", kLargestTable));
    take_({cells()[key_], Seconds{number(cells()[time_], "time") * seconds_},
           iteration_ ? cells()[*iteration_] : std::string_view()});
  }

  TimedColumns wanted_;
  std::span<const std::string_view> keys_;
  std::function<void(const Row&)> take_;
  std::size_t key_ = 0, time_ = 0;
  std::optional<std::size_t> iteration_;
  double seconds_ = 1e-6;
  bool unit_assumed_ = false;
};

}  // namespace

InvocationTable read_invocations(const std::filesystem::path& file, const TimedColumns& columns) {
  InvocationTable table;
  TimedRows rows(file, columns, kNameColumns);
  rows.take_all([&](const TimedRows::Row& row) { table.invocations.add(row.key, row.time); });
  table.unit_assumed = rows.unit_assumed();
  return table;
}

IterationTable read_iterations(const std::filesystem::path& file, const TimedColumns& columns) {
  IterationTable table;
  TimedRows rows(file, columns, kLengthColumns);
  rows.take_all([&](const TimedRows::Row& row) {
    if (row.iteration == "0") {
      ++table.warm_ups;
    } else {
      table.iterations.push_back({rows.number(row.key, "length"), row.time});
    }
  });
  table.unit_assumed = rows.unit_assumed();
  return table;
}

}}  // namespace c3::configs
