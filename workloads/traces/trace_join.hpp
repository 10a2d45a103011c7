#pragma once
/// \file
/// Which call launched which GPU work, and which operator made the call.

#include <cstdint>
#include <vector>

#include "workloads/traces/trace_event.hpp"

namespace c3 { inline namespace traces {

/// Indices are into the vectors of Trace; kNoIndex where there is none.
struct TraceJoin {
  std::vector<std::uint32_t> launch_of;   ///< [activities] by correlation. None: launched before the window
  std::vector<std::uint32_t> op_of;       ///< [activities] the innermost operator around the launch
  std::vector<std::uint32_t> op_of_call;  ///< [calls] the innermost operator around it
  std::vector<std::uint32_t> parent_op;   ///< [ops] the next one around it
  std::vector<std::uint32_t> outer_call;  ///< [calls] the outermost call around it; itself if it is that
  std::vector<std::vector<std::uint32_t>> calls_of_thread;      ///< [threads] the outermost calls, by start
  std::vector<std::vector<std::uint32_t>> activities_of_queue;  ///< [queues] by start
};

TraceJoin join(const Trace& trace);

/// Calls that were recorded with several GPU activities each: launches of CUDA or HIP graphs.
std::size_t graph_launches(const TraceJoin& join);

}}  // namespace c3::traces
