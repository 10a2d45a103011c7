#pragma once
/// One collective on an otherwise idle cluster: what nccl-tests measures.

#include <optional>
#include <span>
#include <string>

#include "collectives/collective_run.hpp"
#include "collectives/library/method.hpp"

namespace c3 { inline namespace collectives {

struct CollectiveMeasurement {
  Seconds time;       ///< one collective of many launched back to back, with the gap before it
  int channels = 0;   ///< channels (cu) or engines (dma) of one rank
  std::string limit;  ///< the busiest resource where it is full while bytes move; else "latency" when bytes
                      ///< move for less than half of the time; else "channels" or "engines"
};

/// How it is run.
struct MeasuredMethod {
  Backend backend = Backend::cu;
  CollectiveMethod method = {};
  CollectiveGrain grain = CollectiveGrain::edge;
  LaunchPath launch = LaunchPath::graph;
  DmaOptions dma = {};              ///< options of copy engines
  std::optional<Seconds> gap = {};  ///< before it; absent: the GPU's between dependent kernels
};

/// Runs \p call on the whole GPU, stream and queue of its own, one representative where ranks are alike.
/// Launched by a host, the library's gap comes on top; launched by one process, a node's GPUs wait for as many
/// launches in turn. \throws InfeasibleError as make_collective.
CollectiveMeasurement measure_collective(const ClusterSpec& cluster, const CollectiveCall& call,
                                         const MeasuredMethod& how);

struct FastestMethod {
  CollectiveMethod method;
  Seconds time;
};

/// The fastest of \p methods, each run as \p how says else. Methods that cannot run are left out; absent where
/// none can.
std::optional<FastestMethod> fastest_of(const ClusterSpec& cluster, const CollectiveCall& call,
                                        MeasuredMethod how, std::span<const CollectiveMethod> methods);

}}  // namespace c3::collectives
