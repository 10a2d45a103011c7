#include <fmt/format.h>

#include <array>

#include "configs/presets/preset_store.hpp"
#include "studies/kernels/parts.hpp"
#include "studies/kernels/unseen.hpp"

namespace c3 { inline namespace studies {
namespace {

struct AttentionGpu {
  std::string_view name;
  std::string_view file;
};
constexpr std::array kGpus = {AttentionGpu{"a100-sxm-80gb", "attention_prefill_causal_a100_sxm.csv"},
                              AttentionGpu{"h100-sxm", "attention_prefill_causal_h100_sxm.csv"}};

}  // namespace

AttentionPart::AttentionPart(const std::filesystem::path& kernels) {
  table_.measured_on(load_host("aiconfigurator").calls);
  for (const AttentionGpu& gpu : kGpus)
    table_.add(kernels / gpu.file, std::string(gpu.name), [](const MeasuredKernel&) { return true; });
  unseen_shapes_.resize(table_.rows().size());
}

void AttentionPart::plan(Jobs& jobs) {
  const RowFilter all = [](const MeasuredRow&) { return true; };
  jobs.emplace_back(
      [this, all] { predict_across_shapes(table_, "attention", table_.indices(all), unseen_shapes_); });
  jobs.emplace_back([this, all] { shipped_ = predict_shipped(table_, all); });
}

StudyReport AttentionPart::sections(const PublishedFigures& published) const {
  StudySection section;
  section.heading = "Causal attention, forward, 16 bits: mean absolute error";
  const auto add = [&](const std::string& id, FigureKind kind, const std::string& label,
                       const Predictions& predictions, const RowFilter& filter) {
    section.lines.push_back(table_.compare(predictions, filter).line(published.find(id), kind, label));
  };
  add("attention.unseen_shapes", FigureKind::predicted, "A100 and H100 in the fit, unseen shapes",
      unseen_shapes_, [](const MeasuredRow&) { return true; });
  const auto on = [&](const AttentionGpu& gpu) {
    return [this, gpu](const MeasuredRow& row) { return table_.gpus()[row.sample.gpu].name == gpu.name; };
  };
  for (const AttentionGpu& gpu : kGpus)
    add(fmt::format("attention.unseen_shapes.{}", gpu.name), FigureKind::predicted,
        fmt::format("the same, {}", gpu.name), unseen_shapes_, on(gpu));
  for (const AttentionGpu& gpu : kGpus)
    add(fmt::format("attention.shipped.{}", gpu.name), FigureKind::fitted,
        fmt::format("shipped coefficients, {}", gpu.name), shipped_, on(gpu));
  if (table_.broken() > 0) section.notes.push_back(fmt::format("{} rows could not be read.", table_.broken()));
  return {section};
}

}}  // namespace c3::studies
