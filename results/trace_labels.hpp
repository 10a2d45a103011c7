#pragma once
/// What PyTorch's profiler calls things: trace readers (HolisticTraceAnalysis, Chakra's converter) go by these
/// names.

#include <string>

#include "workloads/experiment.hpp"

namespace c3 {

struct CollectiveLabel {
  std::string name;  ///< of its slices, e.g. "ncclDevKernel_AllGather_bf16_DIRECT"; "nccl" means communication
                     ///< to readers
  std::string args;  ///< a JSON object: "Collective name", "In msg nelems", ...
  Backend backend = Backend::cu;
};

CollectiveLabel collective_label(const CollectiveCall& call, const StreamPolicy& policy,
                                 const Experiment& experiment);

/// \returns the members of a trace that precede its events, as an indented JSON object. Readers find the rank
/// by a pattern that wants white space after the colon.
std::string trace_header(const Experiment& experiment, const Strategy& strategy, int rank);

}  // namespace c3
