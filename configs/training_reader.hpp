#pragma once
/// Reads `[training]`: a step of the model on the whole cluster, in place of streams that are written out.

#include "configs/section.hpp"
#include "workloads/training/setup.hpp"

namespace c3::inline configs {

/// Reads `training`, `framework` and `model` of \p root. \param ranks of the cluster, among which the step is
/// divided.
TrainingSetup read_training(Section& root, const Sampling& sampling, int ranks);

}  // namespace c3::configs
