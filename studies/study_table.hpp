#pragma once
/// The studies that have code of their own, one `reproduce_NAME` each in `studies/NAME/NAME_study.cpp`.

#include <functional>
#include <map>
#include <string_view>

#include "studies/study.hpp"

namespace c3 { inline namespace studies {

using StudyRun = StudyOutcome(const StudyInput& input, const PublishedFigures& published,
                              const StudyProgress& progress);

StudyRun reproduce_bert, reproduce_camping, reproduce_cluster, reproduce_collectives, reproduce_conccl,
    reproduce_convolutions, reproduce_goldyloc, reproduce_interference, reproduce_jitq, reproduce_kernels,
    reproduce_sampling, reproduce_scaling_laws, reproduce_selection, reproduce_t3, reproduce_traces,
    reproduce_training, reproduce_tune;

/// Studies by name: that of the study's folder and card (configs/presets/study_card.hpp).
const std::map<std::string_view, std::function<StudyRun>>& study_runs();

}}  // namespace c3::studies
