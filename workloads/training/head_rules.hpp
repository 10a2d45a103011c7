#pragma once
/// Which steps can predict some words of a sequence, or classify sequences.

#include <optional>

#include "workloads/training/pipeline_rules.hpp"
#include "workloads/training/setup.hpp"

namespace c3::inline workloads {

/// The first rule of heads that \p setup breaks; nullopt: it breaks none.
std::optional<BrokenRule> broken_head_rule(const TrainingSetup& setup);

}  // namespace c3::workloads
