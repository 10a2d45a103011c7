#pragma once
/// Whole training steps as jobs of a study.

#include "studies/simulations.hpp"
#include "workloads/experiment.hpp"

namespace c3 { inline namespace studies {

/// Of the first class of ranks.
struct WholeStepTimes {
  Seconds time, communication, exposed, idle;
};

/// Simulates \p step under its first strategy, for \p times. Both must outlive the job.
SimulationJob whole_step(const Experiment& step, WholeStepTimes& times);

}}  // namespace c3::studies
