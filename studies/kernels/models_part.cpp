#include "studies/kernels/models_part.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <string>

#include "configs/presets/preset_store.hpp"
#include "engine/errors.hpp"
#include "gpu/kernels/describe.hpp"
#include "studies/comparison.hpp"

namespace c3 { inline namespace studies {
namespace {

/// What of a step is compared.
using Part = Seconds (*)(const StepTimes&);
Seconds forward_of(const StepTimes& times) { return times.forward; }
Seconds backward_of(const StepTimes& times) { return times.backward; }
Seconds whole_of(const StepTimes& times) { return times.forward + times.backward; }

/// A training step's loss is part of its forward pass, as it was measured.
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

/// "bert-large 8 x 512 fused"
std::string name_of(const MeasuredModel& row) {
  return fmt::format("{} {} x {}{}", row.model, row.sequences, row.length, row.fused ? " fused" : "");
}

/// As the end of a figure's id.
std::string id_of(const MeasuredModel& row) {
  return fmt::format("{}.{}.{}x{}{}", row.gpu, row.model, row.sequences, row.length, row.fused ? ".fused" : "");
}

/// \p block as of Comparison::Row.
void add(Comparison& comparison, const MeasuredModel& row, const std::optional<StepTimes>& here, Part part,
         std::uint64_t block = 0) {
  if (!here) return comparison.skip();
  std::vector<Comparison::Beside> beside;
  if (row.roofline) beside.emplace_back("roofline", part(*row.roofline));
  if (row.neusight) beside.emplace_back("NeuSight", part(*row.neusight));
  comparison.add({part(row.measured), part(*here), block}, beside);
}

/// The error of one row, whose label has both times.
StudyLine row_line(const PublishedFigures& published, const MeasuredModel& row,
                   const std::optional<StepTimes>& here, Part part, const std::string& id,
                   const std::string& remark) {
  Comparison comparison;
  add(comparison, row, here, part);
  std::string label =
      fmt::format("{}, {}{}: {:.1f} ms", row.gpu, name_of(row), remark, part(row.measured).value * 1e3);
  if (here) label += fmt::format(", here {:.1f} ms", part(*here).value * 1e3);
  return comparison.line(published.find("models.row." + id), FigureKind::predicted, std::move(label));
}

}  // namespace

Seconds time_of(const OperatorList& list, const GpuSpec& gpu) {
  Seconds sum;
  for (const PartKernel& each : list)
    sum = sum + static_cast<double>(each.count) * time_of(each.op, gpu, {.launch = LaunchCost::device}).time;
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

ModelsPart::ModelsPart(const std::filesystem::path& kernels) {
  for (const MeasuredModel& model : read_measured_models(kernels / "neusight_e2e.csv"))
    rows_.push_back({.of = model});
}

void ModelsPart::plan(Jobs& jobs) {
  jobs.emplace_back([this] {
    for (Row& row : rows_) {
      row.here = step_time(row.of, true);
      row.scores_kept = step_time(row.of, false);
    }
  });
}

std::uint64_t ModelsPart::model_index(const std::string& model) const {
  const auto found = std::ranges::find_if(rows_, [&](const Row& row) { return row.of.model == model; });
  return static_cast<std::uint64_t>(found - rows_.begin());
}

StudySection ModelsPart::summary(const PublishedFigures& published) const {
  StudySection section;
  const auto add_line = [&](const std::string& id, const std::string& label, Part part,
                            std::optional<StepTimes> Row::*ours,
                            const std::function<bool(const MeasuredModel&)>& is) {
    Comparison comparison;
    for (const Row& row : rows_) {
      if (is(row.of)) add(comparison, row.of, row.*ours, part, model_index(row.of.model));
    }
    section.lines.push_back(comparison.line(published.find(id), FigureKind::predicted, label));
  };
  const auto inference = [](const MeasuredModel& row) { return !row.training; };
  const auto training = [](const MeasuredModel& row) { return row.training; };
  add_line("models.inference", "inference", forward_of, &Row::here, inference);
  for (const std::string gpu : {"a100-pcie-40gb", "v100-pcie-32gb"})
    add_line("models.inference." + gpu, "inference, " + gpu, forward_of, &Row::here,
             [&](const MeasuredModel& row) { return inference(row) && row.gpu == gpu; });
  add_line("models.inference.eager", "inference, eager", forward_of, &Row::here,
           [&](const MeasuredModel& row) { return inference(row) && !row.fused; });
  add_line("models.inference.fused", "inference, fused", forward_of, &Row::here,
           [&](const MeasuredModel& row) { return inference(row) && row.fused; });
  add_line("models.inference.scores_kept", "inference, BERT fused without an attention kernel", forward_of,
           &Row::scores_kept, inference);
  const auto is_switch = [](const MeasuredModel& row) { return row.model == "switch-xl-4"; };
  add_line("models.switch", "inference, Switch Transformer", forward_of, &Row::here, is_switch);
  add_line("models.all", "all steps", whole_of, &Row::here, [](const MeasuredModel&) { return true; });
  add_line("models.training.forward", "training, forward", forward_of, &Row::here, training);
  add_line("models.training.backward", "training, backward", backward_of, &Row::here, training);
  section.heading = "Whole models, FP32, as sums of kernels: mean absolute error";
  section.notes = {
      "Never fitted. NeuSight's predictions and its roofline: of the rows that have them. p5..p95: over "
      "models."};
  return section;
}

StudySection ModelsPart::inference_rows(const PublishedFigures& published) const {
  StudySection section{.heading = "Inference, row by row: absolute error", .lines = {}, .notes = {}};
  for (const Row& row : rows_) {
    if (row.of.training) continue;
    const std::string id = "inference." + id_of(row.of);
    section.lines.push_back(row_line(published, row.of, row.here, forward_of, id, ""));
    if (setup_of(row.of, true).attention_kernel)
      section.lines.push_back(row_line(published, row.of, row.scores_kept, forward_of, id + ".scores_kept",
                                       ", no attention kernel"));
  }
  return section;
}

StudySection ModelsPart::training_rows(const PublishedFigures& published) const {
  StudySection section{.heading = "Training, row by row: absolute error", .lines = {}, .notes = {}};
  for (const Row& row : rows_) {
    if (!row.of.training) continue;
    const std::string id = "training." + id_of(row.of);
    section.lines.push_back(row_line(published, row.of, row.here, forward_of, id + ".forward", ", forward"));
    section.lines.push_back(row_line(published, row.of, row.here, backward_of, id + ".backward", ", backward"));
  }
  return section;
}

StudyReport ModelsPart::sections(const PublishedFigures& published) const {
  StudyReport report = {summary(published)};
  for (StudySection& section : std::vector{inference_rows(published), training_rows(published)}) {
    if (!section.lines.empty()) report.push_back(std::move(section));
  }
  return report;
}

}}  // namespace c3::studies
