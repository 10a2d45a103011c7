// Gradients of weights: what it costs a product to store fp32, or to add to what memory has.

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <tuple>
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

constexpr std::int64_t kLargestSide = std::int64_t{1} << 24U;
constexpr std::array kResults = {name_of(GemmResult::rounded), name_of(GemmResult::fp32),
                                 name_of(GemmResult::added), name_of(GemmResult::added_fp32)};

Seconds alone_in_burst(const GemmShape& shape, const GpuSpec& gpu) {
  return time_of(shape, gpu, {.launch = LaunchCost::device}).time;
}

}  // namespace

AddingPart::AddingPart(const std::filesystem::path& file) {
  const HeadedTable table(file);
  for (const HeadedTable::Row& each : table.rows()) {
    const CheckedRow row(table, each, "of a measured gradient of weights");
    const GemmShape shape{.m = row.whole("m", kLargestSide),
                          .n = row.whole("n", kLargestSide),
                          .k = row.whole("k", kLargestSide),
                          .layout = GemmLayout::nt,
                          .result = static_cast<GemmResult>(row.one_of("way", kResults))};
    rows_.push_back({row.text("gpu"), shape, row.above_0("ms") * 1.0_ms});
  }
}

// What a product of the same shape takes that rounds its results is the unit of the others.
StudySection AddingPart::section(const PublishedFigures& published) const {
  using Sides = std::tuple<std::string, std::int64_t, std::int64_t, std::int64_t>;
  struct Group {
    Comparison errors;
    double log_measured = 0.0, log_here = 0.0;
  };
  std::map<std::string, std::shared_ptr<const GpuSpec>> gpus;
  std::map<Sides, std::pair<Seconds, Seconds>> rounded;
  std::map<std::string, Group> groups;
  for (const Row& row : rows_) {
    std::shared_ptr<const GpuSpec>& gpu = gpus[row.gpu];
    if (!gpu) gpu = load_in_bursts(row.gpu);
    const Sides sides{row.gpu, row.shape.m, row.shape.n, row.shape.k};
    const Seconds here = alone_in_burst(row.shape, *gpu);
    if (row.shape.result == GemmResult::rounded) {
      rounded[sides] = {row.measured, here};
      continue;
    }
    const auto& [measured_unit, unit] = rounded.at(sides);
    Group& group = groups[fmt::format("{}: {}, {} tokens", row.gpu, name_of(row.shape.result), row.shape.k)];
    group.errors.add({.measured = Seconds{row.measured / measured_unit}, .here = Seconds{here / unit}}, {});
    group.log_measured += std::log(row.measured / measured_unit);
    group.log_here += std::log(here / unit);
  }
  StudySection section{
      .heading = "Gradients of weights in bf16: time over that with rounded results, mean error",
      .lines = {},
      .notes = {"fp32: results stored as they are; added: to what memory has. The ratios "
                "beside the error are geometric means. Nothing was set from these rows."},
      .value = "error",
      .decimals = 2};
  for (const auto& [label, group] : groups) {
    StudyLine line = group.errors.line(published.find("adding.error"), FigureKind::predicted, label);
    const auto count = static_cast<double>(line.rows);
    line.beside.emplace_back("measured [x]", std::exp(group.log_measured / count));
    line.beside.emplace_back("here [x]", std::exp(group.log_here / count));
    section.lines.push_back(std::move(line));
  }
  return section;
}

}}  // namespace c3::studies
