#include "configs/sweep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ranges>
#include <utility>

#include "configs/document.hpp"
#include "configs/overrides.hpp"
#include "configs/toml_text.hpp"

namespace c3::inline configs {
namespace {

std::string text_of(const Node& value) { return value.text() == nullptr ? write_value(value) : *value.text(); }

/// Cells of one kind: what is not all of one unit are texts.
std::vector<SweepCell> cells_of(const SweepAxis& axis) {
  std::vector<SweepCell> cells;
  cells.reserve(axis.values.size());
  for (const Node& value : axis.values)
    cells.push_back(cell_of(value));
  const bool one_unit = std::ranges::all_of(cells, [&](auto& cell) { return cell.units == cells[0].units; });
  const bool any_real =
      std::ranges::any_of(cells, [](auto& cell) { return std::holds_alternative<double>(cell.value); });
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (!one_unit) cells[i] = {text_of(axis.values[i]), ""};
    if (one_unit && any_real) cells[i].value = cells[i].number();
  }
  return cells;
}

}  // namespace

Sweep Sweep::load(const std::filesystem::path& path, std::span<const std::string> sets) {
  Sweep sweep;
  sweep.document_ = load_document(path, sets);
  sweep.definition_ = write_toml(*sweep.document_.table());
  std::optional<SweepDescription> description = take_sweep(sweep.document_);
  if (!description) {
    throw ConfigError(
        sweep.document_.origin, "sweep",
        R"(is missing: what to sweep, as in [sweep.product] "gpu.hbm_read" = ["4 TB/s", "5 TB/s"])");
  }
  const Node* name = sweep.document_.table()->find("name");
  sweep.name_ = name == nullptr || name->text() == nullptr ? path.stem().string() : *name->text();
  sweep.settings_ = std::move(description->settings);
  sweep.filters_ = std::move(description->filters);
  sweep.add_groups(std::move(description->groups));
  sweep.find_points();
  return sweep;
}

void Sweep::add_groups(std::vector<SweepGroup> groups) {
  for (SweepGroup& group : groups) {
    groups_.push_back({.first = axes_.size(), .axes = group.size(), .values = group.front().values.size()});
    for (SweepAxis& axis : group) {
      names_.push_back(axis.name);
      cells_.push_back(cells_of(axis));
      axes_.push_back(std::move(axis));
    }
  }
}

void Sweep::find_points() {
  double combinations = 1;
  for (const Group& group : groups_)
    combinations *= static_cast<double>(group.values);
  if (combinations > static_cast<double>(kMostPoints)) {
    throw ConfigError(axes_.front().origin, "sweep",
                      fmt::format("makes {:.0f} combinations; at most {}", combinations, kMostPoints));
  }
  for (std::size_t i = 0; i < static_cast<std::size_t>(combinations); ++i) {
    SweepPoint point(axes_.size());
    std::size_t rest = i;
    for (const Group& group : std::views::reverse(groups_)) {
      std::fill_n(point.begin() + static_cast<std::ptrdiff_t>(group.first), group.axes, rest % group.values);
      rest /= group.values;
    }
    const std::vector<SweepCell> values = cells(point);
    if (std::ranges::all_of(filters_, [&](const SweepFilter& wanted) { return wanted(values); }))
      points_.push_back(std::move(point));
  }
  if (points_.empty()) throw ConfigError(axes_.front().origin, "sweep.where", "leaves no point");
}

std::vector<SweepCell> Sweep::cells(const SweepPoint& point) const {
  std::vector<SweepCell> cells;
  for (std::size_t axis = 0; axis < axes_.size(); ++axis)
    cells.push_back(cells_[axis][point[axis]]);
  return cells;
}

std::vector<std::string> Sweep::texts(const SweepPoint& point) const {
  std::vector<std::string> texts;
  for (std::size_t axis = 0; axis < axes_.size(); ++axis)
    texts.push_back(text_of(value(point, axis)));
  return texts;
}

template <class Change>
void Sweep::each_change(const SweepPoint& point, Change change) const {
  for (std::size_t axis = 0; axis < axes_.size(); ++axis) {
    if (!axes_[axis].key.empty()) change(axes_[axis].key, value(point, axis));
  }
  for (const SweepSetting& setting : settings_) {
    change(setting.key, substitute(setting.value, names_,
                                   [&](std::size_t axis) -> const Node& { return value(point, axis); }));
  }
}

ExperimentFile Sweep::experiment(const SweepPoint& point) const {
  Node document = document_;
  each_change(point,
              [&](const std::string& key, Node value) { override_value(document, key, std::move(value)); });
  return ExperimentFile::read(std::move(document), name_);
}

std::vector<std::string> Sweep::sets(const SweepPoint& point) const {
  std::vector<std::string> sets;
  each_change(point, [&](const std::string& key, const Node& value) {
    sets.push_back(fmt::format("{}={}", key, write_value(value)));
  });
  return sets;
}

}  // namespace c3::configs
