#include "studies/kernels/taken_rows.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace c3 { inline namespace studies {
namespace {

constexpr std::string_view kWhat = "for a product as it was measured";

DType dtype_of(const CheckedRow& row) {
  constexpr std::array<std::string_view, 2> kTypes = {"bfloat16", "fp8"};
  return row.one_of("dtype", kTypes) == 0 ? DType::bf16 : DType::fp8;
}

TakenRow taken(const CheckedRow& row, Collector collector, std::string_view time, Repetition repetition) {
  const DType dtype = dtype_of(row);
  return {.shape = shape_in(row, dtype),
          .quantised = dtype == DType::fp8,
          .measured = row.above_0(time) * 1.0_ms,
          .collector = collector,
          .repetition = repetition};
}

Collector collector_of(std::string_view source) {
  if (source.starts_with("sglang")) return Collector::sglang;
  return source.starts_with("vllm") ? Collector::vllm : Collector::tensorrt_llm;
}

}  // namespace

std::vector<TakenRow> read_taken(const std::filesystem::path& file) {
  const HeadedTable table(file);
  std::vector<TakenRow> rows;
  for (const HeadedTable::Row& table_row : table.rows()) {
    const CheckedRow row(table, table_row, kWhat);
    rows.push_back(taken(row, collector_of(row.cell("source")), "ms", Repetition::six));
  }
  return rows;
}

std::vector<TakenRow> read_taken_pairs(const std::filesystem::path& file) {
  const HeadedTable table(file);
  std::vector<TakenRow> rows;
  for (const HeadedTable::Row& table_row : table.rows()) {
    const CheckedRow row(table, table_row, kWhat);
    const Collector collector = collector_of(row.cell("framework"));
    rows.push_back(taken(row, collector, "burst_ms", Repetition::six));
    rows.push_back(taken(row, collector, "sustained_ms", Repetition::one_second));
  }
  return rows;
}

GemmShape shape_in(const CheckedRow& row, DType dtype) {
  return {.m = row.whole("m", kLargestSize),
          .n = row.whole("n", kLargestSize),
          .k = row.whole("k", kLargestSize),
          .dtype = dtype};
}

double flops_of(const GemmShape& shape) {
  return 2.0 * static_cast<double>(shape.m) * static_cast<double>(shape.n) * static_cast<double>(shape.k);
}

bool is_large(const GemmShape& shape) { return std::min({shape.m, shape.n, shape.k}) >= 512; }

std::uint64_t block_of(const GemmShape& shape) {
  return static_cast<std::uint64_t>(shape.n) * 1000003U + static_cast<std::uint64_t>(shape.k);
}

}}  // namespace c3::studies
