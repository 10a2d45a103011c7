#pragma once
/// An operator list as a run that the simulator replays.

#include "workloads/traces/execution/operator_list.hpp"
#include "workloads/traces/replay/recorded_run.hpp"

namespace c3 { inline namespace traces {

/// The run of \p list. What an execution trace says of order decides when things start:
///
/// - The host of each rank is one thread, which issues operators in the order of the list. It takes
///   ListedOperator::host_time between them, and none where that is not known; where it waited, it waits for
///   the kernels that it issued before.
/// - Kernels run on the stream "compute", one after another. Collectives run on a stream for each process group
///   ("comm", or "comm0", "comm1", ..), behind the kernels that were issued before them; kernels behind a wait
///   follow its collective. A collective for which nothing waits holds up the end of the run alone.
/// - Starts have the lags that are typical of traces: 10 us behind the launch, 2 us behind work on the same
///   stream, 4 us behind work on another one.
///
/// An operator has as many kernels as it launched in the trace, at least those that its shapes make. They share
/// its recorded time; of a replay by the model those without a shape of their own take none. A collective of
/// several listed ranks took the shortest of its members' recorded times: that of the last rank to come. It
/// keeps the whole time of its rank where that is listed alone.
/// \throws TraceSetError as matched_members
/// Wrong when: threads of a rank issue work independently; kernels run on streams of the user's own;
/// collectives are never waited for although the next kernel needs them (traces without waits); times are
/// means of steps in which another rank was the last.
RecordedRun benchmark_run(const OperatorList& list);

}}  // namespace c3::traces
