// Measured tables, each projected from one of its rows by its work.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "studies/checked_row.hpp"
#include "studies/scaling_laws/parts.hpp"

namespace c3 { inline namespace studies {
namespace {

constexpr double kPercent = 100.0;
constexpr std::int64_t kLargest = std::int64_t{1} << 40U;

struct MeasuredOperator {
  double work = 0.0;
  double time = 0.0;  ///< ms
};

/// A table, what of it is taken, and what its rows' work is.
struct MeasuredTable {
  const char* id;
  const char* label;
  const char* file;
  double (*work)(const CheckedRow& row);  ///< 0: the row is left out
  double baseline;  ///< work of the row from which others are projected: the most up to it
};

double product(const CheckedRow& row) {
  return 2.0 * static_cast<double>(row.whole("m", kLargest)) * static_cast<double>(row.whole("n", kLargest)) *
         static_cast<double>(row.whole("k", kLargest));
}

double half_product(const CheckedRow& row) { return row.text("dtype") == "bfloat16" ? product(row) : 0.0; }

double elementwise(const CheckedRow& row) {
  const bool is_norm = row.text("op") == "ln";
  return is_norm ? static_cast<double>(row.whole("b", kLargest)) * static_cast<double>(row.whole("h", kLargest))
                 : 0.0;
}

template <int gpus>
double all_reduce(const CheckedRow& row, std::string_view system) {
  const bool is_taken =
      row.text("system") == system && row.text("op") == "all_reduce" && row.whole("num_gpus", kLargest) == gpus;
  return is_taken ? static_cast<double>(row.whole("bytes", kLargest)) : 0.0;
}
double on_a100(const CheckedRow& row) { return all_reduce<8>(row, "a100_sxm"); }
double on_h100(const CheckedRow& row) { return all_reduce<8>(row, "h100_sxm"); }

constexpr double kTera = 1e12, kMebibytes = 1024.0 * 1024.0;
constexpr std::array kTables = {
    MeasuredTable{"tables.gemm", "GEMM, MI100, FP32", "kernels/neusight_mi100_linear.csv", product, kTera},
    MeasuredTable{"tables.gemm", "GEMM, A100, BF16", "kernels/gemm_a100_sxm.csv", half_product, kTera},
    MeasuredTable{"tables.gemm", "GEMM, H100, BF16", "kernels/gemm_h100_sxm.csv", half_product, kTera},
    MeasuredTable{"tables.vector", "LayerNorm, MI100, FP32", "kernels/neusight_mi100_vec.csv", elementwise,
                  1e18},
    MeasuredTable{"tables.all_reduce", "all-reduce, 8 A100", "collectives/nccl_single_node_a100_h100.csv",
                  on_a100, 64.0 * kMebibytes},
    MeasuredTable{"tables.all_reduce", "all-reduce, 8 H100", "collectives/nccl_single_node_a100_h100.csv",
                  on_h100, 64.0 * kMebibytes}};

std::vector<MeasuredOperator> rows_of(const std::filesystem::path& data, const MeasuredTable& of) {
  std::vector<MeasuredOperator> rows;
  const HeadedTable table(data / of.file);
  for (const HeadedTable::Row& each : table.rows()) {
    const CheckedRow row(table, each, "of a measured operator");
    const double work = of.work(row);
    if (work > 0.0) rows.push_back({work, row.above_0("ms")});
  }
  return rows;
}

StudyLine line_of(const MeasuredTable& of, const std::vector<MeasuredOperator>& rows,
                  const PublishedFigures& published) {
  StudyLine line{.figure = {.of = published.find(of.id)}, .label = of.label};
  const MeasuredOperator* from = nullptr;
  for (const MeasuredOperator& row : rows)
    if (row.work <= of.baseline && (from == nullptr || row.work > from->work)) from = &row;
  if (from == nullptr) return line;
  constexpr double kLeastShare = 0.01;
  double sum = 0.0, difference = 0.0;
  for (const MeasuredOperator& row : rows) {
    if (row.work < kLeastShare * from->work) {
      ++line.skipped;
      continue;
    }
    const double error = from->time * row.work / from->work / row.time - 1.0;
    sum += std::abs(error);
    difference += error;
    ++line.rows;
  }
  const auto count = static_cast<double>(line.rows);
  line.figure.simulated = kPercent * sum / count;
  line.beside = {{"signed", kPercent * difference / count}, {"baseline [ms]", from->time}};
  return line;
}

}  // namespace

StudySection tables_section(const std::filesystem::path& data, const PublishedFigures& published) {
  StudySection section{.heading = "Measured tables, projected from one row of each: mean error",
                       .lines = {},
                       .notes = {"Rows with less than a hundredth of that row's work are left out. Published: "
                                 "recalled."}};
  for (const MeasuredTable& table : kTables)
    section.lines.push_back(line_of(table, rows_of(data, table), published));
  return section;
}

}}  // namespace c3::studies
