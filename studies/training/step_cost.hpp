#pragma once
/// What it costs to simulate a step.

#include <vector>

#include "studies/published_figures.hpp"
#include "studies/study.hpp"

namespace c3 { inline namespace studies {

/// Of this process so far, in seconds.
double cpu_seconds();

/// The median of \p seconds, each of a step on one node.
StudySection cost_section(const std::vector<double>& seconds, const PublishedFigures& published);

}}  // namespace c3::studies
