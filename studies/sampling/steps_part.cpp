// Steps that c3sim writes: their kernels' times, with the spread that recorded kernels of their class have.

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "configs/jobs/experiment_reader.hpp"
#include "engine/random.hpp"
#include "gpu/kernels/describe.hpp"
#include "gpu/kernels/operator_class.hpp"
#include "gpu/kernels/operator_table.hpp"
#include "studies/sampling/parts.hpp"
#include "workloads/program/program.hpp"
#include "workloads/traces/kernel_class.hpp"

namespace c3 { inline namespace studies {
namespace {

constexpr std::size_t kRepeatedSteps = 100, kLeastCalls = 10;

struct WrittenStep {
  const char *id, *folder, *file, *label;
};
constexpr std::array<WrittenStep, 7> kWrittenSteps{
    {{"llama", "training", "llama3_8b_fsdp8.toml", "LLaMA 3 8B, 8 H100"},
     {"gpt", "training", "gpt_a100.toml", "GPT, A100"},
     {"mpt", "training", "mpt_a100.toml", "MPT, A100"},
     {"experts", "training", "qwen3_30b_ep8.toml", "Qwen3 30B of experts, H100"},
     {"bert", "bert", "bert_large_a100.toml", "BERT-Large, A100"},
     {"dlrm", "dlrm", "mlperf_v100.toml", "DLRM, V100"},
     {"gnmt", "recurrent", "gnmt_v100.toml", "GNMT, V100"}}};

using SpreadByClass = std::map<WorkClass, double>;

double variation(const std::vector<double>& durations) {
  double sum = 0.0, squares = 0.0;
  for (const double duration : durations) {
    sum += duration;
    squares += duration * duration;
  }
  const auto count = static_cast<double>(durations.size());
  const double mean = sum / count;
  return mean > 0.0 ? std::sqrt(std::max(0.0, squares / count - mean * mean)) / mean : 0.0;
}

/// Deviation over mean of the calls of a kernel: of each class the median over the given traces' kernels that
/// were called at least kLeastCalls times.
SpreadByClass recorded_spread(const SampledTraces& traces) {
  std::map<WorkClass, std::vector<double>> variations;
  for (const SampledTrace& trace : traces) {
    std::map<std::pair<WorkClass, std::string>, std::vector<double>> durations;
    for (const Rank& rank : trace.ranks) {
      for (std::size_t i = 0; i < rank.classes.size(); ++i) {
        const TraceEvent& event = rank.trace.activities[i];
        if (event.kind != EventKind::kernel) continue;
        durations[{rank.classes[i], rank.trace.name_of(event)}].push_back(
            static_cast<double>(event.duration.count));
      }
    }
    for (const auto& [kernel, kernel_durations] : durations)
      if (kernel_durations.size() >= kLeastCalls)
        variations[kernel.first].push_back(variation(kernel_durations));
  }
  SpreadByClass spread;
  for (auto& [of_class, values] : variations) {
    std::ranges::sort(values);
    spread[of_class] = values[values.size() / 2];
  }
  return spread;
}

WorkClass class_of(const Operator& op) {
  const std::string_view name = op.of_class().name;
  if (name == "gemm") return WorkClass::gemm;
  if (name == "convolution") return WorkClass::convolution;
  return name == "attention" ? WorkClass::attention : WorkClass::vector;
}

struct StepKernel {
  std::string name;
  Seconds time;
  double deviation;  ///< of the logarithm
};

/// Kernels of rank 0, each alone.
std::vector<StepKernel> kernels_of(const WrittenStep& step, const SpreadByClass& spread) {
  const Experiment experiment =
      ExperimentFile::load(experiment_of_study(step.folder, step.file), {}).make(std::nullopt);
  std::map<std::string, Seconds> known;
  std::vector<StepKernel> kernels;
  for_each_operation(experiment.program.script_of(0), [&](const Operation& operation) {
    const Operator* const op = kernel_of(operation);
    if (op == nullptr) return;
    const std::string name = name_of(*op);
    const auto [found, is_new] = known.try_emplace(name);
    if (is_new) {
      const KernelTime alone = time_of(*op, experiment.cluster.gpu, {.launch = LaunchCost::device});
      found->second = alone.time - alone.launch;
    }
    const auto of_class = spread.find(class_of(*op));
    const double variation = of_class == spread.end() ? 0.0 : of_class->second;
    kernels.push_back({name, found->second, std::sqrt(std::log1p(variation * variation))});
  });
  return kernels;
}

/// Log-normal around each time, whose mean it keeps.
Invocations repeated_step(const std::vector<StepKernel>& kernels, const std::string& id) {
  const RandomStream random(0, "spread of " + id);
  Invocations program;
  for (std::size_t step = 0; step < kRepeatedSteps; ++step) {
    for (std::size_t i = 0; i < kernels.size(); ++i) {
      const double deviation = kernels[i].deviation;
      const double drawn = deviation * random.normal(step * kernels.size() + i) - 0.5 * deviation * deviation;
      program.add(kernels[i].name, kernels[i].time * std::exp(drawn));
    }
  }
  return program;
}

}  // namespace

StudyReport step_sections(const SampledTraces& traces, const PublishedFigures& published) {
  StudySection section{
      .heading =
          "Steps that c3sim writes, 100 times: kernels alone, with the spread of recorded ones of their class",
      .value = "speedup",
      .decimals = 2};
  const SpreadByClass spread = recorded_spread(traces);
  if (spread.empty()) return {section};
  std::string note = "Deviation over mean of a kernel's calls, median of the traces:";
  for (const auto& [of_class, variation] : spread)
    if (of_class != WorkClass::collective) note += fmt::format(" {} {:.3f}", name_of(of_class), variation);
  if (!spread.contains(WorkClass::attention)) note += "; none of attention, whose kernels do not spread here";
  section.notes = {note + ".",
                   "Shown, not judged: kernels are named by operator and shape, so that each has one time to "
                   "spread around."};
  for (const WrittenStep& step : kWrittenSteps)
    add_speedups(published, "steps", step.id, step.label, repeated_step(kernels_of(step, spread), step.id),
                 section);
  return {section};
}

}}  // namespace c3::studies
