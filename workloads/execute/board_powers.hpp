#pragma once
/// Where the governors of a run's boards stand when it begins, and what they say of it in the end.

#include <vector>

#include "collectives/cluster.hpp"
#include "workloads/execute/run_result.hpp"

namespace c3 { inline namespace workloads {

/// \p states of simulated ranks; empty: all were idle for long. Where the classes are not those of the run that
/// found them, as Fold::exact may have it, all begin as the hottest.
void start_governors(Cluster& cluster, const std::vector<PowerState>& states);

/// After a run that began at \p states, of \p classes, one for each simulated rank. Empty where the power of
/// the GPU is not known.
std::vector<BoardPower> board_powers(Cluster& cluster, const std::vector<PowerState>& states,
                                     const std::vector<SimulatedClass>& classes);

}}  // namespace c3::workloads
