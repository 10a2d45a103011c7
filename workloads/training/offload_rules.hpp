#pragma once
/// What offloading to the host requires of the rest of a training step.

#include "workloads/training/broken_rules.hpp"
#include "workloads/training/setup.hpp"

namespace c3 { inline namespace workloads {

/// Rules for offloading that \p setup breaks. \pre it breaks no other rules
BrokenRules broken_offload_rules(const TrainingSetup& setup);

}}  // namespace c3::workloads
