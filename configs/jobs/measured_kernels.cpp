#include "configs/jobs/measured_kernels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>
#include <span>
#include <utility>

#include "base/nearest_name.hpp"
#include "configs/presets/gpu_match.hpp"
#include "configs/presets/preset_store.hpp"

namespace c3 { inline namespace configs {
namespace {

using Column = TableFormat::Column;
constexpr Column shape(std::string_view name, ShapeKey key) { return {name, column_of(key)}; }

constexpr std::array kNeuSightProduct = {Column{"split", TableColumn::split},
                                         Column{"device", TableColumn::gpu},
                                         shape("op", ShapeKey::op),
                                         shape("B", ShapeKey::b),
                                         shape("M", ShapeKey::m),
                                         shape("N", ShapeKey::k),
                                         shape("K", ShapeKey::n),
                                         Column{"ms", TableColumn::time},
                                         Column{"tile0", TableColumn::other},
                                         Column{"tile1", TableColumn::other},
                                         Column{"grid", TableColumn::other},
                                         Column{"block", TableColumn::other},
                                         Column{"kernel", TableColumn::other}};
constexpr std::array kNeuSightVector = {
    Column{"split", TableColumn::split}, Column{"device", TableColumn::gpu},
    shape("op", ShapeKey::op),           shape("B", ShapeKey::rows),
    shape("H", ShapeKey::cols),          Column{"ms", TableColumn::time},
    Column{"grid", TableColumn::other},  Column{"block", TableColumn::other},
    Column{"kernel", TableColumn::other}};
constexpr std::array kAiconfiguratorGemm = {Column{"source", TableColumn::other},
                                            shape("dtype", ShapeKey::dtype),
                                            shape("m", ShapeKey::m),
                                            shape("n", ShapeKey::n),
                                            shape("k", ShapeKey::k),
                                            Column{"ms", TableColumn::time}};
constexpr std::array kAiconfiguratorAttention = {
    shape("batch_size", ShapeKey::b),      shape("isl", ShapeKey::seq),
    shape("num_heads", ShapeKey::heads),   shape("num_key_value_heads", ShapeKey::kv_heads),
    shape("head_dim", ShapeKey::head_dim), Column{"ms", TableColumn::time}};

ShapeWords words(std::initializer_list<std::pair<ShapeKey, std::string_view>> given) {
  ShapeWords words;
  for (const auto& [key, word] : given)
    words[key] = word;
  return words;
}

struct MeasuredFormat {
  TableFormat table;
  Seconds unit;  ///< unit of its times
};

/// Every column is in every file of a format, but the shape table's.
const std::vector<MeasuredFormat>& published_formats() {
  using enum ShapeKey;
  static const std::vector<MeasuredFormat> kFormats = {
      {{"NeuSight products", kNeuSightProduct, words({{dtype, "fp32"}})}, 1.0_ms},
      {{"NeuSight vector operators", kNeuSightVector, words({{dtype, "fp32"}})}, 1.0_ms},
      {{"aiconfigurator GEMM", kAiconfiguratorGemm, words({{op, "gemm"}})}, 1.0_ms},
      {{"aiconfigurator prefill attention", kAiconfiguratorAttention,
        words({{op, "attention"}, {dtype, "bf16"}, {causal, "1"}})},
       1.0_ms},
  };
  return kFormats;
}

std::string header_line(std::span<const Column> columns) {
  std::string line;
  for (const Column& column : columns) {
    if (column.column != TableColumn::other) (line += line.empty() ? "" : ",") += column.name;
  }
  return line;
}

/// Whether \p header has all the columns that are read of \p format, and none that it does not know.
bool fits(const std::vector<std::string>& header, const TableFormat& format) {
  const auto is_there = [&](const Column& column) {
    return column.column == TableColumn::other || std::ranges::find(header, column.name) != header.end();
  };
  const auto is_known = [&](const std::string& name) {
    return std::ranges::find(format.columns, name, &Column::name) != format.columns.end();
  };
  return std::ranges::all_of(format.columns, is_there) && std::ranges::all_of(header, is_known);
}

MeasuredFormat format_of(const std::filesystem::path& file) {
  const std::vector<std::string> header = header_of(file);
  if (std::ranges::find(header, "time_us") != header.end()) return {shape_table_format(), 1.0_us};
  std::string known = "kernel shapes with time_us";
  for (const MeasuredFormat& format : published_formats()) {
    if (fits(header, format.table)) return format;
    known += fmt::format("; {}: {}", format.table.name, header_line(format.table.columns));
  }
  throw ConfigError({std::make_shared<const std::string>(file.string()), 1, 1}, "header",
                    "is that of no table of measured kernels; known: " + known);
}

/// A cell that a measurement needs, and what is wrong with it.
struct CellError {
  std::string_view cell;
  std::string_view key;
  std::string reason;
};

class MeasurementReader {
 public:
  MeasurementReader(const MeasuredFormat& format, std::string gpu) : format_(format), gpu_(std::move(gpu)) {}

  /// \throws CellError
  MeasuredKernel read(const KernelRow& row) {
    return {.op = row.op,
            .gpu = gpu_of(row.gpu),
            .time = time_of(row.time),
            .train = is_train(row.split),
            .kernel_class = std::string(row.op_name),
            .line = row.line};
  }

 private:
  std::string gpu_of(std::string_view device) {
    if (device.empty() && !gpu_.empty()) return gpu_;
    auto known = presets_.find(device);
    if (known == presets_.end()) known = presets_.emplace(std::string(device), gpu_preset_of(device)).first;
    if (known->second) return *known->second;
    throw CellError{device, "gpu", unknown_name("GPU preset", device, preset_names(PresetKind::gpu))};
  }

  Seconds time_of(std::string_view cell) const {
    double value = 0.0;
    const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
    if (error == std::errc() && end == cell.data() + cell.size() && value > 0.0 && std::isfinite(value))
      return value * format_.unit;
    throw CellError{cell, "time", fmt::format("'{}' is no time: a number above 0", cell)};
  }

  static bool is_train(std::string_view split) {
    if (split.empty() || split == "train") return true;
    if (split == "test") return false;
    throw CellError{split, "split", fmt::format("must be train or test, not '{}'", split)};
  }

  const MeasuredFormat& format_;
  std::string gpu_;
  std::map<std::string, std::optional<std::string>, std::less<>> presets_;  ///< preset of each device
};

}  // namespace

MeasuredKernels read_measured_kernels(const std::filesystem::path& file, const std::string& gpu) {
  const MeasuredFormat format = format_of(file);
  const KernelTable table = KernelTable::read(file, format.table);
  if (!table.has(TableColumn::gpu) && gpu.empty()) {
    throw ConfigError({std::make_shared<const std::string>(file.string()), 1, 1}, "gpu",
                      "the table does not say on which GPU it was measured: name it");
  }
  MeasurementReader reader(format, gpu);
  MeasuredKernels found;
  found.broken = table.broken();
  for (const KernelRow& row : table.rows()) {
    try {
      found.kernels.push_back(reader.read(row));
    } catch (const CellError& error) {
      found.broken.push_back({table.place_of(row, error.cell), std::string(error.key), error.reason, {}});
    }
  }
  for (BrokenRow& row : found.broken)
    row.text = {};
  return found;
}

}}  // namespace c3::configs
