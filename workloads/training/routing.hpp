#pragma once
/// How many tokens go to which experts.

#include "workloads/training/setup.hpp"

namespace c3::inline workloads {

/// Ranks among \p ranks that have one of a token's experts, on average: each token chooses `per_token` of the
/// experts of `groups_per_token` groups, all alike.
double destinations(const ExpertDimensions& experts, int ranks);

/// What a rank sends and gets where all experts get as many tokens. \pre the model has experts
RoutedTokens balanced_tokens(const TrainingSetup& setup);

}  // namespace c3::workloads
