#include "studies/study_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numbers>
#include <utility>
#include <vector>

#include "studies/figure_line.hpp"
#include "studies/jobs.hpp"
#include "studies/sampling/parts.hpp"

namespace c3 { inline namespace studies {

MethodTrials try_method(const Invocations& invocations, std::string_view method, const SampleRequest& request) {
  constexpr std::uint64_t kSeeds = 200;
  MethodTrials trials{.plan = sampling_method(method).plan(invocations, request), .errors = {}};
  trials.errors = try_seeds(trials.plan, kSeeds);
  return trials;
}

StudyLine method_line(const PublishedFigures& published, std::string_view id, std::string label, double value,
                      const MethodTrials& trials) {
  StudyLine line = figure_line(published, id, std::move(label), value,
                               {{"clusters [count]", static_cast<double>(trials.plan.clusters.size())},
                                {"samples [count]", static_cast<double>(trials.plan.samples())},
                                {"speedup [times]", trials.errors.speedup},
                                {"mean error [%]", 100.0 * trials.errors.mean},
                                {"p95 [%]", 100.0 * trials.errors.p95}});
  line.rows = trials.plan.invocations();
  return line;
}

void add_speedups(const PublishedFigures& published, std::string_view id, std::string_view name,
                  std::string_view label, const Invocations& program, StudySection& section) {
  for (const std::string_view method : {"allegro", "stem"}) {
    const MethodTrials trials = try_method(program, method, {.error = 0.05});
    section.lines.push_back(method_line(published, fmt::format("{}.{}.{}", id, method, name),
                                        fmt::format("{}, {}", label, method), trials.errors.speedup, trials));
  }
}

double normal_of(double first, double second) {
  return std::sqrt(-2.0 * std::log(first)) * std::cos(2.0 * std::numbers::pi * second);
}

StudyOutcome reproduce_sampling(const StudyInput& input, const PublishedFigures& published,
                                const StudyProgress& progress) {
  const std::filesystem::path folder = input.data / "traces";
  const SampledTraces traces = read_sampled_traces(folder, progress);
  std::vector<StudyReport> parts(5);
  run_jobs({[&] { parts[0] = reference_sections(published); },
            [&] { parts[1] = recorded_sections(traces, published); },
            [&] { parts[2] = long_sections(traces, published); },
            [&] { parts[3] = step_sections(traces, published); },
            [&] { parts[4] = epoch_sections(input.data / "sampling", published); }},
           progress);
  StudyOutcome outcome;
  for (StudyReport& part : parts)
    std::ranges::move(part, std::back_inserter(outcome.report));
  for (const SampledTrace& trace : traces)
    if (trace.ranks.empty())
      outcome.notices.push_back(fmt::format("{}: the trace '{}' is not there; its figures are left out",
                                            folder.string(), trace.path));
  return outcome;
}

}}  // namespace c3::studies
