#pragma once
/// Where the governors of GPUs stand when a run begins that is one of many alike.

#include <vector>

#include "workloads/execute/run.hpp"

namespace c3 { inline namespace workloads {

/// Whether runs of \p experiment begin with boards as hot as they are left when runs are repeated.
bool heats_its_boards(const Experiment& experiment);

/// Of the simulated GPUs, in their order, for RunSetup::power: the mean power and the speed from which one run
/// leads back to them. Empty where heats_its_boards() is false, as under a clock state of `burst`: then
/// runs begin from idle. Found from at most two runs of \p experiment (of its smallest step, where it is
/// shortened), with kernels and collectives as one flow each, and the first seed's draws:
/// - a run of time T leaves the part exp(-T / averaging) of the mean that it began with, which gives the mean
///   that it leads back to as long as the clock is free;
/// - where that is more than governors hold the mean at (sustained_target, just below the limit), a second run
///   begins there, at the speed that brings the run's mean power at boost clock down to it. It ends where the
///   governor has led it or, where it is too short for a decision, at the speed that follows from its own mean.
/// Of runs much longer than the averaging, the end of the first says both. A step of many micro-batches ends as
/// one of its last ones alone does, as long as these fill five times the averaging, so that only they run. A
/// start that is wrong altogether costs a run at most its slow-down times the time in which the mean rises from
/// idle to the limit (time_to_limit): 4 ms on an H100. Wrong when: the grains differ by
/// more in time than the governor's band; T is as long as the averaging and a run has hot and cool halves.
std::vector<PowerState> periodic_start(const Experiment& experiment, const Strategy& strategy,
                                       const RunSetup& setup);

}}  // namespace c3::workloads
