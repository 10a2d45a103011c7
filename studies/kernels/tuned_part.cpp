#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "configs/presets/preset_store.hpp"
#include "gpu/kernels/describe.hpp"
#include "studies/kernels/levels.hpp"
#include "studies/kernels/parts.hpp"
#include "studies/kernels/taken_rows.hpp"

namespace c3 { inline namespace studies {
namespace {

/// What shares a scale in a table of ROCm/aiter, by the name of its file; absent: its operands are not fp8 or
/// may be integers.
std::optional<GemmScales> scales_of(std::string_view file) {
  if (file.find("blockscale") != std::string_view::npos) return GemmScales::block;
  const bool has_model = file.starts_with("dsv3_") || file.starts_with("glm5_");
  const bool per_token = file.find("a8w8_bpreshuffle") != std::string_view::npos;
  return has_model && per_token ? std::optional(GemmScales::tensor) : std::nullopt;
}

class TunedPart : public StudyPart {
 public:
  explicit TunedPart(const std::filesystem::path& kernels) {
    constexpr std::array<std::string_view, 2> kDevices = {"MI300X", "MI308X"};
    const HeadedTable rows(kernels / "aiter_gemm_mi308x_mi300x.csv");
    for (const HeadedTable::Row& table_row : rows.rows()) {
      const CheckedRow row(rows, table_row, "for a product as it was measured");
      const std::optional<GemmScales> scales = scales_of(row.cell("file"));
      if (!scales) continue;
      TakenRow taken{.shape = shape_in(row, DType::fp8), .measured = row.above_0("us") * 1.0_us};
      taken.shape.scales = *scales;
      (row.one_of("gpu", kDevices) == 0 ? mi300x_ : mi308x_).push_back(taken);
    }
  }

  void plan(Jobs& jobs) override {
    jobs.emplace_back([this] {
      predict(mi300x_, "mi300x");
      predict(mi308x_, "mi308x");
    });
  }

  StudyReport sections(const PublishedFigures& published) const override {
    const auto any = [](const TakenRow&) { return true; };
    const auto with = [](GemmScales scales) {
      return [scales](const TakenRow& row) { return row.shape.scales == scales; };
    };
    return {{.heading = "FP8 products of ROCm/aiter, the fastest kernel of each shape: mean absolute error",
             .lines = {mean_error(published.find("tuned.mi300x"), "MI300X, scales of blocks", mi300x_, any),
                       mean_error(published.find("tuned.mi308x"), "MI308X", mi308x_, any),
                       mean_error(published.find("tuned.mi308x.block"), "MI308X, scales of blocks", mi308x_,
                                  with(GemmScales::block)),
                       mean_error(published.find("tuned.mi308x.token"), "MI308X, scales of tokens", mi308x_,
                                  with(GemmScales::tensor))},
             .notes = {"Sustained rates are AMD's (MI300X) or assumed from another source (MI308X). What "
                       "scaling of blocks costs, and the rate of reads of MI308X, were chosen with these rows "
                       "in view."}}};
  }

 private:
  static void predict(std::vector<TakenRow>& rows, const std::string& preset) {
    const GpuSpec gpu = load_gpu(preset);
    for (TakenRow& row : rows)
      row.predicted = time_of(row.shape, gpu, {.launch = LaunchCost::device}).time;
  }

  std::vector<TakenRow> mi300x_, mi308x_;
};

}  // namespace

std::unique_ptr<StudyPart> tuned_part(const std::filesystem::path& kernels) {
  return std::make_unique<TunedPart>(kernels);
}

}}  // namespace c3::studies
