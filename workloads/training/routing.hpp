#pragma once
/// How many tokens go to which experts.

#include "workloads/training/expert_loads.hpp"
#include "workloads/training/setup.hpp"

namespace c3 { inline namespace workloads {

/// Ranks among \p ranks that have one of a token's experts, on average: each token chooses `per_token` of the
/// experts of `groups_per_token` groups, all alike.
double destinations(const ExpertDimensions& experts, int ranks);

/// What a rank sends and gets where all experts get as many tokens. \pre the model has experts
RoutedTokens balanced_tokens(const TrainingSetup& setup);

/// The experts that a rank has, and how busy they are.
struct ExpertPosition {
  const ExpertLoads* loads = nullptr;  ///< nullptr: all experts are equally busy
  int number = 0;                      ///< of the rank in its group
};
/// The same of one layer, at one position of the group. A capacity makes all experts' rows equal. Wrong
/// when: of tokens that go once to each rank, a busier rank gets more in proportion to its experts' rows.
RoutedTokens routed_tokens(const TrainingSetup& setup, ExpertPosition at, std::int64_t layer);

}}  // namespace c3::workloads
