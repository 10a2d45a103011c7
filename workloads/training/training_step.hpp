#pragma once
/// One training step of a transformer on the ranks of a cluster: streams of operations, what hosts launch, and
/// what it needs of memory.

#include "workloads/experiment.hpp"
#include "workloads/training/composed_step.hpp"
#include "workloads/training/setup.hpp"

namespace c3::inline workloads {

/// From the first kernel of the first micro-batch's forward pass until parameters are updated. Tensor-parallel
/// ranks are neighbours, data-parallel ones are `tensor_parallel` apart.
/// \throws std::invalid_argument, naming what does not divide or is not known of the model.
TrainingStep training_step(const TrainingSetup& setup, int ranks);

/// Gives \p experiment the streams, host and facts of its `training`.
void compose_training(Experiment& experiment);

}  // namespace c3::workloads
