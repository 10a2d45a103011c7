#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "configs/presets/preset_store.hpp"
#include "engine/errors.hpp"
#include "gpu/kernels/describe.hpp"
#include "studies/comparison.hpp"
#include "studies/kernels/parts.hpp"

namespace c3 { inline namespace studies {
namespace {

/// What of a step is compared.
using StepPart = Seconds (*)(const StepTimes&);
Seconds forward_of(const StepTimes& times) { return times.forward; }
Seconds backward_of(const StepTimes& times) { return times.backward; }
Seconds whole_of(const StepTimes& times) { return times.forward + times.backward; }

/// Absent where the GPU cannot hold an operator. A training step's loss is part of its forward pass, as it was
/// measured.
std::optional<StepTimes> step_time(const MeasuredModel& row, bool attention_kernel) {
  const GpuSpec gpu = load_gpu(row.gpu);
  const StepOperators step = step_operators(load_model(row.model), setup_of(row, attention_kernel));
  try {
    return StepTimes{.forward = time_of(step.forward, gpu) + time_of(step.loss, gpu),
                     .backward = time_of(step.backward, gpu)};
  } catch (const InfeasibleError&) {
    return std::nullopt;
  }
}

/// \p block as of Comparison::Row.
void add(Comparison& comparison, const MeasuredModel& row, const std::optional<StepTimes>& here, StepPart part,
         std::uint64_t block = 0) {
  if (!here) return comparison.skip();
  std::vector<Comparison::Beside> beside;
  if (row.roofline) beside.emplace_back("roofline", part(*row.roofline));
  if (row.neusight) beside.emplace_back("NeuSight", part(*row.neusight));
  comparison.add({part(row.measured), part(*here), block}, beside);
}

/// The error of one row, whose label has both times: "t4, bert-large 8 x 512 fused, forward: 9.1 ms, ..".
StudyLine row_line(const PublishedFigures& published, const MeasuredModel& row,
                   const std::optional<StepTimes>& here, StepPart part, const std::string& what,
                   const std::string& remark) {
  Comparison comparison;
  add(comparison, row, here, part);
  const std::string id =
      fmt::format("models.row.{}.{}.{}.{}x{}{}{}", row.training ? "training" : "inference", row.gpu, row.model,
                  row.sequences, row.length, row.fused ? ".fused" : "", what);
  std::string label =
      fmt::format("{}, {} {} x {}{}{}: {:.1f} ms", row.gpu, row.model, row.sequences, row.length,
                  row.fused ? " fused" : "", remark, part(row.measured).value * 1e3);
  if (here) label += fmt::format(", here {:.1f} ms", part(*here).value * 1e3);
  return comparison.line(published.find(id), FigureKind::predicted, std::move(label));
}

class ModelsPart : public StudyPart {
 public:
  explicit ModelsPart(const std::filesystem::path& kernels) {
    for (const MeasuredModel& model : read_measured_models(kernels / "neusight_e2e.csv"))
      rows_.push_back({.measured = model});
  }

  void plan(Jobs& jobs) override {
    jobs.emplace_back([this] {
      for (Row& row : rows_) {
        row.here = step_time(row.measured, true);
        row.scores_kept = step_time(row.measured, false);
      }
    });
  }

  StudyReport sections(const PublishedFigures& published) const override {
    StudyReport report = {summary(published), inference_rows(published), training_rows(published)};
    std::erase_if(report, [](const StudySection& section) { return section.lines.empty(); });
    return report;
  }

 private:
  struct Row {
    MeasuredModel measured;
    std::optional<StepTimes> here = {};
    std::optional<StepTimes> scores_kept = {};  ///< the same without an attention kernel
  };

  /// The first row of \p model: rows of one model mostly err alike.
  std::uint64_t model_index(const std::string& model) const {
    const auto found = std::ranges::find_if(rows_, [&](const Row& row) { return row.measured.model == model; });
    return static_cast<std::uint64_t>(found - rows_.begin());
  }

  StudySection summary(const PublishedFigures& published) const {
    StudySection section{.heading = "Whole models, FP32, as sums of kernels: mean absolute error",
                         .notes = {"Never fitted. NeuSight's predictions and its roofline: of the rows that "
                                   "have them. p5..p95: over models."}};
    const auto add_line = [&](const std::string& id, const std::string& label, StepPart part,
                              const std::function<bool(const MeasuredModel&)>& is,
                              std::optional<StepTimes> Row::*ours = &Row::here) {
      Comparison comparison;
      for (const Row& row : rows_)
        if (is(row.measured)) add(comparison, row.measured, row.*ours, part, model_index(row.measured.model));
      section.lines.push_back(comparison.line(published.find(id), FigureKind::predicted, label));
    };
    const auto training = [](const MeasuredModel& row) { return row.training; };
    const auto inference = std::not_fn(training);
    add_line("models.inference", "inference", forward_of, inference);
    for (const std::string gpu : {"a100-pcie-40gb", "v100-pcie-32gb"})
      add_line("models.inference." + gpu, "inference, " + gpu, forward_of,
               [&](const MeasuredModel& row) { return inference(row) && row.gpu == gpu; });
    add_line("models.inference.eager", "inference, eager", forward_of,
             [&](const MeasuredModel& row) { return inference(row) && !row.fused; });
    add_line("models.inference.fused", "inference, fused", forward_of,
             [&](const MeasuredModel& row) { return inference(row) && row.fused; });
    add_line("models.inference.scores_kept", "inference, BERT fused without an attention kernel", forward_of,
             inference, &Row::scores_kept);
    add_line("models.switch", "inference, Switch Transformer", forward_of,
             [](const MeasuredModel& row) { return row.model == "switch-xl-4"; });
    add_line("models.all", "all steps", whole_of, [](const MeasuredModel&) { return true; });
    add_line("models.training.forward", "training, forward", forward_of, training);
    add_line("models.training.backward", "training, backward", backward_of, training);
    return section;
  }

  StudySection inference_rows(const PublishedFigures& published) const {
    StudySection section{.heading = "Inference, row by row: absolute error"};
    for (const Row& row : rows_) {
      if (row.measured.training) continue;
      section.lines.push_back(row_line(published, row.measured, row.here, forward_of, "", ""));
      if (setup_of(row.measured, true).attention_kernel)
        section.lines.push_back(row_line(published, row.measured, row.scores_kept, forward_of, ".scores_kept",
                                         ", no attention kernel"));
    }
    return section;
  }

  StudySection training_rows(const PublishedFigures& published) const {
    StudySection section{.heading = "Training, row by row: absolute error"};
    for (const Row& row : rows_) {
      if (!row.measured.training) continue;
      section.lines.push_back(row_line(published, row.measured, row.here, forward_of, ".forward", ", forward"));
      section.lines.push_back(
          row_line(published, row.measured, row.here, backward_of, ".backward", ", backward"));
    }
    return section;
  }

  std::vector<Row> rows_;
};

}  // namespace

Seconds time_of(const OperatorList& list, const GpuSpec& gpu) {
  Seconds sum;
  for (const PartKernel& kernel : list)
    sum =
        sum + static_cast<double>(kernel.count) * time_of(kernel.op, gpu, {.launch = LaunchCost::device}).time;
  return sum;
}

StepSetup setup_of(const MeasuredModel& row, bool attention_kernel) {
  const bool is_bert = row.model == "bert-large";
  StepSetup setup;
  setup.sequences = row.sequences;
  setup.length = row.length;
  setup.training = row.training;
  if (is_bert) setup.head = row.training ? ModelHead::pretraining : ModelHead::classifier;
  setup.fused = row.fused;
  setup.attention_kernel = row.fused && is_bert && attention_kernel;
  if (row.model == "switch-xl-4") setup.busy_experts = 1;  // every token of its input is the same
  return setup;
}

std::unique_ptr<StudyPart> models_part(const std::filesystem::path& kernels) {
  return std::make_unique<ModelsPart>(kernels);
}

}}  // namespace c3::studies
