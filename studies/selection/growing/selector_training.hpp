#pragma once
/// Grows the trees of a selector from what a library took.

#include <span>
#include <string>
#include <vector>

#include "gpu/selection/kernel_selector.hpp"
#include "studies/selection/growing/listwise_training.hpp"

namespace c3 { inline namespace studies {

/// A problem with the sequence that the library took; a kernel without a known time.
struct TakenSequence {
  std::vector<float> features;
  std::string kind;
  TokenSequence tokens;
};

/// The trees of each step of \p selector, whose steps have tokens and which has valid sequences of all kinds.
void train_steps(KernelSelector& selector, std::span<const TakenSequence> taken,
                 const TrainingOptions& options);

}}  // namespace c3::studies
