#include "studies/kernels/tuned_part.hpp"

#include <fmt/format.h>

#include <array>
#include <functional>
#include <optional>
#include <string_view>

#include "configs/presets/preset_store.hpp"
#include "gpu/kernels/describe.hpp"
#include "studies/checked_row.hpp"
#include "studies/comparison.hpp"
#include "studies/kernels/taken_rows.hpp"

namespace c3 { inline namespace studies {
namespace {

constexpr std::int64_t kLargest = std::int64_t{1} << 40U;
constexpr std::array<std::string_view, 2> kDevices = {"MI300X", "MI308X"};
constexpr std::array<std::string_view, 2> kPresets = {"mi300x", "mi308x"};

/// What shares a scale in a table of ROCm/aiter, by the name of its file; absent: its operands are not fp8 or
/// may be integers.
std::optional<GemmScales> scales_of(std::string_view file) {
  if (file.find("blockscale") != std::string_view::npos) return GemmScales::block;
  const bool has_model = file.starts_with("dsv3_") || file.starts_with("glm5_");
  const bool per_token = file.find("a8w8_bpreshuffle") != std::string_view::npos;
  return has_model && per_token ? std::optional(GemmScales::tensor) : std::nullopt;
}

}  // namespace

TunedPart::TunedPart(const std::filesystem::path& kernels) {
  for (const std::string_view name : kPresets)
    gpus_.push_back(load_gpu(std::string(name)));
  const HeadedTable rows(kernels / "aiter_gemm_mi308x_mi300x.csv");
  for (const HeadedTable::Row& each : rows.rows()) {
    const CheckedRow row(rows, each, "for a product as it was measured");
    const std::optional<GemmScales> scales = scales_of(row.cell("file"));
    if (!scales) continue;
    rows_.push_back({.shape = {.m = row.whole("m", kLargest),
                               .n = row.whole("n", kLargest),
                               .k = row.whole("k", kLargest),
                               .dtype = DType::fp8,
                               .scales = *scales},
                     .measured = row.above_0("us") * 1.0_us,
                     .gpu = row.one_of("gpu", kDevices)});
  }
}

void TunedPart::plan(Jobs& jobs) {
  jobs.emplace_back([this] {
    for (Row& row : rows_)
      row.predicted = time_of(row.shape, gpus_[row.gpu], {.launch = LaunchCost::device}).time;
  });
}

StudyReport TunedPart::sections(const PublishedFigures& published) const {
  StudySection section;
  section.heading = "FP8 products of ROCm/aiter, the fastest kernel of each shape: mean absolute error";
  const auto add = [&](const std::string& id, const std::string& label,
                       const std::function<bool(const Row&)>& is) {
    Comparison comparison;
    for (const Row& row : rows_) {
      if (!is(row)) continue;
      comparison.add({row.measured, row.predicted, block_of(row.shape)}, {});
    }
    section.lines.push_back(comparison.line(published.find(id), FigureKind::fitted, label));
  };
  const auto on = [](std::size_t gpu, std::optional<GemmScales> scales) {
    return [gpu, scales](const Row& row) { return row.gpu == gpu && (!scales || row.shape.scales == *scales); };
  };
  add("tuned.mi300x", "MI300X, scales of blocks", on(0, {}));
  add("tuned.mi308x", "MI308X", on(1, {}));
  add("tuned.mi308x.block", "MI308X, scales of blocks", on(1, GemmScales::block));
  add("tuned.mi308x.token", "MI308X, scales of tokens", on(1, GemmScales::tensor));
  section.notes = {
      "Sustained rates are AMD's (MI300X) or assumed from another source (MI308X). What scaling of blocks "
      "costs, and "
      "the rate of reads of MI308X, were chosen with these rows in view."};
  return {section};
}

}}  // namespace c3::studies
