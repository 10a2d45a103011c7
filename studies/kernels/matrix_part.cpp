#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "gpu/kernels/gemm/gemm_shape.hpp"
#include "studies/kernels/parts.hpp"
#include "studies/kernels/row_lines.hpp"
#include "studies/kernels/unseen.hpp"

namespace c3 { inline namespace studies {
namespace {

const GemmShape& shape_of(const MeasuredRow& row) { return *row.sample.op.as<GemmShape>(); }

bool is_bf16_row(const MeasuredRow& row) { return shape_of(row).dtype == DType::bf16; }
bool is_fp8_row(const MeasuredRow& row) { return shape_of(row).dtype == DType::fp8; }

bool is_large_bf16_row(const MeasuredRow& row) {
  constexpr std::int64_t kLarge = 512;
  const GemmShape& shape = shape_of(row);
  return is_bf16_row(row) && std::min({shape.m, shape.n, shape.k}) >= kLarge;
}

class MatrixPart : public StudyPart {
 public:
  explicit MatrixPart(const std::filesystem::path& kernels) {
    table_.add(
        kernels / "gemm_a100_sxm.csv", kA100, [](const MeasuredKernel&) { return true; }, true);
    table_.add(
        kernels / "gemm_h100_sxm.csv", kH100, [](const MeasuredKernel&) { return true; }, true);
    other_gpu_.resize(table_.rows().size());
    unseen_shapes_.resize(table_.rows().size());
  }

  void plan(Jobs& jobs) override {
    for (std::size_t gpu = 0; gpu < table_.gpus().size(); ++gpu) {
      jobs.emplace_back([this, gpu] {
        const auto fitted = table_.indices(
            [&](const MeasuredRow& row) { return is_large_bf16_row(row) && row.sample.gpu != gpu; });
        const auto asked = table_.indices(
            [&](const MeasuredRow& row) { return is_large_bf16_row(row) && row.sample.gpu == gpu; });
        predict_from_others(table_, "matrix_gemm", fitted, asked, other_gpu_);
      });
    }
    jobs.emplace_back([this] {
      predict_across_shapes(table_, "matrix_gemm", table_.indices(is_large_bf16_row), unseen_shapes_);
    });
    jobs.emplace_back([this] { shipped_ = predict_shipped(table_, any_row); });
  }

  StudyReport sections(const PublishedFigures& published) const override {
    RowLines lines(table_, published, "Matrix products in BF16, m, n and k at least 512: mean absolute error");
    // No fit here changes H100's energy a flop and its share of HBM, which were set from rows of its table.
    constexpr FigureKind kPredicted = FigureKind::predicted, kFitted = FigureKind::fitted;
    lines.add("bf16.a100_to_h100", "fit on A100, tested on H100", kFitted, other_gpu_,
              table_.on(kH100, is_large_bf16_row));
    lines.add("bf16.h100_to_a100", "fit on H100, tested on A100", kPredicted, other_gpu_,
              table_.on(kA100, is_large_bf16_row));
    lines.add("bf16.unseen_shapes", "both in the fit, unseen shapes", kFitted, unseen_shapes_,
              is_large_bf16_row);
    for (const std::string gpu : {kA100, kH100})
      lines.add("bf16.unseen_shapes." + gpu, "the same, " + gpu, gpu == kH100 ? kFitted : kPredicted,
                unseen_shapes_, table_.on(gpu, is_large_bf16_row));
    for (const std::string gpu : {kA100, kH100})
      lines.add("bf16.shipped." + gpu, "shipped coefficients, large, " + gpu, kFitted, shipped_,
                table_.on(gpu, is_large_bf16_row));
    for (const std::string gpu : {kA100, kH100})
      lines.add("bf16.all_m." + gpu, "shipped coefficients, all m, " + gpu, kFitted, shipped_,
                table_.on(gpu, is_bf16_row));
    lines.add("fp8.h100", "FP8, shipped coefficients, h100-sxm", kFitted, shipped_,
              table_.on(kH100, is_fp8_row));
    return {lines.section({"Of a shape measured with two libraries the faster counts.",
                           "H100's energy a flop and share of HBM were set from rows of its table and are not "
                           "fitted again; A100's slow none of these rows down."})};
  }

 private:
  static constexpr const char* kA100 = "a100-sxm-80gb";
  static constexpr const char* kH100 = "h100-sxm";

  MeasuredRows table_;
  Predictions shipped_;
  Predictions other_gpu_;
  Predictions unseen_shapes_;
};

}  // namespace

std::unique_ptr<StudyPart> matrix_part(const std::filesystem::path& kernels) {
  return std::make_unique<MatrixPart>(kernels);
}

}}  // namespace c3::studies
