#include "results/result_reader.hpp"
#include "results/hdf5_open.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "engine/errors.hpp"
#include "engine/interrupt.hpp"
#include "files/io_error.hpp"
#include "results/schema.hpp"

namespace c3 { inline namespace results {
namespace {

std::string_view major_of(std::string_view version) { return version.substr(0, version.find('.')); }

void check_schema(const H5Id& file, const std::string& path) {
  if (!h5_has_attribute(file, "schema") || h5_attribute(file, "schema") != kRunFileSchema) {
    throw IoError(path, "read", "not a result file of c3sim run");
  }
  const auto version = h5_attribute(file, "schema_version");
  if (major_of(version) != major_of(kRunFileSchemaVersion)) {
    throw IoError(path, "read",
                  fmt::format("schema version {}, this c3sim reads {}", version, kRunFileSchemaVersion));
  }
}

std::vector<std::string> resolved(const ColumnData& column, const std::vector<std::string>& texts,
                                  const std::string& path) {
  const auto* const indices = std::get_if<std::vector<std::int64_t>>(&column.values);
  if (indices == nullptr)
    throw IoError(path, "read",
                  fmt::format("column '{}' should hold rows of {}", column.spec.name, column.spec.indexes));
  std::vector<std::string> result;
  result.reserve(indices->size());
  for (const auto index : *indices) {
    if (index < 0 || static_cast<std::size_t>(index) >= texts.size()) {
      throw IoError(path, "read",
                    fmt::format("column '{}' points beyond {}", column.spec.name, column.spec.indexes));
    }
    result.push_back(texts[static_cast<std::size_t>(index)]);
  }
  return result;
}

std::size_t length(const ColumnData& column) {
  return std::visit([](const auto& values) { return values.size(); }, column.values);
}

std::string group_path(const std::string& strategy, const std::string& table) {
  return "strategies/" + strategy + "/" + table;
}

}  // namespace

std::size_t ResultTable::rows() const { return columns.empty() ? 0 : length(columns.front()); }

bool ResultTable::has(std::string_view column) const {
  return std::ranges::any_of(columns, [&](const ColumnData& data) { return data.spec.name == column; });
}

template <class T>
const std::vector<T>& ResultTable::values(std::string_view column) const {
  for (const auto& candidate : columns) {
    const auto* found = std::get_if<std::vector<T>>(&candidate.values);
    if (found != nullptr && candidate.spec.name == column) return *found;
  }
  throw IoError(path, "read", fmt::format("table '{}' has no usable column '{}'", name, column));
}

template const std::vector<std::int64_t>& ResultTable::values(std::string_view) const;
template const std::vector<double>& ResultTable::values(std::string_view) const;
template const std::vector<std::string>& ResultTable::values(std::string_view) const;

ResultReader::ResultReader(const std::filesystem::path& path) : path_(path.string()) {
  file_ = h5_open_file(path_);
  check_schema(file_, path_);
  const ResultTable root{.path = path_, .strategy = "", .name = "/", .columns = {read_column(file_, "names")}};
  names_ = root.values<std::string>("names");
}

std::vector<std::pair<std::string, std::string>> ResultReader::attributes() const {
  std::vector<std::pair<std::string, std::string>> attributes;
  for (const auto& name : h5_attributes(file_))
    attributes.emplace_back(name, h5_attribute(file_, name));
  return attributes;
}

std::string ResultReader::attribute(const std::string& name) const {
  if (h5_has_attribute(file_, name)) return h5_attribute(file_, name);
  throw IoError(path_, "read attribute '" + name + "'",
                fmt::format("a file of schema version {} has none; run the experiment again",
                            h5_attribute(file_, "schema_version")));
}

std::uint64_t ResultReader::number(const std::string& attribute) const {
  static_cast<void>(this->attribute(attribute));  // explains what an old file lacks
  return h5_number(file_, attribute);
}

std::vector<std::string> ResultReader::streams() const {
  const ResultTable root{.path = path_, .strategy = "", .name = "/", .columns = {read_column(file_, kStreams)}};
  return root.values<std::string>(root.columns.front().spec.name);
}

std::vector<std::string> ResultReader::strategies() const {
  return h5_links(h5_open_group(file_, "strategies"));
}

std::optional<std::string> ResultReader::incomplete() const {
  if (!h5_has_attribute(file_, kIncomplete)) return std::nullopt;
  return fmt::format("this result is incomplete ({}); strategies that are missing: {}", attribute(kIncomplete),
                     attribute(kMissingStrategies));
}

std::optional<std::string> ResultReader::attribute(const std::string& strategy, const std::string& table,
                                                   const std::string& name) const {
  const H5Id group = h5_open_group(file_, group_path(strategy, table));
  if (!h5_has_attribute(group, name)) return std::nullopt;
  return h5_attribute(group, name);
}

bool ResultReader::has_table(const std::string& strategy, const std::string& table) const {
  const std::vector<std::string> tables = h5_links(h5_open_group(file_, "strategies/" + strategy));
  return std::ranges::find(tables, table) != tables.end();
}

ResultTable ResultReader::table(const std::string& strategy, const std::string& table,
                                const TablePart& part) const {
  if (interrupt_requested()) throw InterruptedError("interrupted");
  const auto group = h5_open_group(file_, group_path(strategy, table));
  ResultTable result{.path = path_, .strategy = strategy, .name = table, .columns = {}};
  for (const auto& name : part.columns.empty() ? h5_links(group) : part.columns) {
    auto& column = result.columns.emplace_back(read_column(group, name, part.rows));
    if (length(column) != result.rows())
      throw IoError(path_, "read", "columns of '" + table + "' differ in length");
    if (part.as_texts) resolve(column, strategy);
  }
  return result;
}

void ResultReader::resolve(ColumnData& column, const std::string& strategy) const {
  if (column.spec.indexes == kNames) {
    column.values = resolved(column, names_, path_);
  } else if (column.spec.indexes == kResourceNames) {
    column.values = resolved(column, table(strategy, "resources/list").values<std::string>("name"), path_);
  }
}

std::uint64_t ResultReader::rows(const std::string& strategy, const std::string& table) const {
  const auto group = h5_open_group(file_, group_path(strategy, table));
  const auto columns = h5_links(group);
  return columns.empty() ? 0 : column_length(group, columns.front());
}

TableBlocks::TableBlocks(const ResultReader& file, std::string strategy, std::string table, TablePart part)
    : file_(file),
      strategy_(std::move(strategy)),
      table_(std::move(table)),
      part_(std::move(part)),
      rows_(file.rows(strategy_, table_)) {
  part_.rows = {.first = 0, .count = kChunkRows};
}

std::optional<ResultTable> TableBlocks::next() {
  if (part_.rows.first >= rows_) return std::nullopt;
  ResultTable block = file_.table(strategy_, table_, part_);
  part_.rows.first += kChunkRows;
  return block;
}

}}  // namespace c3::results
