#pragma once
/// What of a run was not simulated: averaged loads of ranks, replayed kernels. Its time is then an estimate.

#include "workloads/execute/kernel_replay.hpp"
#include "workloads/execute/run_result.hpp"

namespace c3 { inline namespace workloads {

/// Of \p result's classes, which stand for \p ranks ranks, loads were averaged that differ by up to \p spread
/// of their mean, for which the time may be off by \p averaged.
void add_averaged_loads(RunResult& result, double spread, const AveragedLoads& averaged, int ranks);

/// Kernels were replayed on the ranks of \p result's classes, as \p measure says. Nothing happens where none
/// was: everything was simulated. By "stem" the bound is its error and the time of kernels whose company
/// changed while they were replayed, as a share of the run. By the automatic grain the time may be off by the
/// expected error and by what such changes do to kernels in the mean, RunResult::averaged.
void add_replays(RunResult& result, const KernelReplay::Summary& replays, const Measure& measure);

}}  // namespace c3::workloads
