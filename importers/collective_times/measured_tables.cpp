#include "importers/collective_times/measured_tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <tuple>

#include "base/nearest_name.hpp"

namespace c3 { inline namespace importers {
namespace {

/// Of nccl-tests and PyTorch.
struct TypeName {
  std::string_view name;
  DType dtype;
};
constexpr TypeName kTypes[] = {
    {"float", DType::fp32},      {"fp32", DType::fp32},      {"float32", DType::fp32},
    {"int32", DType::fp32},      {"uint32", DType::fp32},    {"half", DType::fp16},
    {"fp16", DType::fp16},       {"float16", DType::fp16},   {"bfloat16", DType::bf16},
    {"bf16", DType::bf16},       {"int8", DType::fp8},       {"uint8", DType::fp8},
    {"char", DType::fp8},        {"f8e4m3", DType::fp8},     {"f8e5m2", DType::fp8},
    {"fp8", DType::fp8},         {"fp8_e4m3", DType::fp8},   {"fp8_e5m2", DType::fp8},
    {"float8_e4m3", DType::fp8}, {"float8_e5m2", DType::fp8}};
/// Elements of eight bytes, which no collective here has: only their sizes count.
constexpr std::string_view kWideTypes[] = {"double", "float64", "int64", "uint64"};

bool has_size(CollectiveKind kind) {
  return kind != CollectiveKind::all_to_all_v && kind != CollectiveKind::barrier;
}

struct TimeColumn {
  std::size_t column;
  double seconds;                                     ///< of its unit
  std::optional<Seconds> MeasuredCollective::*place;  ///< where it says which; null: it does not
};

/// One file on its way into tables.
class Reader {
 public:
  Reader(const HeadedTable& file, const std::vector<CellFilter>& filters, std::optional<CollectiveKind> op)
      : file_(file), asked_(op) {
    size_ = file.need({"size_bytes", "size", "bytes", "message_size"}, "the size of the buffer");
    const auto add = [&](std::initializer_list<std::string_view> names, double seconds,
                         std::optional<Seconds> MeasuredCollective::*place = nullptr) {
      if (const auto found = file_.find(names)) times_.push_back({*found, seconds, place});
    };
    add({"oop_time_us"}, 1e-6, &MeasuredCollective::out_of_place);
    add({"ip_time_us"}, 1e-6, &MeasuredCollective::in_place);
    add({"time_us", "time"}, 1e-6);
    add({"time_ms", "ms", "latency_ms"}, 1e-3);
    if (times_.empty()) file_.need({"time_us"}, "a time, or oop_time_us and ip_time_us");
    op_ = file.find({"op", "collective", "op_name"});
    dtype_ = file.find({"dtype", "type", "nccl_dtype"});
    ranks_ = file.find({"gpus", "num_gpus", "gpus_total", "ranks", "nranks"});
    nodes_ = file.find({"nodes", "num_nodes", "node_num"});
    library_ = file.find({"lib", "library"});
    for (const CellFilter& filter : filters)
      filters_.emplace_back(file.need({in_lower_case(filter.column)}, "the map picks rows by it"),
                            in_lower_case(filter.value));
    if (!op_) of_all_ = op ? *op : operation_of_file();
    of_file_.ranks = whole_remark("gpus_total");
    if (!of_file_.ranks && file.listed_ranks() > 0) of_file_.ranks = file.listed_ranks();
    of_file_.nodes = whole_remark("nodes");
    of_file_.library = file.remark("software");
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
      keep_fastest(table.rows);
    name_tables();
    return std::move(result_);
  }

 private:
  std::string_view cell(const HeadedTable::Row& row, std::optional<std::size_t> column) const {
    return column ? row.cells[*column] : std::string_view();
  }

  /// nccl-tests names its program.
  CollectiveKind operation_of_file() const {
    for (const std::string_view key : {"collective", "Collective test starting"}) {
      const std::string_view written = file_.remark(key);
      if (written.empty()) continue;
      if (const auto kind = operation_named(written)) return *kind;
      throw file_.header_error("collective", unknown_name("operation", written, offered_operations()));
    }
    throw file_.header_error(
        "collective",
        "neither a column, nor a comment '# collective:', nor the map's column op says which it is");
  }

  std::optional<int> whole_remark(std::string_view key) const {
    const std::string_view written = file_.remark(key);
    if (written.empty()) return std::nullopt;
    const auto number = number_in(written);
    if (number && *number >= 1 && *number == std::floor(*number) && *number < kMostRanks)
      return static_cast<int>(*number);
    throw file_.header_error(key, fmt::format("'{}' is no number of them", written));
  }

  std::optional<int> whole(const HeadedTable::Row& row, std::optional<std::size_t> column,
                           std::optional<int> otherwise) const {
    const std::string_view written = cell(row, column);
    if (written.empty()) return otherwise;
    const auto number = number_in(written);
    if (!number || *number < 1 || *number != std::floor(*number) || *number >= kMostRanks)
      throw file_.error(row, written, file_.columns()[*column],
                        fmt::format("'{}' is no number of them", written));
    return static_cast<int>(*number);
  }

  CollectiveKind kind_of(const HeadedTable::Row& row) const {
    if (!op_) return *of_all_;
    const std::string_view written = cell(row, op_);
    if (const auto kind = operation_named(written)) return *kind;
    throw file_.error(row, written, file_.columns()[*op_],
                      unknown_name("operation", written, offered_operations()));
  }

  std::optional<DType> dtype_of(const HeadedTable::Row& row) const {
    const std::string written = in_lower_case(cell(row, dtype_));
    if (written.empty() || std::ranges::find(kWideTypes, written) != std::end(kWideTypes)) return std::nullopt;
    const auto* const found = std::ranges::find(kTypes, written, &TypeName::name);
    if (found != std::end(kTypes)) return found->dtype;
    throw file_.error(row, cell(row, dtype_), file_.columns()[*dtype_],
                      fmt::format("'{}' is no data type of nccl-tests", written));
  }

  /// Sets the times of \p to. \returns whether \p row has any.
  bool read_times(const HeadedTable::Row& row, MeasuredCollective& to) const {
    std::optional<Seconds> least;
    for (const TimeColumn& time : times_) {
      const std::string_view written = row.cells[time.column];
      if (written.empty() || in_lower_case(written) == "n/a") continue;
      const auto number = number_in(written);
      if (!number || *number <= 0.0)
        throw file_.error(row, written, file_.columns()[time.column], fmt::format("'{}' is no time", written));
      const Seconds seconds{*number * time.seconds};
      least = least ? std::min(*least, seconds) : seconds;
      if (time.place != nullptr) to.*time.place = seconds;
    }
    if (least) to.time = *least;
    return least.has_value();
  }

  void read(const HeadedTable::Row& row) {
    const auto is_other = [&](const auto& filter) {
      return in_lower_case(row.cells[filter.first]) != filter.second;
    };
    if (std::ranges::any_of(filters_, is_other)) return;
    const std::string_view size = row.cells[size_];
    const auto bytes = number_in(size);
    if (!bytes || *bytes < 0.0)
      throw file_.error(row, size, file_.columns()[size_], fmt::format("'{}' is no number of bytes", size));
    if (*bytes == 0.0) return;
    const CollectiveKind kind = kind_of(row);
    if (asked_ && kind != *asked_) return;
    const auto ranks = whole(row, ranks_, of_file_.ranks);
    const auto nodes = whole(row, nodes_, of_file_.nodes);
    MeasuredCollective measured{.line = row.line, .bytes = Bytes{*bytes}, .dtype = dtype_of(row), .time = {}};
    if (!read_times(row, measured)) return;
    CollectiveTable& table = table_of(kind, ranks, nodes);
    table.rows.push_back(measured);
    if (table.library.empty()) table.library = library_ ? std::string(cell(row, library_)) : of_file_.library;
  }

  CollectiveTable& table_of(CollectiveKind kind, std::optional<int> ranks, std::optional<int> nodes) {
    const auto found = std::ranges::find_if(result_.tables, [&](const CollectiveTable& table) {
      return table.kind == kind && table.ranks == ranks && table.nodes == nodes;
    });
    if (found != result_.tables.end()) return *found;
    return result_.tables.emplace_back(
        CollectiveTable{.name = "", .kind = kind, .ranks = ranks, .nodes = nodes, .rows = {}});
  }

  static void keep_fastest(std::vector<MeasuredCollective>& rows) {
    std::ranges::stable_sort(
        rows, {}, [](const MeasuredCollective& row) { return std::tuple(row.bytes, row.dtype, row.time); });
    const auto repeated = std::ranges::unique(
        rows, {}, [](const MeasuredCollective& row) { return std::tuple(row.bytes, row.dtype); });
    rows.erase(repeated.begin(), repeated.end());
  }

  void name_tables() {
    const std::string stem = std::filesystem::path(file_.file()).stem().string();
    for (CollectiveTable& table : result_.tables) {
      table.name = stem;
      for (const auto& [column, value] : filters_)
        table.name += ' ' + value;
      if (op_) table.name += fmt::format(" {}", c3::name_of(table.kind));
      if (ranks_ && table.ranks) table.name += fmt::format(" {}", *table.ranks);
      if (nodes_ && table.nodes) table.name += fmt::format("x{}", *table.nodes);
    }
  }

  static constexpr double kMostRanks = 1e7;

  const HeadedTable& file_;
  std::optional<CollectiveKind> asked_;
  std::optional<CollectiveKind> of_all_;  ///< where no column says it
  std::size_t size_ = 0;
  std::vector<TimeColumn> times_;
  std::optional<std::size_t> op_, dtype_, ranks_, nodes_, library_;
  std::vector<std::pair<std::size_t, std::string>> filters_;
  CollectiveTable of_file_;  ///< ranks and nodes of all rows
  MeasuredTables result_;
};

}  // namespace

std::vector<std::string> offered_operations() {
  std::vector<std::string> names;
  for (const CollectiveKind kind : kCollectiveKinds) {
    if (has_size(kind)) names.emplace_back(name_of(kind));
  }
  return names;
}

std::optional<CollectiveKind> operation_named(std::string_view written) {
  const auto kind = collective_named(written);
  return kind && has_size(*kind) ? kind : std::nullopt;
}

MeasuredTables read_measured_tables(const HeadedTable& file, const std::vector<CellFilter>& filters,
                                    std::optional<CollectiveKind> op) {
  return Reader(file, filters, op).read();
}

}}  // namespace c3::importers
