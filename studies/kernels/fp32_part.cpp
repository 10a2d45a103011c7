#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "configs/presets/preset_store.hpp"
#include "studies/kernels/parts.hpp"
#include "studies/kernels/unseen.hpp"

namespace c3 { inline namespace studies {
namespace {

constexpr Seconds kLeastTime = 100.0_us;  // shorter ones are mostly the host's launch, 24 to 31 us of it

/// A kernel class of the tables: its name, in figures, and the coefficients that it depends on.
struct Fp32Class {
  std::string_view name;
  std::string_view id;
  std::string_view coefficients;
};
constexpr std::array kClasses = {
    Fp32Class{"linear", "linear", "vector_gemm"}, Fp32Class{"bmm", "bmm", "vector_gemm"},
    Fp32Class{"elementwise", "elementwise", "vector"}, Fp32Class{"softmax", "softmax", "vector"},
    Fp32Class{"layer norm", "layer_norm", "vector"}};

struct Fp32Gpu {
  std::string_view name;
  /// Neither throttled nor limited by its power while it was measured. The others' train rows of `linear`, 2 to
  /// 4 times too slow, are not fitted.
  bool is_steady;
};
constexpr std::array kGpus = {Fp32Gpu{"a100-pcie-40gb", true}, Fp32Gpu{"v100-pcie-32gb", true},
                              Fp32Gpu{"t4", false}, Fp32Gpu{"p4", false}, Fp32Gpu{"p100-pcie-16gb", false}};

const Fp32Gpu* known_gpu(const std::string& name) {
  const auto* const found = std::ranges::find(kGpus, name, &Fp32Gpu::name);
  return found == kGpus.end() ? nullptr : found;
}

bool takes(const MeasuredRow& row, std::string_view coefficients) {
  const auto* const found = std::ranges::find(kClasses, row.kernel_class, &Fp32Class::name);
  return found != kClasses.end() && found->coefficients == coefficients;
}

}  // namespace

Fp32Part::Fp32Part(const std::filesystem::path& kernels) {
  const auto wanted = [](const MeasuredKernel& kernel) {
    const Fp32Gpu* gpu = known_gpu(kernel.gpu);
    if (gpu == nullptr || kernel.time <= kLeastTime) return false;
    return gpu->is_steady || !kernel.train || kernel.kernel_class != "linear";
  };
  table_.measured_on(load_host("neusight").calls);
  for (const char* name : {"bmm", "linear", "vec"})
    table_.add(kernels / fmt::format("neusight_nvidia_{}.csv", name), "", wanted);
  unseen_.resize(table_.rows().size());
}

void Fp32Part::plan(Jobs& jobs) {
  jobs.emplace_back(
      [this] { shipped_ = predict_shipped(table_, [](const MeasuredRow& row) { return !row.train; }); });
  for (const std::string kernel_class : {"vector_gemm", "vector"}) {
    for (std::size_t gpu = 0; gpu < table_.gpus().size(); ++gpu)
      plan_unseen(kernel_class, gpu, jobs);
  }
}

void Fp32Part::plan_unseen(const std::string& kernel_class, std::size_t gpu, Jobs& jobs) {
  jobs.emplace_back([this, kernel_class, gpu] {
    const auto fitted = table_.indices(
        [&](const MeasuredRow& row) { return row.train && row.sample.gpu != gpu && takes(row, kernel_class); });
    const auto asked = table_.indices([&](const MeasuredRow& row) {
      return !row.train && row.sample.gpu == gpu && takes(row, kernel_class);
    });
    predict_from_others(table_, kernel_class, fitted, asked, unseen_);
  });
}

StudySection Fp32Part::section(const PublishedFigures& published, const std::string& id, FigureKind kind,
                               const Predictions& predictions) const {
  StudySection section;
  for (const Fp32Class& of : kClasses) {
    const auto add = [&](const std::string& figure, const std::string& where, const auto& is_gpu) {
      const Comparison comparison = table_.compare(predictions, [&](const MeasuredRow& row) {
        return !row.train && row.kernel_class == of.name && is_gpu(table_.gpus()[row.sample.gpu].name);
      });
      section.lines.push_back(
          comparison.line(published.find(figure), kind, fmt::format("{}, {}", of.name, where)));
    };
    const std::string pooled = fmt::format("{}.{}", id, of.id);
    add(pooled, "A100 40 GB + V100", [](const std::string& gpu) { return known_gpu(gpu)->is_steady; });
    for (const Fp32Gpu& only : kGpus)
      add(fmt::format("{}.{}", pooled, only.name), std::string(only.name),
          [&](const std::string& gpu) { return gpu == only.name; });
  }
  return section;
}

StudyReport Fp32Part::sections(const PublishedFigures& published) const {
  StudySection shipped = section(published, "fp32", FigureKind::fitted, shipped_);
  shipped.heading = "FP32 kernels, shipped coefficients: mean absolute error";
  shipped.notes = {
      "Fitted on rows marked train of all five GPUs (linear: of A100 and V100), scored on rows marked test. "
      "p5..p95: over shapes."};
  StudySection unseen = section(published, "fp32.unseen", FigureKind::predicted, unseen_);
  unseen.heading = "FP32 kernels of a GPU that the fit has not seen: mean absolute error";
  unseen.notes = {fmt::format(
      "Coefficients refitted for each GPU on at most {} train rows of each of the others.", kMostRows)};
  for (StudySection* section : {&shipped, &unseen})
    section->notes.emplace_back(
        "T4, P4 and P100 were throttled or limited by their power while they were measured.");
  if (table_.broken() > 0) shipped.notes.push_back(fmt::format("{} rows could not be read.", table_.broken()));
  return {shipped, unseen};
}

}}  // namespace c3::studies
