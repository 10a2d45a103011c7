#pragma once
/// Experiments of one training step on GPUs in round numbers.

#include "tests/support/mi300x_like.hpp"
#include "workloads/experiment.hpp"
#include "workloads/training/training_step.hpp"

namespace c3::test {

/// On \p gpus of one node, with fluid kernels. \param exact no micro-batch or layer is left out
inline Experiment fluid_step(const TrainingSetup& setup, int gpus, bool exact) {
  Experiment experiment;
  experiment.name = "step";
  experiment.cluster = mi300x_like_cluster(gpus);
  experiment.cluster.gpu = mi300x_like_trainer();
  experiment.measure.estimate = exact ? Estimator::none : Estimator::steady;
  experiment.measure.kernel_grain = experiment.measure.vector_grain = KernelGrain::fluid;
  set_training(experiment, setup);
  return experiment;
}

}  // namespace c3::test
