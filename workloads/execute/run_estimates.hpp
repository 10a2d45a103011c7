#pragma once
/// What of a run was not simulated: averaged loads of ranks, work groups of kernels, replayed kernels. Its time
/// is then an estimate.

#include "workloads/execute/kernel_replay.hpp"
#include "workloads/execute/run_result.hpp"

namespace c3 { inline namespace workloads {

/// Of \p result's classes, which stand for \p ranks ranks, loads were averaged that differ by up to \p spread
/// of their mean, for which the time may be off by \p averaged.
void add_averaged_loads(RunResult& result, double spread, const AveragedLoads& averaged, int ranks);

/// Kernels were flows that were corrected (FlowCorrections), for which the time may be off by 1 %: times
/// of shipped steps differ from those by cohorts by up to 0.9 % (docs/decisions/workloads.md).
void add_corrected_flows(RunResult& result);

/// Kernels were replayed on the ranks of \p result's classes. Nothing happens where none was: everything was
/// simulated. The bound is \p error, and the time of kernels whose company changed while they were replayed, as
/// a share of the run.
void add_replays(RunResult& result, const KernelReplay::Summary& replays, double error);

}}  // namespace c3::workloads
