#pragma once
/// Reads `[training]`: a step of the model on the whole cluster, in place of streams that are written out.

#include "collectives/spec.hpp"
#include "configs/toml/section.hpp"
#include "workloads/training/setup.hpp"

namespace c3 { inline namespace configs {

/// Reads `training`, `framework` and `model` of \p root. \param cluster among whose ranks the step is divided,
/// and whose GPU it must run on.
TrainingSetup read_training(Section& root, const Sampling& sampling, const ClusterSpec& cluster);

}}  // namespace c3::configs
