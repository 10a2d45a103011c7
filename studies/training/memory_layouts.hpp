#pragma once
/// Training steps that cannot run: by a count of their tensors they need a little more than a GPU has.

#include <string>
#include <vector>

#include "workloads/program/step_facts.hpp"

namespace c3 { inline namespace studies {

struct LargeLayout {
  std::string name;     ///< "llama-3-8b on a100-sxm-80gb-8, fsdp"
  StepFacts facts;      ///< of its step, unsimulated
  double needed = 0.0;  ///< by the count, over what there is
};

/// Thirty of shipped models, systems and frameworks, with tokens for 3 to 10 % more than there is. The count is
/// of tensors that are there at once, when the loss begins its backward pass (before it, in the last family):
/// nothing of it can be freed. It is a formula of the model's dimensions and knows nothing of the ledger that
/// simulated steps keep. \throws ConfigError
std::vector<LargeLayout> layouts_too_large();

}}  // namespace c3::studies
