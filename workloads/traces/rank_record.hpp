#pragma once
/// \file
/// One rank of a run with everything that is found in its trace alone.

#include <string>
#include <vector>

#include "workloads/traces/collective_kernels.hpp"
#include "workloads/traces/cross_stream.hpp"
#include "workloads/traces/host_waits.hpp"
#include "workloads/traces/kernel_class.hpp"
#include "workloads/traces/launch_order.hpp"
#include "workloads/traces/trace_error.hpp"
#include "workloads/traces/trace_event.hpp"
#include "workloads/traces/trace_join.hpp"

namespace c3 { inline namespace traces {

/// A range that the profiler calls a step. A trace without any has one, the whole of the thread that makes most
/// calls.
struct RecordedStep {
  std::string name;
  std::uint32_t thread = kNoIndex;
  Picoseconds start;
  Picoseconds end;
};

struct Rank {
  explicit Rank(Trace read);

  Trace trace;
  TraceJoin join;
  LaunchOrder order;
  std::vector<WorkClass> classes;  ///< [activities]
  std::vector<CollectiveIssue> issues;
  std::vector<CollectiveKernel> collectives;
  std::vector<CrossStreamEdge> edges;
  std::vector<HostWait> waits;
  std::vector<RecordedStep> steps;  ///< by start; empty if the trace has no host threads
  bool has_steps = false;           ///< the profiler named them

  int number() const { return trace.rank.value_or(0); }
  TracePlace place(const TraceEvent& event) const;
};

}}  // namespace c3::traces
