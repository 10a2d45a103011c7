#pragma once
/// Whether what streams hold at the same time has room in a GPU's memory.

#include "workloads/experiment.hpp"

namespace c3::inline workloads {

/// Holds the tensors of kernels and the buffers of collectives against the memory of one GPU. Streams may run
/// beside one another, so the largest operation of each counts, all of them together; operations of one stream
/// may reuse memory. Collectives work in place where their kind allows it.
/// Wrong when: tensors of an earlier operation are still needed (too little is counted), or events keep two
/// streams apart (too much). Training steps are not checked here: they have a ledger (StepFacts).
/// \throws InfeasibleError naming the operations, what they take and what there is.
void check_buffers(const Experiment& experiment);

}  // namespace c3::workloads
