#pragma once
/// What experts require of the other keys of a training step.

#include "workloads/training/broken_rules.hpp"
#include "workloads/training/setup.hpp"

namespace c3 { inline namespace workloads {

/// Rules for experts that \p setup breaks on \p ranks ranks.
BrokenRules broken_expert_rules(const TrainingSetup& setup, int ranks);

}}  // namespace c3::workloads
