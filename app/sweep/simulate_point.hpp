#pragma once
/// One point of a sweep: its study, as numbers.

#include "configs/jobs/experiment_reader.hpp"
#include "results/sweep/sweep_folder.hpp"

namespace c3 { inline namespace app {

/// Simulates every strategy of \p file over its seeds and draws, without a timeline. Whatever goes wrong is a
/// failed result that says so. \throws InterruptedError
PointResult simulate_point(const ExperimentFile& file);

/// A failed result.
PointResult failed_point(std::string error);

}}  // namespace c3::app
