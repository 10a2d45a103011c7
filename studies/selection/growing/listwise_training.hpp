#pragma once
/// Trains boosted trees to choose the best of several tokens.

#include <cstdint>
#include <span>
#include <vector>

#include "gpu/selection/boosted_trees.hpp"

namespace c3 { inline namespace studies {

/// What a choice that is wrong without a known time loses.
inline constexpr double kWrong = 1e9;

/// A problem for which the best of some tokens is known.
struct KnownChoice {
  std::vector<float> features;  ///< as many of every problem
  std::vector<int> tokens;      ///< that could be chosen
  std::vector<double> losses;   ///< by place in `tokens`: logarithm of the time over the least; 0: the best
};

struct TrainingOptions {
  int trees = 250;
  int leaves = 31;           ///< of a tree, at most
  double rate = 0.1;         ///< of a tree's values that are added
  double penalty = 1.0;      ///< on the square of a leaf's value
  int least_rows = 10;       ///< pairs of problem and token in a leaf
  double problems = 0.7;     ///< share of the problems that a tree sees
  double features = 0.5;     ///< share of the features that a tree may ask
  double temperature = 0.1;  ///< of the losses, where two of them count as different
  std::uint64_t seed = 1;    ///< of both draws
};

/// Gradient boosting of the cross-entropy between the softmax of the scores over a problem's tokens and that of
/// -loss / temperature, by second-order steps (Friedman 2001; Cao et al. 2007, listwise ranking). Thresholds
/// and values are rounded to three decimals, so that a table of them is short. \throws std::invalid_argument
/// for choices that differ in their number of features, or a token out of range
BoostedTrees train_choice(std::span<const KnownChoice> choices, const TrainingOptions& options);

}}  // namespace c3::studies
