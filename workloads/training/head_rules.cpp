#include "workloads/training/head_rules.hpp"

#include <fmt/format.h>

namespace c3::inline workloads {

// Ranks that have a part of the tokens each do not have those of the head.
std::optional<BrokenRule> broken_head_rule(const TrainingSetup& setup) {
  const bool picks = setup.predictions > 0;
  if (!picks && setup.head == ModelHead::language_model) return std::nullopt;
  const char* const key = picks ? "predictions" : "head";
  const std::string what = picks ? "" : fmt::format("\"{}\" ", name_of(setup.head));
  if (setup.predictions > setup.sequence)
    return BrokenRule{key, fmt::format("must not exceed the sequence of {} tokens (it is {})", setup.sequence,
                                       setup.predictions)};
  if (picks && setup.head == ModelHead::classifier)
    return BrokenRule{key, "cannot be combined with head = \"classifier\", which predicts no words"};
  if (setup.sequence_parallel) return BrokenRule{key, what + "requires sequence_parallel = false (it is true)"};
  if (setup.context.ranks > 1)
    return BrokenRule{key,
                      fmt::format("{}requires context_parallel = 1 (it is {})", what, setup.context.ranks)};
  if (setup.tensor_overlap != TensorOverlap::none)
    return BrokenRule{key, fmt::format("{}requires tensor_overlap = \"none\" (it is \"{}\")", what,
                                       name_of(setup.tensor_overlap))};
  if (setup.lora.rank > 0) return BrokenRule{key, what + "is not supported with [training.lora]"};
  return std::nullopt;
}

}  // namespace c3::workloads
