#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "configs/presets/preset_store.hpp"
#include "studies/kernels/parts.hpp"
#include "studies/kernels/row_lines.hpp"
#include "studies/kernels/unseen.hpp"

namespace c3 { inline namespace studies {
namespace {

/// A kernel class of the tables: its name, in figures, and the coefficients that it depends on.
struct Fp32Class {
  std::string_view name;
  std::string_view id;
  std::string_view coefficients;
};
constexpr std::array kFp32Classes = {
    Fp32Class{"linear", "linear", "vector_gemm"}, Fp32Class{"bmm", "bmm", "vector_gemm"},
    Fp32Class{"elementwise", "elementwise", "vector"}, Fp32Class{"softmax", "softmax", "vector"},
    Fp32Class{"layer norm", "layer_norm", "vector"}};

struct Fp32Gpu {
  std::string_view name;
  /// Neither throttled nor limited by its power while it was measured. The others' train rows of `linear`, 2 to
  /// 4 times too slow, are not fitted.
  bool is_steady;
};
constexpr std::array kFp32Gpus = {Fp32Gpu{"a100-pcie-40gb", true}, Fp32Gpu{"v100-pcie-32gb", true},
                                  Fp32Gpu{"t4", false}, Fp32Gpu{"p4", false}, Fp32Gpu{"p100-pcie-16gb", false}};

const Fp32Gpu* known_gpu(const std::string& name) {
  const auto* const found = std::ranges::find(kFp32Gpus, name, &Fp32Gpu::name);
  return found == kFp32Gpus.end() ? nullptr : found;
}

bool takes(const MeasuredRow& row, std::string_view coefficients) {
  const auto* const found = std::ranges::find(kFp32Classes, row.kernel_class, &Fp32Class::name);
  return found != kFp32Classes.end() && found->coefficients == coefficients;
}

class Fp32Part : public StudyPart {
 public:
  explicit Fp32Part(const std::filesystem::path& kernels) {
    const auto wanted = [](const MeasuredKernel& kernel) {
      const Fp32Gpu* gpu = known_gpu(kernel.gpu);
      if (gpu == nullptr || kernel.time <= kMostlyLaunch) return false;
      return gpu->is_steady || !kernel.train || kernel.kernel_class != "linear";
    };
    table_.measured_on(load_host("neusight").calls);
    for (const char* name : {"bmm", "linear", "vec"})
      table_.add(kernels / fmt::format("neusight_nvidia_{}.csv", name), "", wanted);
    unseen_.resize(table_.rows().size());
  }

  void plan(Jobs& jobs) override {
    jobs.emplace_back(
        [this] { shipped_ = predict_shipped(table_, [](const MeasuredRow& row) { return !row.train; }); });
    for (const std::string kernel_class : {"vector_gemm", "vector"}) {
      for (std::size_t gpu = 0; gpu < table_.gpus().size(); ++gpu)
        jobs.emplace_back([this, kernel_class, gpu] { predict_unseen(kernel_class, gpu); });
    }
  }

  StudyReport sections(const PublishedFigures& published) const override {
    const std::string throttled =
        "T4, P4 and P100 were throttled or limited by their power while they were measured.";
    RowLines shipped(table_, published, "FP32 kernels, shipped coefficients: mean absolute error");
    add_lines(shipped, "fp32", FigureKind::fitted, shipped_);
    RowLines unseen(table_, published, "FP32 kernels of a GPU that the fit has not seen: mean absolute error");
    add_lines(unseen, "fp32.unseen", FigureKind::predicted, unseen_);
    return {shipped.section({"Fitted on rows marked train of all five GPUs (linear: of A100 and V100), scored "
                             "on rows marked test. p5..p95: over shapes.",
                             throttled}),
            unseen.section({fmt::format("Coefficients refitted for each GPU on at most {} train rows of each "
                                        "of the others.",
                                        kMostRows),
                            throttled})};
  }

 private:
  void predict_unseen(const std::string& kernel_class, std::size_t gpu) {
    const auto rows = [&](bool train) {
      return table_.indices([&](const MeasuredRow& row) {
        return row.train == train && (row.sample.gpu != gpu) == train && takes(row, kernel_class);
      });
    };
    predict_from_others(table_, kernel_class, rows(true), rows(false), unseen_);
  }

  void add_lines(RowLines& lines, const std::string& id, FigureKind kind,
                 const Predictions& predictions) const {
    for (const Fp32Class& fp32_class : kFp32Classes) {
      const auto add = [&](const std::string& figure, std::string_view where, const auto& is_gpu) {
        lines.add(figure, fmt::format("{}, {}", fp32_class.name, where), kind, predictions,
                  [&](const MeasuredRow& row) {
                    return !row.train && row.kernel_class == fp32_class.name &&
                           is_gpu(table_.gpus()[row.sample.gpu].name);
                  });
      };
      const std::string pooled = fmt::format("{}.{}", id, fp32_class.id);
      add(pooled, "A100 40 GB + V100", [](const std::string& gpu) { return known_gpu(gpu)->is_steady; });
      for (const Fp32Gpu& only : kFp32Gpus)
        add(fmt::format("{}.{}", pooled, only.name), only.name,
            [&](const std::string& gpu) { return gpu == only.name; });
    }
  }

  MeasuredRows table_;
  Predictions shipped_;
  Predictions unseen_;
};

}  // namespace

std::unique_ptr<StudyPart> fp32_part(const std::filesystem::path& kernels) {
  return std::make_unique<Fp32Part>(kernels);
}

}}  // namespace c3::studies
