#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "engine/random.hpp"
#include "studies/figure_line.hpp"
#include "studies/sampling/parts.hpp"
#include "workloads/sampling/recorded/recorded_kernels.hpp"

namespace c3 { inline namespace studies {
namespace {

/// Random invocations that take as long as the plan's.
MethodTrials random_at_equal_cost(const Invocations& invocations, const MethodTrials& trials,
                                  const SampleRequest& request) {
  const Seconds mean = invocations.total() / static_cast<double>(invocations.size());
  SampleRequest equal = request;
  equal.samples = static_cast<std::size_t>(std::max(1.0, std::round(trials.plan.expected_cost() / mean)));
  return try_method(invocations, "random", equal);
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

// How often a method's error is within its bound, and how it compares with random kernels.
StudyReport recorded_sections(const SampledTraces& traces, const PublishedFigures& published) {
  const SampleRequest request{.error = 0.05};
  StudyReport report;
  for (const std::string_view method : {"allegro", "stem"}) {
    StudySection within{.heading = fmt::format("Recorded kernels, {} at 5 %: seeds within the bound", method),
                        .value = "within",
                        .decimals = 2};
    StudySection random{
        .heading =
            fmt::format("The same: mean error of random kernels that take as long, over that of {}", method),
        .value = "ratio",
        .decimals = 2};
    for (const SampledTrace& trace : traces) {
      if (trace.ranks.empty()) continue;
      const Invocations kernels = recorded_kernels(trace.ranks).invocations;
      const MethodTrials here = try_method(kernels, method, request);
      const MethodTrials there = random_at_equal_cost(kernels, here, request);
      const std::string label(trace.label);
      within.lines.push_back(method_line(published, fmt::format("recorded.{}.within.{}", method, trace.id),
                                         label, 100.0 * here.errors.within_bound, here));
      random.lines.push_back(figure_line(
          published, fmt::format("recorded.{}.random.{}", method, trace.id), label,
          there.errors.mean / here.errors.mean,
          {{"random [%]", 100.0 * there.errors.mean}, {"mean error [%]", 100.0 * here.errors.mean}}));
    }
    report.insert(report.end(), {within, random});
  }
  return report;
}

StudyReport long_sections(const SampledTraces& traces, const PublishedFigures& published) {
  StudySection section{
      .heading = "Long programs: 100 steps, each kernel's durations drawn again from the recorded ones",
      .notes = {"Published means: Allegro 983.96x at 0.057 % over seven workloads; STEM 109.6x at 0.36 % "
                "(64,279 calls a workload), 31,719x at 0.57 % (11.6 million)."},
      .value = "speedup",
      .decimals = 2};
  constexpr std::size_t kSteps = 100;
  for (const SampledTrace& trace : traces)
    if (!trace.ranks.empty())
      add_speedups(published, "long", trace.id, trace.label,
                   repeated(recorded_kernels(trace.ranks).invocations, kSteps), section);
  return {section};
}

}}  // namespace c3::studies
