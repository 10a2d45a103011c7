#include "workloads/training/head_rules.hpp"

#include <fmt/format.h>

#include <string>
#include <utility>

namespace c3 { inline namespace workloads {

// Ranks that have a part of the tokens each do not have those of the head.
BrokenRules broken_head_rules(const TrainingSetup& setup) {
  BrokenRules broken;
  const bool picks = setup.predictions > 0;
  if (!picks && setup.head == ModelHead::language_model) return broken;
  const char* const key = picks ? "predictions" : "head";
  const std::string what = picks ? "" : fmt::format("\"{}\" ", name_of(setup.head));
  const auto refuse = [&](std::string why) { broken.push_back({key, std::move(why)}); };
  if (setup.predictions > setup.sequence)
    refuse(
        fmt::format("must not exceed the sequence of {} tokens (it is {})", setup.sequence, setup.predictions));
  if (picks && setup.head == ModelHead::classifier)
    refuse("cannot be combined with head = \"classifier\", which predicts no words");
  if (setup.sequence_parallel) refuse(what + "requires sequence_parallel = false (it is true)");
  if (setup.context.ranks > 1)
    refuse(fmt::format("{}requires context_parallel = 1 (it is {})", what, setup.context.ranks));
  if (setup.tensor_overlap != TensorOverlap::none)
    refuse(fmt::format("{}requires tensor_overlap = \"none\" (it is \"{}\")", what,
                       name_of(setup.tensor_overlap)));
  if (setup.lora.rank > 0) refuse(what + "is not supported with [training.lora]");
  return broken;
}

}}  // namespace c3::workloads
