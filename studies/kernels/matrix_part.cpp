#include <fmt/format.h>

#include <array>

#include "gpu/kernels/gemm/gemm_shape.hpp"
#include "studies/kernels/parts.hpp"
#include "studies/kernels/unseen.hpp"

namespace c3 { inline namespace studies {
namespace {

struct MatrixGpu {
  std::string_view name;
  std::string_view file;
  std::string_view short_name;
};
constexpr std::array kGpus = {MatrixGpu{"a100-sxm-80gb", "gemm_a100_sxm.csv", "a100"},
                              MatrixGpu{"h100-sxm", "gemm_h100_sxm.csv", "h100"}};

constexpr std::int64_t kLarge = 512;  // each of m, n, k

const GemmShape& shape_of(const MeasuredRow& row) { return *row.sample.op.as<GemmShape>(); }

bool is_bf16(const MeasuredRow& row) { return shape_of(row).dtype == DType::bf16; }

bool is_large_bf16(const MeasuredRow& row) {
  const GemmShape& shape = shape_of(row);
  return is_bf16(row) && std::min({shape.m, shape.n, shape.k}) >= kLarge;
}

}  // namespace

MatrixPart::MatrixPart(const std::filesystem::path& kernels) {
  const auto all = [](const MeasuredKernel&) { return true; };
  for (const MatrixGpu& gpu : kGpus)
    table_.add(kernels / gpu.file, std::string(gpu.name), all, true);
  other_gpu_.resize(table_.rows().size());
  unseen_shapes_.resize(table_.rows().size());
}

void MatrixPart::plan(Jobs& jobs) {
  for (std::size_t gpu = 0; gpu < table_.gpus().size(); ++gpu) {
    jobs.emplace_back([this, gpu] {
      const auto fitted =
          table_.indices([&](const MeasuredRow& row) { return is_large_bf16(row) && row.sample.gpu != gpu; });
      const auto asked =
          table_.indices([&](const MeasuredRow& row) { return is_large_bf16(row) && row.sample.gpu == gpu; });
      predict_from_others(table_, "matrix_gemm", fitted, asked, other_gpu_);
    });
  }
  jobs.emplace_back(
      [this] { predict_across_shapes(table_, "matrix_gemm", table_.indices(is_large_bf16), unseen_shapes_); });
  jobs.emplace_back([this] { shipped_ = predict_shipped(table_, [](const MeasuredRow&) { return true; }); });
}

StudyReport MatrixPart::sections(const PublishedFigures& published) const {
  StudySection section;
  const auto add = [&](const std::string& id, FigureKind kind, const std::string& label,
                       const Predictions& predictions, const RowFilter& filter) {
    section.lines.push_back(table_.compare(predictions, filter).line(published.find(id), kind, label));
  };
  const auto on = [&](const MatrixGpu& gpu, const RowFilter& filter) {
    return [this, gpu, filter](const MeasuredRow& row) {
      return table_.gpus()[row.sample.gpu].name == gpu.name && filter(row);
    };
  };
  const auto& [a100, h100] = kGpus;
  // No fit here changes H100's energy a flop and its share of HBM, which were set from rows of its table.
  const auto unseen = [&](const MatrixGpu& gpu) {
    return gpu.name == kGpus[1].name ? FigureKind::fitted : FigureKind::predicted;
  };
  add("bf16.a100_to_h100", unseen(h100), "fit on A100, tested on H100", other_gpu_, on(h100, is_large_bf16));
  add("bf16.h100_to_a100", unseen(a100), "fit on H100, tested on A100", other_gpu_, on(a100, is_large_bf16));
  add("bf16.unseen_shapes", FigureKind::fitted, "both in the fit, unseen shapes", unseen_shapes_,
      is_large_bf16);
  for (const MatrixGpu& gpu : kGpus)
    add(fmt::format("bf16.unseen_shapes.{}", gpu.name), unseen(gpu), fmt::format("the same, {}", gpu.name),
        unseen_shapes_, on(gpu, is_large_bf16));
  for (const MatrixGpu& gpu : kGpus)
    add(fmt::format("bf16.shipped.{}", gpu.name), FigureKind::fitted,
        fmt::format("shipped coefficients, large, {}", gpu.name), shipped_, on(gpu, is_large_bf16));
  for (const MatrixGpu& gpu : kGpus)
    add(fmt::format("bf16.all_m.{}", gpu.name), FigureKind::fitted,
        fmt::format("shipped coefficients, all m, {}", gpu.name), shipped_, on(gpu, is_bf16));
  add("fp8.h100", FigureKind::fitted, "FP8, shipped coefficients, h100-sxm", shipped_,
      on(h100, [](const MeasuredRow& row) { return shape_of(row).dtype == DType::fp8; }));

  section.heading = "Matrix products in BF16, m, n and k at least 512: mean absolute error";
  section.notes = {
      "Of a shape measured with two libraries the faster counts.",
      "H100's energy a flop and share of HBM were set from rows of its table and are not fitted again; "
      "A100's slow none of these rows down."};
  if (table_.broken() > 0) section.notes.push_back(fmt::format("{} rows could not be read.", table_.broken()));
  return {section};
}

}}  // namespace c3::studies
