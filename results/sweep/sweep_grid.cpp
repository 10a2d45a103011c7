#include "results/sweep/sweep_grid.hpp"

#include <algorithm>
#include <cmath>
#include <span>

namespace c3 { inline namespace results {
namespace {

constexpr std::string_view kOk = "ok";

const std::vector<double>* numbers_of(const ColumnData* column) {
  return column == nullptr ? nullptr : std::get_if<std::vector<double>>(&column->values);
}

/// Columns behind status and error, before the command.
std::span<const ColumnData> number_columns(const SweepTable& table) {
  const std::size_t first = std::min(table.axes + 3, table.columns.size());
  return std::span(table.columns).subspan(first);
}

}  // namespace

std::optional<Spread> spread_of(std::vector<std::pair<double, std::size_t>> values) {
  if (values.empty()) return std::nullopt;
  std::ranges::sort(values);
  const auto& [median, row] = values[(values.size() - 1) / 2];
  return Spread{.median = median,
                .low = values.front().first,
                .high = values.back().first,
                .row = row,
                .count = values.size()};
}

std::vector<std::string> strategies_of(const SweepTable& table) {
  constexpr std::string_view kTime = ".time";
  std::vector<std::string> names;
  for (const ColumnData& column : number_columns(table)) {
    if (column.spec.name.ends_with(kTime))
      names.push_back(column.spec.name.substr(0, column.spec.name.size() - kTime.size()));
  }
  return names;
}

std::vector<std::string> metrics_of(const SweepTable& table) {
  std::vector<std::string> bare, whole, swept;
  const auto strategies = strategies_of(table);
  for (const ColumnData& column : number_columns(table)) {
    if (numbers_of(&column) == nullptr) continue;
    const std::string& name = column.spec.name;
    const auto owner =
        std::ranges::find_if(strategies, [&](const std::string& s) { return name.starts_with(s + "."); });
    if (owner == strategies.end()) continue;
    whole.push_back(name);
    const std::string number = name.substr(owner->size() + 1);
    if (std::ranges::find(bare, number) == bare.end()) bare.push_back(number);
  }
  for (const SweptKey& axis : swept_keys(table, {})) {
    if (axis.is_number()) swept.push_back(axis.name);
  }
  bare.insert(bare.end(), whole.begin(), whole.end());
  bare.insert(bare.end(), swept.begin(), swept.end());
  return bare;
}

SweepGrid::SweepGrid(const SweepTable& table, std::vector<SweptKey> axes,
                     const std::vector<std::string>& strategies)
    : table_(&table), axes_(std::move(axes)), strategies_(strategies_of(table)) {
  for (const ColumnData& column : table.columns)
    columns_.emplace(column.spec.name, &column);
  if (!strategies.empty()) {
    std::erase_if(strategies_, [&](const std::string& name) {
      return std::ranges::find(strategies, name) == strategies.end();
    });
  }
  if (strategies_.size() > 1) {
    axes_.push_back({.name = std::string(kStrategyAxis),
                     .labels = strategies_,
                     .level = std::vector<std::size_t>(table.rows(), 0)});
  }
  add_cases();
}

void SweepGrid::add_cases() {
  const bool compares = strategies_.size() > 1;
  std::map<std::vector<std::size_t>, std::size_t> known;  // levels of a point to its first case
  const std::vector<std::string> names = strategies_.empty() ? std::vector<std::string>{""} : strategies_;
  for (std::size_t row = 0; row < table_->rows(); ++row) {
    std::vector<std::size_t> levels;
    for (const SweptKey& axis : axes_)
      levels.push_back(axis.level[row]);
    const auto [found, is_new] = known.try_emplace(levels, cases_.size());
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (compares) levels.back() = i;
      if (is_new) cases_.push_back({.levels = levels, .strategy = names[i], .rows = {}});
      cases_[found->second + i].rows.push_back(row);
    }
    seeds_ = std::max(seeds_, cases_[found->second].rows.size());
  }
}

std::vector<std::size_t> SweepGrid::free_axes() const {
  std::vector<std::size_t> free;
  for (std::size_t i = 0; i < axes_.size(); ++i)
    if (axes_[i].is_free()) free.push_back(i);
  return free;
}

std::optional<std::size_t> SweepGrid::axis(std::string_view name) const {
  const auto found = std::ranges::find(axes_, name, &SweptKey::name);
  if (found == axes_.end()) return std::nullopt;
  return static_cast<std::size_t>(found - axes_.begin());
}

const ColumnData* SweepGrid::column(const std::string& strategy, const std::string& metric) const {
  for (const std::string& name : {strategy + "." + metric, metric}) {
    const auto found = columns_.find(name);
    if (found != columns_.end()) return found->second;
  }
  return nullptr;
}

std::optional<Spread> SweepGrid::value(const SweepCase& at, const std::string& metric) const {
  const ColumnData* const data = column(at.strategy, metric);
  if (data == nullptr) return std::nullopt;
  const std::vector<std::string>& status = table_->texts("status");
  std::vector<std::pair<double, std::size_t>> values;
  for (const std::size_t row : at.rows) {
    if (status[row] != kOk) continue;
    if (const auto* whole = std::get_if<std::vector<std::int64_t>>(&data->values)) {
      values.emplace_back(static_cast<double>((*whole)[row]), row);
    } else if (const auto* numbers = numbers_of(data); numbers != nullptr && std::isfinite((*numbers)[row])) {
      values.emplace_back((*numbers)[row], row);
    }
  }
  return spread_of(std::move(values));
}

std::string SweepGrid::status(const SweepCase& at) const {
  const std::vector<std::string>& status = table_->texts("status");
  const auto found = std::ranges::find_if(at.rows, [&](std::size_t row) { return status[row] != kOk; });
  return found == at.rows.end() ? "no value" : status[*found];
}

}}  // namespace c3::results
