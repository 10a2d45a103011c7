#include "results/sweep/sweep_table.hpp"
#include "results/hdf5_open.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "base/csv_line.hpp"
#include "engine/errors.hpp"
#include "engine/interrupt.hpp"
#include "files/io_error.hpp"
#include "results/file_seal.hpp"
#include "results/result_file.hpp"
#include "results/result_reader.hpp"
#include "results/schema.hpp"

namespace c3 { inline namespace results {
namespace {

constexpr const char* kPointsGroup = "points";
constexpr const char* kAxes = "axes";
constexpr const char* kMissing = "missing";

ColumnData text_column(std::string name, std::string long_name, std::vector<std::string> texts) {
  return {.spec = {std::move(name), "1", std::move(long_name)}, .values = std::move(texts)};
}

/// The columns of all numbers, a new one where a point has a number that none had before.
class NumberColumns {
 public:
  explicit NumberColumns(std::size_t rows) : rows_(rows) {}

  void set(std::size_t row, const PointNumber& entry) {
    const std::string name = fmt::format("{}.{}", entry.strategy, entry.name);
    const auto [found, is_new] = index_.try_emplace(name, columns_.size());
    if (is_new) {
      columns_.push_back({.spec = {name, entry.units, entry.long_name},
                          .values = std::vector<double>(rows_, std::numeric_limits<double>::quiet_NaN())});
    }
    std::get<std::vector<double>>(columns_[found->second].values)[row] = entry.value;
  }

  std::vector<ColumnData> take() { return std::move(columns_); }

 private:
  std::size_t rows_;
  std::map<std::string, std::size_t> index_;
  std::vector<ColumnData> columns_;
};

std::size_t length(const ColumnData& column) {
  return std::visit([](const auto& values) { return values.size(); }, column.values);
}

std::string csv_cell(const ColumnData& column, std::size_t row) {
  return std::visit(
      [row](const auto& values) {
        const auto& value = values[row];
        if constexpr (std::is_same_v<std::decay_t<decltype(value)>, double>) {
          if (std::isnan(value)) return std::string();
        }
        if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::string>) {
          return not_a_formula(value);
        } else {
          return fmt::format("{}", value);
        }
      },
      column.values);
}

void write_column(const H5Id& group, const ColumnData& column) {
  const auto numbers = [&](const auto& values) {
    using T = typename std::decay_t<decltype(values)>::value_type;
    if constexpr (std::is_same_v<T, std::string>) {
      write_texts(group, column.spec, values);
    } else {
      Column<T> written(group, column.spec);
      for (const T value : values)
        written.push(value);
      written.flush();
    }
  };
  std::visit(numbers, column.values);
}

H5Id open_sweep_file(const std::filesystem::path& path) {
  H5Id file = h5_open_file(path.string());
  if (!h5_has_attribute(file, "schema") || h5_attribute(file, "schema") != kSweepFileSchema)
    throw IoError(path.string(), "read", "not a file of c3sim merge");
  const std::string version = h5_attribute(file, "schema_version");
  const auto major = [](std::string_view text) { return text.substr(0, text.find('.')); };
  if (major(version) != major(kSweepFileSchemaVersion)) {
    throw IoError(path.string(), "read",
                  fmt::format("schema version {}, this c3sim reads {}", version, kSweepFileSchemaVersion));
  }
  return file;
}

std::vector<std::pair<std::string, std::string>> attributes_of(const SweepManifest& manifest) {
  return {{"experiment", manifest.experiment},
          {"software", "c3sim"},
          {"software_version", manifest.software_version},
          {"git_commit", manifest.git_commit},
          {"file", manifest.file},
          {"command_line", manifest.command_line},
          {"definition", manifest.definition}};
}

}  // namespace

std::size_t SweepTable::rows() const { return columns.empty() ? 0 : length(columns.front()); }

const ColumnData* SweepTable::find(std::string_view column) const {
  const auto found = std::ranges::find(columns, column, [](const ColumnData& data) { return data.spec.name; });
  return found == columns.end() ? nullptr : &*found;
}

const std::vector<std::string>& SweepTable::texts(std::string_view column) const {
  const ColumnData* found = find(column);
  const auto* texts = found == nullptr ? nullptr : std::get_if<std::vector<std::string>>(&found->values);
  if (texts == nullptr) throw IoError("sweep", "read", fmt::format("there is no usable column '{}'", column));
  return *texts;
}

std::size_t SweepTable::count(std::string_view status) const {
  return static_cast<std::size_t>(std::ranges::count(texts("status"), status));
}

SweepTable merge_sweep(const SweepFolder& folder) {
  const std::optional<SweepManifest> manifest = folder.manifest();
  if (!manifest)
    throw IoError(folder.path().string(), "read", "it is no folder of c3sim sweep: no manifest.json");
  folder.note_inputs(*manifest);
  const std::size_t points = manifest->points();
  std::vector<std::string> status(points, kMissing), error(points);
  NumberColumns numbers(points);
  for (std::size_t row = 0; row < points; ++row) {
    if (interrupt_requested()) throw InterruptedError("interrupted");
    const std::optional<PointResult> result = folder.read(manifest->ids[row]);
    if (!result) continue;
    status[row] = name_of(result->status);
    error[row] = result->error;
    for (const PointNumber& entry : result->numbers)
      numbers.set(row, entry);
  }
  SweepTable table{.attributes = attributes_of(*manifest), .columns = {}, .axes = manifest->axes.size()};
  table.columns.push_back(
      text_column("id", "names the point's configuration, seed and simulator", manifest->ids));
  std::ranges::copy(manifest->axes, std::back_inserter(table.columns));
  table.columns.push_back(text_column("status", "ok, out_of_memory, failed, or missing: not run yet", status));
  table.columns.push_back(text_column("error", "why there are no numbers", error));
  std::ranges::move(numbers.take(), std::back_inserter(table.columns));
  table.columns.push_back(text_column("command", "runs this point alone", manifest->commands));
  return table;
}

void write_sweep_file(const std::filesystem::path& path, const SweepTable& table) {
  TemporaryFile temporary(path);
  write_sweep_file(temporary, table);
  temporary.rename_to_target();
}

void write_sweep_file(TemporaryFile& temporary, const SweepTable& table) {
  H5Id file = h5_create_file(temporary.path().string());
  h5_set_attribute(file, "schema", kSweepFileSchema);
  h5_set_attribute(file, "schema_version", kSweepFileSchemaVersion);
  for (const auto& [name, text] : table.attributes)
    h5_set_attribute(file, name, text);
  h5_set_attribute(file, kAxes, std::uint64_t{table.axes});
  {
    const H5Id group = h5_create_group(file, kPointsGroup);
    for (const ColumnData& column : table.columns)
      write_column(group, column);
  }
  h5_flush(file);
  if (!file.close())
    throw IoError(final_name(temporary.path().string()), "write", "HDF5 could not close the file");
  seal_file(temporary);
}

SweepTable read_sweep_file(const std::filesystem::path& path) {
  const H5Id file = open_sweep_file(path);
  SweepTable table;
  for (const std::string& name : h5_attributes(file)) {
    if (name == kAxes) {
      table.axes = h5_number(file, name);
    } else if (!name.starts_with("schema")) {
      table.attributes.emplace_back(name, h5_attribute(file, name));
    }
  }
  const H5Id group = h5_open_group(file, kPointsGroup);
  for (const std::string& name : h5_links(group))
    table.columns.push_back(read_column(group, name));
  for (const ColumnData& column : table.columns) {
    if (length(column) != table.rows()) throw IoError(path.string(), "read", "its columns differ in length");
  }
  if (table.axes + 1 > table.columns.size()) throw IoError(path.string(), "read", "it lacks swept columns");
  return table;
}

bool is_sweep_file(const std::filesystem::path& path) {
  const H5Id file = h5_open_file(path.string());
  return h5_has_attribute(file, "schema") && h5_attribute(file, "schema") == kSweepFileSchema;
}

std::string sweep_csv(const SweepTable& table) {
  std::vector<std::string> cells;
  cells.reserve(table.columns.size());
  for (const ColumnData& column : table.columns)
    cells.push_back(not_a_formula(csv_heading(column.spec)));
  std::string csv = csv_line(cells);
  for (std::size_t row = 0; row < table.rows(); ++row) {
    for (std::size_t i = 0; i < cells.size(); ++i)
      cells[i] = csv_cell(table.columns[i], row);
    csv += csv_line(cells);
  }
  return csv;
}

}}  // namespace c3::results
