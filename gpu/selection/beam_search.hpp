#pragma once
/// Chooses sequences of tokens, such as tile, depth, split and instruction of a kernel, one token after
/// another.

#include <cstddef>
#include <span>
#include <vector>

#include "gpu/selection/boosted_trees.hpp"

namespace c3 { inline namespace gpu {

using TokenSequence = std::vector<int>;

/// Sequences of equal length that may be chosen.
class ValidSequences {
 public:
  explicit ValidSequences(std::vector<TokenSequence> sequences);

  /// Tokens with which a valid sequence goes on after \p before, rising; empty: none does.
  std::vector<int> next(std::span<const int> before) const;

  const std::vector<TokenSequence>& all() const { return sequences_; }

 private:
  std::vector<TokenSequence> sequences_;  ///< rising, each once
};

struct RankedSequence {
  TokenSequence tokens;
  double log_probability = 0.0;
};

/// The most probable valid sequences, best first, at most \p width. Each step keeps as many beginnings and goes
/// on with valid tokens only: MIOpen's constrained search (arXiv 2404.10162). Wrong when: a beginning that is
/// not kept would have ended better. \param steps what scores the tokens of each place; the tokens before a
/// place follow \p features as features
std::vector<RankedSequence> beam_search(std::span<const BoostedTrees* const> steps,
                                        std::span<const float> features, const ValidSequences& valid,
                                        std::size_t width);

/// \p features with the tokens \p before behind them.
std::vector<float> with_tokens(std::span<const float> features, std::span<const int> before);

}}  // namespace c3::gpu
