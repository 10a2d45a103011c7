// Steps of one GPU, kernel by kernel.

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <stdexcept>

#include "studies/bert/parts.hpp"
#include "workloads/training/training_step.hpp"

namespace c3 { inline namespace studies {
namespace {

constexpr double kPercent = 100.0;
constexpr auto kClasses = enum_names(BertClass{});

/// What a job finds of a cell, after the share of each class.
enum Value : std::size_t {
  kMemoryBound = kClasses.size(),
  kLayers,
  kLinearForward,
  kFcForward,
  kAttentionForward,
  kOptimizerBytes,  ///< for each byte of the model in FP32
  kMilliseconds,
  kValues
};

std::size_t index(BertClass of) { return static_cast<std::size_t>(of); }

std::vector<double> values_of(const Experiment& step) {
  const StepProfile profile(step);
  std::vector<double> values(kValues);
  for (const auto& [name, of] : kClasses)
    values[index(of)] = kPercent * profile.share(of);
  values[kMemoryBound] = kPercent * profile.memory_bound_share();
  values[kLayers] = kPercent * profile.layers_share();
  values[kLinearForward] = kPercent * profile.forward_product_share(BertClass::linear);
  values[kFcForward] = kPercent * profile.forward_product_share(BertClass::fc);
  values[kAttentionForward] = kPercent * profile.forward_product_share(BertClass::attention);
  const Bytes states =
      step.step->memory.of(MemoryClass::optimizer);  // with a master copy three numbers, else two
  const double numbers = states.value / (training_of(step).framework.master_copy ? 12.0 : 8.0);
  values[kOptimizerBytes] = profile.optimizer_bytes().value / (4.0 * numbers);
  values[kMilliseconds] = profile.total().value * 1e3;
  return values;
}

}  // namespace

std::string BertCell::label() const {
  return fmt::format("{}, phase {}, {} sequences, {}", gpu == "mi100" ? "MI100" : "A100", phase, batch,
                     is_mixed ? "mixed" : "FP32");
}

Experiment experiment_of(const BertCell& cell, std::vector<std::string> sets) {
  sets.push_back(fmt::format("training.sequence={}", cell.phase == 1 ? 128 : 512));
  sets.push_back(fmt::format("training.predictions={}", cell.phase == 1 ? 20 : 80));
  sets.push_back(fmt::format("training.micro_batch={}", cell.batch));
  if (!cell.is_mixed)
    sets.insert(sets.end(),
                {R"(model.dtype="fp32")", "framework.master_copy=false", R"(framework.gradient_dtype="fp32")"});
  return ExperimentFile::load(experiment_of_study("bert", fmt::format("bert_large_{}.toml", cell.gpu)), sets)
      .make(std::nullopt);
}

BreakdownPart::BreakdownPart() {
  for (const std::string_view gpu : {"mi100", "a100"})
    for (const int phase : {1, 2})
      for (const std::int64_t batch : {32, 4})
        for (const bool is_mixed : {false, true})
          rows_.push_back({.cell = {gpu, phase, batch, is_mixed}, .values = {}});
}

void BreakdownPart::plan(SimulationJobs& jobs) {
  for (Row& row : rows_) {
    jobs.push_back({.run = [&row] { return SimulatedTime{.values = values_of(experiment_of(row.cell))}; },
                    .take = [&row](const SimulatedTime& found) { row.values = found.values; }});
  }
}

const std::vector<double>& BreakdownPart::of(const BertCell& cell) const {
  const auto found = std::ranges::find(rows_, cell, &Row::cell);
  if (found == rows_.end()) throw std::logic_error("BreakdownPart: no such cell: " + cell.label());
  return found->values;
}

StudySection BreakdownPart::figures(const PublishedFigures& published) const {
  const std::vector<double>& single = of({"mi100", 1, 32, false});
  const std::vector<double>& mixed = of({"mi100", 1, 32, true});
  const std::vector<double>& few = of({"mi100", 1, 4, true});
  const std::size_t linear = index(BertClass::linear), fc = index(BertClass::fc);
  const std::size_t optimizer = index(BertClass::optimizer);
  StudySection section{
      .heading = "MI100, phase 1, 32 sequences: shares of the time of kernels",
      .lines = {},
      .notes = {"split: of the forward products of layers in FP32. Published without a target: "
                "recalled, not read."}};
  const auto add = [&](const char* id, const char* label, double value) {
    section.lines.push_back({.figure = {.of = published.find(id), .simulated = value}, .label = label});
  };
  add("split.linear", "split: projections", single[kLinearForward]);
  add("split.fc", "split: feed-forward", single[kFcForward]);
  add("split.attention", "split: attention", single[kAttentionForward]);
  add("share.memory_bound", "memory-bound, FP32", single[kMemoryBound]);
  add("share.linear_fc.fp32", "linear and fc, FP32", single[linear] + single[fc]);
  add("share.linear_fc.mixed", "linear and fc, mixed", mixed[linear] + mixed[fc]);
  add("optimizer.precision", "optimizer's share: mixed over FP32 [1]", mixed[optimizer] / single[optimizer]);
  add("optimizer.tokens", "optimizer's share: 4 sequences over 32 [1]", few[optimizer] / mixed[optimizer]);
  add("optimizer.fp32", "optimizer, FP32", single[optimizer]);
  add("optimizer.mixed", "optimizer, mixed", mixed[optimizer]);
  add("optimizer.few", "optimizer, mixed, 4 sequences", few[optimizer]);
  add("optimizer.bytes", "bytes of LAMB over the model's [1]", mixed[kOptimizerBytes]);
  add("layers", "transformer layers, FP32", single[kLayers]);
  return section;
}

StudySection BreakdownPart::cells(const PublishedFigures& published) const {
  StudySection section{.heading = "Every cell: memory-bound share, and where the time goes",
                       .lines = {},
                       .notes = {"ms: kernels one after another, without launches. other: gradients of biases, "
                                 "casts and sums of gradients."},
                       .value = "memory-bound"};
  for (const Row& row : rows_) {
    StudyLine line{.figure = {.of = published.find("cells"), .simulated = row.values[kMemoryBound]},
                   .label = row.cell.label()};
    line.beside.emplace_back("ms [ms]", row.values[kMilliseconds]);
    for (const auto& [name, its] : kClasses)
      line.beside.emplace_back(name, row.values[index(its)]);
    section.lines.push_back(std::move(line));
  }
  return section;
}

StudyReport BreakdownPart::sections(const PublishedFigures& published) const {
  return {figures(published), cells(published)};
}

std::string BreakdownPart::rows_csv() const {
  std::string text = "cell,class,range,operator,flops,bytes,us\n";
  for (const Row& row : rows_) {
    if (row.cell.gpu != "mi100" || row.cell.batch != 32) continue;
    const StepProfile profile(experiment_of(row.cell));
    std::set<std::string> known;
    for (const TimedKernelOfStep& kernel : profile.kernels()) {
      const std::string line =
          fmt::format("\"{}\",{},\"{}\",{},{:.6g},{:.6g},{:.3f}\n", row.cell.label(),
                      name_of(class_of(kernel.what)), kernel.what.range, kernel.what.name,
                      kernel.what.flops.value, kernel.what.bytes.value, kernel.time.value * 1e6);
      if (known.insert(line).second) text += line;
    }
  }
  return text;
}

}}  // namespace c3::studies
