#pragma once
/// One collective on an otherwise idle cluster: what nccl-tests measures.

#include <string>

#include "collectives/collective_run.hpp"

namespace c3 {

struct CollectiveMeasurement {
  Seconds time;       ///< of one of many launched back to back: the gap before it and itself
  int channels = 0;   ///< channels (cu) or engines (dma) of one rank
  std::string limit;  ///< the busiest resource where it is full while bytes move; else "latency" when bytes
                      ///< move for less than half of the time; else "channels" or "engines"
};

/// Runs \p call on the whole GPU, stream and queue of its own, one representative where ranks are alike.
/// \throws InfeasibleError as CollectiveRun::make.
CollectiveMeasurement measure_collective(const ClusterSpec& cluster, const CollectiveCall& call,
                                         Backend backend, Algorithm algorithm, CollectiveGrain grain);

}  // namespace c3
