#pragma once
/// [recurrent]: a training step of a recurrent network.

#include "configs/toml/section.hpp"
#include "workloads/training/recurrent_step.hpp"

namespace c3 { inline namespace configs {

/// \pre \p root has the table
RecurrentJob read_recurrent(Section& root);

}}  // namespace c3::configs
