#pragma once
/// The parts of the study.

#include <cstdint>
#include <filesystem>
#include <string_view>
#include <vector>

#include "studies/study.hpp"
#include "studies/traces/trace_runs.hpp"

namespace c3 { inline namespace studies {

inline constexpr std::uint64_t kSamplingSeeds = 200;

/// Six kernels of published count, mean and spread, re-drawn as mixtures of two log-normals.
StudyReport reference_sections(const PublishedFigures& published);

/// Kernels of the given traces, with their recorded durations.
StudyReport recorded_sections(const TraceRuns& runs, const PublishedFigures& published);

/// The traces that recorded_sections() and long_sections() are about, by name.
std::vector<std::string_view> sampled_traces();

/// Long programs made of the given traces: each kernel's durations drawn again from the recorded ones.
StudyReport long_sections(const TraceRuns& runs, const PublishedFigures& published);

/// Steps of c3sim's own, each kernel as long as alone, spread as recorded kernels of its class are.
StudyReport step_sections(const TraceRuns& runs, const PublishedFigures& published);

/// SeqPoint on logs of GNMT on two systems. \param folder with gnmt_dgx1_v100.csv and gnmt_dgxa100.csv
StudyReport length_sections(const std::filesystem::path& folder, const PublishedFigures& published);

/// SeqPoint on epochs of GNMT and Deep Speech 2 that c3sim simulates, on several machines. \param folder as
/// above
StudyReport epoch_sections(const std::filesystem::path& folder, const PublishedFigures& published);

/// Loops run until they repeat, beside every iteration of them.
StudyReport loop_sections(const PublishedFigures& published);

}}  // namespace c3::studies
