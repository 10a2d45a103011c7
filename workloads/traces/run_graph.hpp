#pragma once
/// \file
/// The whole run as a graph: host threads, GPU work and collectives of all ranks, with the lags of the
/// recording.

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "workloads/traces/collective_matching.hpp"
#include "workloads/traces/dependency_graph.hpp"
#include "workloads/traces/host_chain.hpp"
#include "workloads/traces/rank_record.hpp"

namespace c3 { inline namespace traces {

struct GraphOptions {
  bool cross_stream = true;  ///< false: without edges between streams, to see what they are worth
};

struct RankPoints {
  std::vector<PointId> starts;                          ///< [activities]
  std::vector<PointId> ends;                            ///< [activities]
  std::unordered_map<std::uint32_t, CallPoints> calls;  ///< by outermost call: those that launch or wait
  std::vector<StepPoints> steps;
  std::vector<std::vector<PointId>> threads;  ///< [threads] of the host, in their order
  std::vector<Picoseconds> unexplained;  ///< [activities] how much later than all causes it started, if far
  std::size_t resumes = 0;
};

struct RunGraph {
  DependencyGraph graph;
  std::vector<RankPoints> ranks;
};

/// GPU work starts when its launch call has begun, its queue's previous work has ended, and the sources of its
/// cross-stream edges have ended, each plus a lag (start_lags.hpp). Work launched before the window has its
/// recorded start. Its end follows by the recorded duration; that of a matched collective by the recorded
/// time from the latest start of all its members, which all of them wait for. \param shifts of the ranks'
/// clocks
RunGraph run_graph(const std::vector<Rank>& ranks, const std::vector<CollectiveInstance>& instances,
                   const std::vector<Picoseconds>& shifts, const GraphOptions& options = {});

}}  // namespace c3::traces
