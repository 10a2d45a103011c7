#pragma once
/// Collectives alone: on few CUs, and on copy engines beside what the library does.

#include "collectives/algorithms/algorithm.hpp"
#include "collectives/call.hpp"
#include "collectives/spec.hpp"
#include "engine/units.hpp"
#include "workloads/experiment.hpp"

namespace c3 { inline namespace studies {

/// Of \p call by \p algorithm, whose channels may use \p cus CUs (0: all) of GPUs that launch together.
Seconds time_on_cus(const Experiment& experiment, const CollectiveCall& call, Algorithm algorithm, int cus);

/// One of many back to back, replayed from a graph where the library runs it.
struct CopyTimes {
  Seconds library;  ///< by the method that the library's tuner chooses
  Seconds ring;     ///< by a ring, in the protocol that it chooses for one; of an all-to-all as `library`
  Seconds engines;  ///< copy engines, a copy for each peer

  double over_library() const { return engines / library; }
  double over_ring() const { return engines / ring; }
};
CopyTimes copy_times(const ClusterSpec& cluster, const CollectiveCall& call, const DmaOptions& dma);

/// How the strategies of \p experiment command copy engines. \throws std::logic_error where none does
DmaOptions dma_options(const Experiment& experiment);

}}  // namespace c3::studies
