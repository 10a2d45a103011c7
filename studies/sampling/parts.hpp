#pragma once
/// The parts of the study.

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "studies/study.hpp"
#include "workloads/sampling/methods/method.hpp"
#include "workloads/sampling/trials.hpp"
#include "workloads/traces/rank_record.hpp"

namespace c3 { inline namespace studies {

/// A given trace of more than 400 kernels.
struct SampledTrace {
  std::string_view id, label;
  std::string_view path;    ///< file or folder, without `.json.gz`
  std::vector<Rank> ranks;  ///< none where the trace is not there
};
using SampledTraces = std::vector<SampledTrace>;

/// Reads those that are below \p folder. \throws TraceError for a damaged one
SampledTraces read_sampled_traces(const std::filesystem::path& folder, const StudyProgress& progress);

/// A method at a bound, over 200 seeds.
struct MethodTrials {
  SamplePlan plan;
  TrialErrors errors;
};
MethodTrials try_method(const Invocations& invocations, std::string_view method, const SampleRequest& request);

/// The figure of \p id is \p value, with what else is known of the trials beside it.
StudyLine method_line(const PublishedFigures& published, std::string_view id, std::string label, double value,
                      const MethodTrials& trials);

/// Adds the speedups of Allegro and STEM on \p program as figures `ID.METHOD.NAME`.
void add_speedups(const PublishedFigures& published, std::string_view id, std::string_view name,
                  std::string_view label, const Invocations& program, StudySection& section);

/// Box and Muller's, without a cut, of two uniform numbers.
double normal_of(double first, double second);

/// Six kernels of published count, mean and spread, re-drawn as mixtures of two log-normals.
StudyReport reference_sections(const PublishedFigures& published);

/// Kernels of the given traces, with their recorded durations.
StudyReport recorded_sections(const SampledTraces& traces, const PublishedFigures& published);

/// Long programs made of the given traces: each kernel's durations drawn again from the recorded ones.
StudyReport long_sections(const SampledTraces& traces, const PublishedFigures& published);

/// Steps of c3sim's own, each kernel as long as alone, spread as recorded kernels of its class are.
StudyReport step_sections(const SampledTraces& traces, const PublishedFigures& published);

/// SeqPoint on epochs of GNMT and Deep Speech 2 that c3sim simulates, on several machines. \param folder with
/// gnmt_dgx1_v100.csv
StudyReport epoch_sections(const std::filesystem::path& folder, const PublishedFigures& published);

}}  // namespace c3::studies
