#pragma once
/// LLaMA 3.1 8B by FSDP on 8 H100, as torchtitan publishes it: speed and memory, eager and compiled.

#include <vector>

#include "studies/study.hpp"
#include "studies/training/step_scores.hpp"

namespace c3 { inline namespace studies {

/// Set "titan8", rows "eager" and "compiled", measured as \p published has their speed. \throws ConfigError,
/// IoError
std::vector<MeasuredStep> published_steps(const PublishedFigures& published, const FirstTable& first);

/// Section on those of \p steps that published_steps() gives.
StudySection published_section(const std::vector<SimulatedStep>& steps, const PublishedFigures& published);

}}  // namespace c3::studies
