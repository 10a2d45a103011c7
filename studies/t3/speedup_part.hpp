#pragma once
/// Speedups of T3's study: each sub-layer, their means, the structure of the paper's findings, and end to end.

#include "studies/study.hpp"
#include "studies/t3/sublayer_results.hpp"

namespace c3 { inline namespace studies {

/// Every sub-layer under every configuration.
StudySection sublayer_section(const PublishedFigures& published, std::span<const SublayerResult> results);
/// Geometric means and maxima beside the published ones.
StudySection summary_section(const PublishedFigures& published, std::span<const SublayerResult> results);
/// What holds from one configuration to the next, sub-layer by sub-layer.
StudySection structure_section(const PublishedFigures& published, std::span<const SublayerResult> results);
/// Training steps and prompts of whole models.
StudySection end_to_end_section(const PublishedFigures& published, std::span<const SublayerResult> results);

}}  // namespace c3::studies
