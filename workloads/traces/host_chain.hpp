#pragma once
/// \file
/// Points in time of the host threads of one rank, chained by the work between them.

#include <unordered_map>
#include <vector>

#include "workloads/traces/dependency_graph.hpp"
#include "workloads/traces/rank_record.hpp"

namespace c3 { inline namespace traces {

struct CallPoints {
  PointId begin = 0;
  PointId end = 0;
};

struct StepPoints {
  PointId begin = 0;
  PointId end = 0;
};

struct HostChain {
  std::unordered_map<std::uint32_t, CallPoints> calls;  ///< by outermost call: those that launch or wait
  std::vector<StepPoints> steps;                        ///< as Rank::steps
  std::vector<std::vector<PointId>> threads;            ///< [threads] points in their order; empty: not needed
  std::size_t resumes = 0;  ///< times that a thread went on because another one had ended something
};

/// Adds the threads that launch work, wait for it or run the steps. The time between calls is work of the host
/// and stays as recorded, and so does the time from the origin to a thread's first call; a call that waits gets
/// the time that it takes without waiting, and its end is to be joined with what it waits for. A call that runs
/// beyond the end of its step is cut there: the last synchronisation includes the profiler's shutdown.
///
/// A thread that was idle for more than 60 us, and went on at most 400 us after another thread had ended its
/// activity, was waiting for that thread: forward and backward passes run on different threads.
/// Wrong when: a thread slept or computed outside PyTorch's operators until just then.
HostChain add_host_chain(const Rank& rank, Picoseconds shift, DependencyGraph& graph);

}}  // namespace c3::traces
