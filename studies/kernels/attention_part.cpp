#include <fmt/format.h>

#include <array>

#include "configs/presets/preset_store.hpp"
#include "studies/kernels/parts.hpp"
#include "studies/kernels/row_lines.hpp"
#include "studies/kernels/unseen.hpp"

namespace c3 { inline namespace studies {
namespace {

class AttentionPart : public StudyPart {
 public:
  explicit AttentionPart(const std::filesystem::path& kernels) {
    table_.measured_on(load_host("aiconfigurator").calls);
    for (const auto& [gpu, file] : kTables)
      table_.add(kernels / file, gpu, [](const MeasuredKernel&) { return true; });
    unseen_shapes_.resize(table_.rows().size());
  }

  void plan(Jobs& jobs) override {
    jobs.emplace_back(
        [this] { predict_across_shapes(table_, "attention", table_.indices(any_row), unseen_shapes_); });
    jobs.emplace_back([this] { shipped_ = predict_shipped(table_, any_row); });
  }

  StudyReport sections(const PublishedFigures& published) const override {
    RowLines lines(table_, published, "Causal attention, forward, 16 bits: mean absolute error");
    lines.add("attention.unseen_shapes", "A100 and H100 in the fit, unseen shapes", FigureKind::predicted,
              unseen_shapes_, any_row);
    for (const auto& [gpu, file] : kTables)
      lines.add(fmt::format("attention.unseen_shapes.{}", gpu), fmt::format("the same, {}", gpu),
                FigureKind::predicted, unseen_shapes_, table_.on(gpu));
    for (const auto& [gpu, file] : kTables)
      lines.add(fmt::format("attention.shipped.{}", gpu), fmt::format("shipped coefficients, {}", gpu),
                FigureKind::fitted, shipped_, table_.on(gpu));
    return {lines.section({})};
  }

 private:
  /// GPUs and their tables.
  static constexpr std::array<std::pair<const char*, const char*>, 2> kTables = {
      {{"a100-sxm-80gb", "attention_prefill_causal_a100_sxm.csv"},
       {"h100-sxm", "attention_prefill_causal_h100_sxm.csv"}}};

  MeasuredRows table_;
  Predictions shipped_;
  Predictions unseen_shapes_;
};

}  // namespace

std::unique_ptr<StudyPart> attention_part(const std::filesystem::path& kernels) {
  return std::make_unique<AttentionPart>(kernels);
}

}}  // namespace c3::studies
