#pragma once
/// Whether steps have room where they ran, and none where a count of tensors says so.

#include <vector>

#include "studies/published_figures.hpp"
#include "studies/study.hpp"
#include "workloads/experiment.hpp"

namespace c3::inline studies {

/// \param ran steps that somebody measured, so that they fit, unsimulated
StudySection memory_verdicts(const std::vector<Experiment>& ran, const PublishedFigures& published);

}  // namespace c3::studies
