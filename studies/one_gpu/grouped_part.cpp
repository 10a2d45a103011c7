// Products of many experts in one launch.

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <map>
#include <string_view>
#include <utility>

#include "gpu/kernels/describe.hpp"
#include "gpu/kernels/gemm/gemm_shape.hpp"
#include "studies/checked_row.hpp"
#include "studies/comparison.hpp"
#include "studies/one_gpu/bare_gpu.hpp"
#include "studies/one_gpu/parts.hpp"

namespace c3 { inline namespace studies {
namespace {

using namespace literals;

constexpr std::string_view kWhat = "of measured products of experts";
constexpr std::int64_t kLargest = std::int64_t{1} << 24U;
constexpr std::array<std::string_view, 2> kHow = {"batched", "grouped"};
/// Concentration of the Dirichlet distribution of rows; empty: as many for each expert.
constexpr std::array<std::string_view, 3> kSpread = {"", "4", "0.5"};
constexpr std::array<std::string_view, 3> kRows = {"equal rows", "rows by Dirichlet 4",
                                                   "rows by Dirichlet 0.5"};

}  // namespace

GroupedPart::GroupedPart(const std::filesystem::path& file) {
  const HeadedTable table(file);
  for (const HeadedTable::Row& each : table.rows()) {
    const CheckedRow row(table, each, kWhat);
    const GemmShape shape{.m = row.whole("mean_rows", kLargest),
                          .n = row.whole("n", kLargest),
                          .k = row.whole("k", kLargest),
                          .batch = row.whole("experts", kLargest)};
    rows_.push_back({row.text("gpu"),
                     fmt::format("{}, {}, {:4} rows each", kHow.at(row.one_of("how", kHow)),
                                 kRows.at(row.one_of("alpha", kSpread)), shape.m),
                     shape, row.above_0("ms") * 1.0_ms});
  }
}

StudySection GroupedPart::section(const PublishedFigures& published) const {
  struct Group {
    Comparison errors;
    double signed_sum = 0.0;
  };
  std::map<std::string, std::shared_ptr<const GpuSpec>> gpus;
  std::map<std::string, Group> groups;
  for (const Row& row : rows_) {
    std::shared_ptr<const GpuSpec>& gpu = gpus[row.gpu];
    if (!gpu) gpu = load_in_bursts(row.gpu);
    const Seconds here = time_of(row.shape, *gpu, {.launch = LaunchCost::device}).time;
    Group& group = groups[fmt::format("{}: {}", row.gpu, row.label)];
    group.errors.add({.measured = row.measured, .here = here}, {});
    group.signed_sum += here / row.measured - 1.0;
  }
  StudySection section{
      .heading = "Products of 8 to 128 experts in one launch: mean error of the time",
      .lines = {},
      .notes = {"All are predicted as batches of products of as many rows each. Of 4,096 rows they last "
                "so long that the power limit takes its part, of which bursts know nothing."},
      .value = "error"};
  for (const auto& [label, group] : groups) {
    StudyLine line = group.errors.line(published.find("grouped.error"), FigureKind::predicted, label);
    line.beside.emplace_back("signed [%]", 100.0 * group.signed_sum / static_cast<double>(line.rows));
    section.lines.push_back(std::move(line));
  }
  return section;
}

}}  // namespace c3::studies
