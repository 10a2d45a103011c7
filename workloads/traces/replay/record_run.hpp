#pragma once
/// Makes the traces of a run into what is kept of it.

#include <vector>

#include "workloads/traces/rank_record.hpp"
#include "workloads/traces/replay/recorded_run.hpp"

namespace c3 { inline namespace traces {

/// Takes every cause and every lag from run_graph(), which the replay of `c3sim import` uses: there is no
/// second set of rules. Streams are called after their number in the trace, "stream7", and with several GPUs in
/// one file "gpu1-stream7". What was launched before the recording has a thread of its own, which launches it
/// at its recorded start. \throws TraceSetError as match_collectives
RecordedRun record_run(const std::vector<Rank>& ranks);

}}  // namespace c3::traces
