#pragma once
/// What the study of memory channels finds in code.

#include <string>

#include "studies/cases/row_functions.hpp"
#include "studies/study.hpp"

namespace c3 { inline namespace studies {

/// Closed forms by stride and mapping, and the joint law in the flow solver.
StudySection laws(const PublishedFigures& published);

/// Buffers of a training step that camp with consecutive blocks.
StudySection buffers(const PublishedFigures& published);

/// Phases of calls of convolutions that do.
StudySection phases(const PublishedFigures& published);

/// Load of each channel of GPU 0 over time, of a product beside an all-gather: mapping, time, channel, share of
/// what it can give.
std::string channel_loads();

}}  // namespace c3::studies
