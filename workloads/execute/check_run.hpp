#pragma once

#include "workloads/experiment.hpp"

namespace c3 { inline namespace workloads {

struct RunSetup;

/// Makes all that run_once() makes before the first event, and simulates nothing. \throws InfeasibleError for
/// what run_once() refuses. Streams that wait for each other are found by running only.
void check_run(const Experiment& experiment, const Strategy& strategy, const RunSetup& setup);

}}  // namespace c3::workloads
