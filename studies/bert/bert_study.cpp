// Steps of BERT-Large as a profiler sees them: kernels alone, summed up by what they do.

#include <fmt/format.h>

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/percent.hpp"
#include "configs/jobs/experiment_reader.hpp"
#include "studies/cases/row_functions.hpp"
#include "studies/study_table.hpp"
#include "workloads/analysis/operator_profile.hpp"
#include "workloads/training/training_step.hpp"

namespace c3 { inline namespace studies {
namespace {

bool is_in_layer(const ProfiledOperator& kernel) {
  return kernel.name.starts_with("attn.") || kernel.name.starts_with("mlp.");
}

std::string_view class_in_layer(const ProfiledOperator& kernel) {
  const std::string role = kernel.name.substr(kernel.name.find('.') + 1);
  if (role == "norm" || role == "residual") return "norms";
  if (role == "activation") return "activation";
  const bool is_attention = role == "scores" || role == "softmax" || role == "values";
  if (kernel.is_product()) {
    if (is_attention) return "attention";
    return kernel.name.starts_with("mlp.") ? "fc" : "linear";
  }
  return is_attention ? "scores" : "other";
}

/// Classes of kernels in the paper's figures: projections of attention (linear), the two products of the
/// feed-forward block (fc), attention's batched products, what stands between those (scores), the activation,
/// norms with dropout and residual sums, and what is not in layers; biases' gradients, casts and sums of
/// gradients are `other`.
std::string class_of(const ProfiledOperator& kernel) {
  if (kernel.range == "optimizer") return "optimizer";
  if (is_in_layer(kernel)) return std::string(class_in_layer(kernel));
  if (kernel.name.starts_with("embedding")) return "embedding";
  if (kernel.name.starts_with("head") || kernel.name.starts_with("loss")) return "head";
  return "other";
}

/// A kernel and its time alone.
struct TimedKernel {
  ProfiledOperator what;
  Seconds time;
};

/// Kernels of the only script of \p step; collectives are left out.
std::vector<TimedKernel> kernels_of(const Experiment& step) {
  const Script& script = step.program.scripts.front();
  IsolatedTimes times(step.program, step.cluster);
  std::vector<TimedKernel> kernels;
  for (ProfiledOperator& op : profile(step.program, script, step.cluster)) {
    if (op.is_collective()) continue;
    const Seconds time = times.of(script.streams[op.place.stream][op.place.operation]);
    kernels.push_back({std::move(op), time});
  }
  return kernels;
}

/// Shares of the time of kernels in per cent: of each class, `memory_bound` (no products), `layers` (forward
/// and backward), and of layers' products forward linear_forward, fc_forward and attention_forward; `ms` of
/// all, and what the optimizer's own kernels read and write for each byte of the model in FP32.
std::map<std::string, double> numbers_of(const Experiment& step) {
  std::map<std::string, double> times;  // s
  for (const char* name : {"linear", "fc", "attention", "scores", "activation", "norms", "embedding", "head",
                           "optimizer", "other", "memory_bound", "layers"})
    times[name] = 0.0;
  double total = 0.0, products = 0.0, optimizer_bytes = 0.0;
  std::map<std::string, double> forward;
  for (const auto& [kernel, time] : kernels_of(step)) {
    total += time.value;
    times[class_of(kernel)] += time.value;
    if (!kernel.is_product()) times["memory_bound"] += time.value;
    if (is_in_layer(kernel)) times["layers"] += time.value;
    if (kernel.is_product() && is_in_layer(kernel) && kernel.range.starts_with("forward")) {
      forward[class_of(kernel) + "_forward"] += time.value;
      products += time.value;
    }
    if (kernel.name.starts_with("lamb")) optimizer_bytes += kernel.bytes.value;
  }
  std::map<std::string, double> numbers{{"ms", total * 1e3}};
  for (const auto& [name, time] : times)
    numbers.emplace(name, kPercent * time / total);
  for (const auto& [name, time] : forward)
    numbers.emplace(name, kPercent * time / products);
  // With a master copy the optimizer has three numbers, else two.
  const double states = step.step->memory.of(MemoryClass::optimizer).value;
  const double parameters = states / (training_of(step).framework.master_copy ? 12.0 : 8.0);
  numbers.emplace("optimizer_bytes", optimizer_bytes / (4.0 * parameters));
  return numbers;
}

Experiment experiment_in(const RowArguments& row) {
  const std::string file = fmt::format("bert_large_{}.toml", row.text("gpu"));
  std::vector<std::string> sets = {fmt::format("training.sequence={}", row.text("sequence")),
                                   fmt::format("training.predictions={}", row.text("predictions")),
                                   fmt::format("training.micro_batch={}", row.text("batch"))};
  if (row.text("precision") == "fp32")
    sets.insert(sets.end(),
                {R"(model.dtype="fp32")", "framework.master_copy=false", R"(framework.gradient_dtype="fp32")"});
  return ExperimentFile::load(experiment_of_study("bert", file), sets).make(std::nullopt);
}

/// A row for each unlike kernel of \p step: what it computes and moves, and its time.
std::string rows_of(const std::string& label, const Experiment& step) {
  std::string text;
  std::set<std::string> known;
  for (const auto& [kernel, time] : kernels_of(step)) {
    const std::string line =
        fmt::format("\"{}\",{},\"{}\",{},{:.6g},{:.6g},{:.3f}\n", label, class_of(kernel), kernel.range,
                    kernel.name, kernel.flops.value, kernel.bytes.value, time.value * 1e6);
    if (known.insert(line).second) text += line;
  }
  return text;
}

}  // namespace

NumberSource bert_profile_row(const RowArguments& row) {
  return [step = experiment_in(row)] { return numbers_of(step); };
}

StudyOutcome reproduce_bert(const StudyInput& input, const PublishedFigures&, const StudyProgress&) {
  StudyOutcome outcome;
  if (!input.wants_rows) return outcome;
  outcome.rows_csv = "cell,class,range,operator,flops,bytes,us\n";
  const HeadedTable table(study_file("bert", "cells.csv"));
  for (const HeadedTable::Row& table_row : table.rows()) {
    const Cells cells(table, table_row);
    const RowArguments row(cells, {});
    if (row.find("gpu") == "mi100" && row.find("batch") == "32")
      outcome.rows_csv += rows_of(row.text("label"), experiment_in(row));
  }
  return outcome;
}

}}  // namespace c3::studies
