#pragma once
/// Whether steps have room where they ran; memory beside what was measured.

#include <vector>

#include "studies/published_figures.hpp"
#include "studies/study.hpp"
#include "studies/training/measured_steps.hpp"

namespace c3 { inline namespace studies {

/// \param ran steps that somebody ran: they had room
StudySection memory_verdicts(const std::vector<MeasuredStep>& ran, const PublishedFigures& published);

}}  // namespace c3::studies
