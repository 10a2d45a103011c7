#pragma once
/// What experts require of the other keys of a training step.

#include <optional>

#include "workloads/training/pipeline_rules.hpp"
#include "workloads/training/setup.hpp"

namespace c3::inline workloads {

/// The first one that \p setup breaks on \p ranks ranks; nullopt: none.
std::optional<BrokenRule> broken_expert_rule(const TrainingSetup& setup, int ranks);

}  // namespace c3::workloads
