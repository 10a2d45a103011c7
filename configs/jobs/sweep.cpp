#include "configs/jobs/sweep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ranges>
#include <utility>

#include "configs/presets/document.hpp"
#include "configs/toml/overrides.hpp"
#include "configs/toml/toml_text.hpp"

namespace c3 { inline namespace configs {
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
  Node document = load_document(path, sets);
  std::string definition = write_toml(*document.table());
  document.table()->erase("tune");
  std::optional<SweepDescription> description = take_sweep(document);
  if (!description) {
    throw ConfigError(
        document.origin, "sweep",
        R"(is missing: what to sweep, as in [sweep.product] "gpu.hbm_read" = ["4 TB/s", "5 TB/s"])");
  }
  return {std::move(document), std::move(*description), "sweep", path.stem().string(), std::move(definition)};
}

Sweep::Sweep(Node document, SweepDescription description, const std::string& table, const std::string& stem,
             std::string definition)
    : table_(table),
      definition_(std::move(definition)),
      document_(std::move(document)),
      settings_(std::move(description.settings)),
      filters_(std::move(description.filters)) {
  const Node* name = document_.table()->find("name");
  name_ = name == nullptr || name->text() == nullptr ? stem : *name->text();
  add_groups(std::move(description.groups));
  find_points();
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
    throw ConfigError(axes_.front().origin, table_,
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
  if (points_.empty()) throw ConfigError(axes_.front().origin, table_ + ".where", "leaves no point");
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

Node Sweep::document_of(const SweepPoint& point) const {
  Node document = document_;
  each_change(point,
              [&](const std::string& key, Node value) { override_value(document, key, std::move(value)); });
  return document;
}

ExperimentFile Sweep::experiment(const SweepPoint& point) const {
  return ExperimentFile::read(document_of(point), name_);
}

std::pair<ExperimentFile, Experiment> Sweep::with_outline(const SweepPoint& point) const {
  return ExperimentFile::read_with_outline(document_of(point), name_);
}

std::pair<ExperimentFile, Experiment> Sweep::with_stage(const SweepPoint& point) const {
  return ExperimentFile::read_with_stage(document_of(point), name_);
}

std::vector<std::string> Sweep::sets(const SweepPoint& point) const {
  std::vector<std::string> sets;
  each_change(point, [&](const std::string& key, const Node& value) {
    sets.push_back(fmt::format("{}={}", key, write_value(value)));
  });
  return sets;
}

}}  // namespace c3::configs
