#pragma once
/// What offloading to the host requires of the rest of a training step.

#include <optional>

#include "workloads/training/pipeline_rules.hpp"

namespace c3::inline workloads {

/// The first rule that \p setup breaks; nullopt: none. \pre it breaks no other rules
std::optional<BrokenRule> broken_offload_rule(const TrainingSetup& setup);

}  // namespace c3::workloads
