#include "workloads/experiment.hpp"

#include "gpu/kernels/operator_class.hpp"

namespace c3::inline workloads {

int usual_seeds(const Experiment& experiment) {
  return experiment.training || experiment.cluster.nodes > 1 ? 1 : 8;
}

KernelGrain grain_of(const Measure& measure, const Operator& op) {
  return op.of_class().has_product ? measure.kernel_grain : measure.vector_grain;
}

}  // namespace c3::workloads
