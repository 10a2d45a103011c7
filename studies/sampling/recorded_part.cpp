#include <algorithm>
#include <array>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "engine/random.hpp"
#include "studies/sampling/method_lines.hpp"
#include "studies/sampling/parts.hpp"
#include "studies/traces/parts.hpp"
#include "workloads/sampling/recorded/recorded_kernels.hpp"

namespace c3 { inline namespace studies {
namespace {

constexpr double kPercent = 100.0;
constexpr double kBound = 0.05;

/// The given traces of more than 400 kernels.
struct Workload {
  std::string_view id, run, label;
};
constexpr std::array<Workload, 7> kWorkloads{
    {{"megatron", kMegatronRun, "Megatron, 8 A100"},
     {"dlrm", kDlrmRun, "DLRM, A100"},
     {"ddp", kDdpRun, "DDP, A100"},
     {"mi300x", kMi300xDdpRun, "ResNet, MI300X"},
     {"linear", "linear_kineto", "linear layers, RTX 2080 Ti"},
     {"timesformer", "h100_facebook_timesformer-base-finetuned-k400__1016002", "TimeSformer, H100"},
     {"mi210", "mi210_gpu_only", "ResNet, MI210"}}};

struct WorkloadTrials {
  const Workload* workload = nullptr;
  MethodTrials trials, random;
};

std::vector<WorkloadTrials> try_workloads(const TraceRuns& runs, std::string_view method) {
  const SampleRequest request{.error = kBound};
  std::vector<WorkloadTrials> all;
  for (const Workload& workload : kWorkloads) {
    const TraceRun* const run = runs.find(workload.run);
    if (run == nullptr) continue;
    const Invocations kernels = recorded_kernels(run->ranks).invocations;
    if (kernels.size() == 0) continue;
    MethodTrials trials = try_method(kernels, method, request);
    MethodTrials random = random_at_equal_cost(kernels, trials, request);
    all.push_back({&workload, std::move(trials), std::move(random)});
  }
  return all;
}

/// How often a method's error is within its bound, and how it compares with random kernels.
StudyReport method_sections(const TraceRuns& runs, const PublishedFigures& published, std::string_view method) {
  StudySection within{.heading = fmt::format("Recorded kernels, {} at 5 %: seeds within the bound", method),
                      .lines = {},
                      .notes = {},
                      .value = "within",
                      .decimals = 2};
  StudySection random{.heading = fmt::format(
                          "The same: mean error of random kernels that take as long, over that of {}", method),
                      .lines = {},
                      .notes = {},
                      .value = "ratio",
                      .decimals = 2};
  for (const WorkloadTrials& one : try_workloads(runs, method)) {
    const std::string label(one.workload->label);
    within.lines.push_back(method_line(published,
                                       fmt::format("recorded.{}.within.{}", method, one.workload->id), label,
                                       kPercent * one.trials.errors.within_bound, one.trials));
    StudyLine line{
        .figure = {.of = published.find(fmt::format("recorded.{}.random.{}", method, one.workload->id))},
        .label = label};
    line.figure.simulated = one.random.errors.mean / one.trials.errors.mean;
    line.beside = {{"random [%]", kPercent * one.random.errors.mean},
                   {"mean error [%]", kPercent * one.trials.errors.mean}};
    random.lines.push_back(std::move(line));
  }
  return {within, random};
}

/// \p steps repetitions of a trace, each duration one of those recorded of the same kernel.
Invocations repeated(const Invocations& recorded, std::size_t steps) {
  std::vector<std::vector<Seconds>> durations(recorded.names().size());
  for (std::size_t i = 0; i < recorded.size(); ++i)
    durations[recorded.kernel(i)].push_back(recorded.duration(i));
  const RandomStream random(0, "repeated steps");
  Invocations program;
  for (std::size_t step = 0; step < steps; ++step) {
    for (std::size_t i = 0; i < recorded.size(); ++i) {
      const std::vector<Seconds>& known = durations[recorded.kernel(i)];
      const double at = random.uniform(step * recorded.size() + i) * static_cast<double>(known.size());
      program.add(recorded.name(i), known[std::min(static_cast<std::size_t>(at), known.size() - 1)]);
    }
  }
  return program;
}

}  // namespace

StudyReport recorded_sections(const TraceRuns& runs, const PublishedFigures& published) {
  StudyReport report;
  for (const std::string_view method : {"allegro", "stem"}) {
    StudyReport sections = method_sections(runs, published, method);
    std::ranges::move(sections, std::back_inserter(report));
  }
  return report;
}

std::vector<std::string_view> sampled_traces() {
  std::vector<std::string_view> names;
  for (const Workload& workload : kWorkloads)
    names.push_back(workload.run);
  return names;
}

StudyReport long_sections(const TraceRuns& runs, const PublishedFigures& published) {
  StudySection section{
      .heading = "Long programs: 100 steps, each kernel's durations drawn again from the recorded ones",
      .lines = {},
      .notes = {"Published means: Allegro 983.96x at 0.057 % over seven workloads; STEM 109.6x at 0.36 % "
                "(64,279 calls a workload), 31,719x at 0.57 % (11.6 million)."},
      .value = "speedup",
      .decimals = 2};
  constexpr std::size_t kSteps = 100;
  for (const Workload& workload : kWorkloads) {
    const TraceRun* const run = runs.find(workload.run);
    if (run == nullptr) continue;
    const Invocations kernels = repeated(recorded_kernels(run->ranks).invocations, kSteps);
    for (const std::string method : {"allegro", "stem"}) {
      const MethodTrials trials = try_method(kernels, method, {.error = kBound});
      section.lines.push_back(method_line(published, fmt::format("long.{}.{}", method, workload.id),
                                          fmt::format("{}, {}", workload.label, method), trials.errors.speedup,
                                          trials));
    }
  }
  return {section};
}

}}  // namespace c3::studies
