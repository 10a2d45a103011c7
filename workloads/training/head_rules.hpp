#pragma once
/// Which steps can predict some words of a sequence, or classify sequences.

#include "workloads/training/broken_rules.hpp"
#include "workloads/training/setup.hpp"

namespace c3 { inline namespace workloads {

/// Rules of heads that \p setup breaks.
BrokenRules broken_head_rules(const TrainingSetup& setup);

}}  // namespace c3::workloads
