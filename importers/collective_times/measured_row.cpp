#include "importers/collective_times/measured_row.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/nearest_name.hpp"
#include "base/small_letters.hpp"

namespace c3 { inline namespace importers {
namespace {

constexpr double kMostRanks = 1e7;

/// Types of nccl-tests and PyTorch. Those that no collective here has are simulated as one of as many bytes,
/// or, of eight bytes, by their size alone.
struct TypeName {
  std::string_view name;
  std::optional<DType> dtype;
  double element = 0.0;  ///< bytes, of a type that no collective here has
};
constexpr TypeName kTypes[] = {{"float", DType::fp32},
                               {"fp32", DType::fp32},
                               {"float32", DType::fp32},
                               {"half", DType::fp16},
                               {"fp16", DType::fp16},
                               {"float16", DType::fp16},
                               {"bfloat16", DType::bf16},
                               {"bf16", DType::bf16},
                               {"f8e4m3", DType::fp8},
                               {"f8e5m2", DType::fp8},
                               {"fp8", DType::fp8},
                               {"fp8_e4m3", DType::fp8},
                               {"fp8_e5m2", DType::fp8},
                               {"float8_e4m3", DType::fp8},
                               {"float8_e5m2", DType::fp8},
                               {"int", DType::fp32, 4.0},
                               {"int32", DType::fp32, 4.0},
                               {"uint32", DType::fp32, 4.0},
                               {"int8", DType::fp8, 1.0},
                               {"uint8", DType::fp8, 1.0},
                               {"char", DType::fp8, 1.0},
                               {"double", std::nullopt, 8.0},
                               {"float64", std::nullopt, 8.0},
                               {"int64", std::nullopt, 8.0},
                               {"uint64", std::nullopt, 8.0}};

/// What nccl-tests calls the reduction of a collective that has none.
bool is_no_reduction(std::string_view redop) { return redop.empty() || redop == "none" || redop == "-1"; }

[[noreturn]] void throw_unknown_operation(const ConfigError& with_known, const ConfigError& without_sizes,
                                          std::string_view written) {
  if (collective_named(written) == CollectiveKind::all_to_all_v) throw without_sizes;
  throw with_known;
}

constexpr std::string_view kNoSizes =
    "all_to_all_v is not compared: the file does not say how much each GPU sends to each other one; an "
    "experiment with the sizes of the pairs simulates it";

}  // namespace

MeasuredRowReader::MeasuredRowReader(const HeadedTable& file, std::optional<CollectiveKind> op) : file_(file) {
  size_ = file.need({"size_bytes", "size", "bytes", "message_size"}, "the size of the buffer");
  const auto add = [&](std::initializer_list<std::string_view> names, double seconds,
                       std::optional<Seconds> MeasuredCollective::*place = nullptr) {
    if (const auto found = file_.find(names)) times_.push_back({*found, seconds, place});
  };
  add({"oop_time_us"}, 1e-6, &MeasuredCollective::out_of_place);
  add({"ip_time_us"}, 1e-6, &MeasuredCollective::in_place);
  add({"time_us", "time"}, 1e-6);
  add({"time_ms", "ms", "latency_ms"}, 1e-3);
  host_time_ = file.find({"oop_cputime_us", "ip_cputime_us"});
  if (times_.empty() && !host_time_) file_.need({"time_us"}, "a time, or oop_time_us and ip_time_us");
  op_ = file.find({"op", "collective", "op_name"});
  dtype_ = file.find({"dtype", "type", "nccl_dtype"});
  redop_ = file.find({"redop"});
  ranks_ = file.find({"gpus", "num_gpus", "gpus_total", "ranks", "nranks"});
  gpus_per_rank_ = file.find({"gpusperrank"});
  nodes_ = file.find({"nodes", "num_nodes", "node_num"});
  hosts_ = file.find({"hosts"});
  library_ = file.find({"lib", "library"});
  in_place_ = file.find({"inplace"});
  const auto spread = [&](std::string_view place) {
    const auto column = [&](std::string_view name) { return file.find({fmt::format("{}_{}", place, name)}); };
    return SpreadColumns{column("i_min_us"), column("i_max_us"), column("i_p99_us"), column("i_cv_percent")};
  };
  out_of_place_spread_ = spread("oop");
  in_place_spread_ = spread("ip");
  if (!op_) of_all_ = op ? *op : operation_of_file();
  if (op_) of_all_ = op;
  const auto count = [](std::size_t number) {
    return number > 0 ? std::optional(static_cast<int>(number)) : std::nullopt;
  };
  of_file_.ranks = whole_remark("gpus_total");
  const std::size_t listed = file.log().listed_ranks();
  if (!of_file_.ranks) of_file_.ranks = listed > 0 ? count(listed) : file.log().ranks;
  of_file_.nodes = whole_remark("nodes");
  of_file_.hosts = count(file.log().host_count());
  of_file_.library = file.remark("software");
  if (of_file_.library.empty()) of_file_.library = file.log().library;
}

std::string_view MeasuredRowReader::cell(const HeadedTable::Row& row, Column column) const {
  return column ? row.cells[*column] : std::string_view();
}

/// nccl-tests names its program.
CollectiveKind MeasuredRowReader::operation_of_file() const {
  for (const std::string_view key : {"collective", "Collective test starting"}) {
    const std::string_view written = file_.remark(key);
    if (written.empty()) continue;
    if (const auto kind = operation_named(written)) return *kind;
    throw_unknown_operation(
        file_.header_error("collective", unknown_name("operation", written, offered_operations())),
        file_.header_error("collective", kNoSizes), written);
  }
  throw file_.header_error(
      "collective",
      "neither a column, nor a comment '# collective:', nor the map's column op says which it is");
}

std::optional<int> MeasuredRowReader::whole_remark(std::string_view key) const {
  const std::string_view written = file_.remark(key);
  if (written.empty()) return std::nullopt;
  const auto number = number_in(written);
  if (number && *number >= 1 && *number == std::floor(*number) && *number < kMostRanks)
    return static_cast<int>(*number);
  throw file_.header_error(key, fmt::format("'{}' is no number of them", written));
}

std::optional<int> MeasuredRowReader::whole(const HeadedTable::Row& row, Column column,
                                            std::optional<int> otherwise) const {
  const std::string_view written = cell(row, column);
  if (written.empty()) return otherwise;
  const auto number = number_in(written);
  if (!number || *number < 1 || *number != std::floor(*number) || *number >= kMostRanks)
    throw file_.error(row, written, file_.columns()[*column],
                      fmt::format("'{}' is no number of them", written));
  return static_cast<int>(*number);
}

/// rccl-tests calls its processes ranks, and says how many GPUs each has.
std::optional<int> MeasuredRowReader::ranks_of(const HeadedTable::Row& row) const {
  const auto ranks = whole(row, ranks_, of_file_.ranks);
  const auto gpus_per_rank = whole(row, gpus_per_rank_, 1);
  if (!ranks) return ranks;
  const double all = static_cast<double>(*ranks) * *gpus_per_rank;
  if (all >= kMostRanks)
    throw file_.error(row, cell(row, gpus_per_rank_), "gpusPerRank",
                      fmt::format("{:.0f} GPUs are too many", all));
  return *ranks * *gpus_per_rank;
}

CollectiveKind MeasuredRowReader::kind_of(const HeadedTable::Row& row) const {
  const std::string_view written = cell(row, op_);
  if (!op_ || (written.empty() && of_all_)) return *of_all_;
  if (const auto kind = operation_named(written)) return *kind;
  const std::string& column = file_.columns()[*op_];
  throw_unknown_operation(
      file_.error(row, written, column, unknown_name("operation", written, offered_operations())),
      file_.error(row, written, column, kNoSizes), written);
}

void MeasuredRowReader::read_type(const HeadedTable::Row& row, MeasuredCollective& to) const {
  const std::string written = in_small_letters(cell(row, dtype_));
  if (written.empty()) return;
  const auto* const found = std::ranges::find(kTypes, written, &TypeName::name);
  if (found == std::end(kTypes))
    throw file_.error(row, cell(row, dtype_), file_.columns()[*dtype_],
                      fmt::format("'{}' is no data type of nccl-tests", written));
  to.dtype = found->dtype;
  if (found->element > 0.0) to.other_type = {written, Bytes{found->element}};
}

void MeasuredRowReader::set_place(const HeadedTable::Row& row, Seconds time, MeasuredCollective& to) const {
  const std::string written = in_small_letters(cell(row, in_place_));
  if (written.empty()) return;
  if (written != "0" && written != "1")
    throw file_.error(row, cell(row, in_place_), "inplace", fmt::format("'{}' must be 0 or 1", written));
  (written == "1" ? to.in_place : to.out_of_place) = time;
}

/// Sets the times of \p to. \returns whether \p row has any.
bool MeasuredRowReader::read_times(const HeadedTable::Row& row, MeasuredCollective& to) const {
  std::optional<Seconds> least;
  for (const TimeColumn& time : times_) {
    const std::string_view written = row.cells[time.column];
    if (written.empty() || in_small_letters(written) == "n/a") continue;
    const auto number = number_in(written);
    if (!number || *number <= 0.0)
      throw file_.error(row, written, file_.columns()[time.column], fmt::format("'{}' is no time", written));
    const Seconds seconds{*number * time.seconds};
    least = least ? std::min(*least, seconds) : seconds;
    if (time.place != nullptr) to.*time.place = seconds;
  }
  if (!least) return false;
  to.time = *least;
  set_place(row, *least, to);
  to.spread = spread_of(row, to.is_in_place() ? in_place_spread_ : out_of_place_spread_);
  return true;
}

std::optional<IterationSpread> MeasuredRowReader::spread_of(const HeadedTable::Row& row,
                                                            const SpreadColumns& columns) const {
  const auto number = [&](Column column) { return number_in(cell(row, column)); };
  const auto least = number(columns.least), most = number(columns.most);
  const auto p99 = number(columns.p99), cv = number(columns.cv);
  if (!least || !most || !p99 || !cv || *least <= 0.0 || *most < *least || *p99 < *least) return std::nullopt;
  constexpr double kMicro = 1e-6;
  return IterationSpread{.least = Seconds{*least * kMicro},
                         .most = Seconds{*most * kMicro},
                         .p99 = Seconds{*p99 * kMicro},
                         .cv_percent = *cv};
}

/// Once for all rows: they are alike.
void MeasuredRowReader::refuse_host_times(const HeadedTable::Row& row) {
  if (refused_host_times_ || cell(row, host_time_).empty()) return;
  refused_host_times_ = true;
  throw file_.error(row, cell(row, host_time_), "cputime",
                    "is how long the host took to start the calls (nccl-tests -C 1), not how long they ran; "
                    "measure without -C");
}

std::optional<MeasuredRow> MeasuredRowReader::read(const HeadedTable::Row& row) {
  const std::string_view size = row.cells[size_];
  const auto bytes = number_in(size);
  if (!bytes || *bytes < 0.0)
    throw file_.error(row, size, file_.columns()[size_], fmt::format("'{}' is no number of bytes", size));
  if (*bytes == 0.0) return std::nullopt;
  MeasuredRow read{.table = of_file_, .measured = {.line = row.line, .bytes = Bytes{*bytes}, .time = {}}};
  read.table.kind = kind_of(row);
  read.table.ranks = ranks_of(row);
  read.table.nodes = whole(row, nodes_, of_file_.nodes);
  read.table.hosts = whole(row, hosts_, of_file_.hosts);
  const std::string redop = in_small_letters(cell(row, redop_));
  if (!is_no_reduction(redop)) read.table.redop = redop;
  if (library_) read.table.library = std::string(cell(row, library_));
  read_type(row, read.measured);
  if (read_times(row, read.measured)) return read;
  refuse_host_times(row);
  return std::nullopt;
}

}}  // namespace c3::importers
