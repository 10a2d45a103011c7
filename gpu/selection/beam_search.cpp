#include "gpu/selection/beam_search.hpp"

#include <algorithm>
#include <utility>

namespace c3 { inline namespace gpu {

ValidSequences::ValidSequences(std::vector<TokenSequence> sequences) : sequences_(std::move(sequences)) {
  std::ranges::sort(sequences_);
  sequences_.erase(std::ranges::unique(sequences_).begin(), sequences_.end());
}

std::vector<int> ValidSequences::next(std::span<const int> before) const {
  const auto beginning = [&](const TokenSequence& sequence) {
    return std::span<const int>(sequence).first(std::min(before.size(), sequence.size()));
  };
  const auto less = [](std::span<const int> a, std::span<const int> b) {
    return std::ranges::lexicographical_compare(a, b);
  };
  std::vector<int> tokens;
  for (const TokenSequence& sequence : std::ranges::equal_range(sequences_, before, less, beginning)) {
    if (sequence.size() <= before.size()) continue;
    const int token = sequence[before.size()];
    if (tokens.empty() || tokens.back() != token) tokens.push_back(token);
  }
  return tokens;
}

std::vector<float> with_tokens(std::span<const float> features, std::span<const int> before) {
  std::vector<float> all(features.begin(), features.end());
  for (const int token : before)
    all.push_back(static_cast<float>(token));
  return all;
}

std::vector<RankedSequence> beam_search(std::span<const BoostedTrees* const> steps,
                                        std::span<const float> features, const ValidSequences& valid,
                                        std::size_t width) {
  std::vector<RankedSequence> beams = {{}};
  for (const BoostedTrees* step : steps) {
    std::vector<RankedSequence> longer;
    for (const RankedSequence& beam : beams) {
      const std::vector<int> tokens = valid.next(beam.tokens);
      if (tokens.empty()) continue;
      const std::vector<double> odds = step->log_probabilities(with_tokens(features, beam.tokens), tokens);
      for (std::size_t i = 0; i < tokens.size(); ++i) {
        RankedSequence next = beam;
        next.tokens.push_back(tokens[i]);
        next.log_probability += odds[i];
        longer.push_back(std::move(next));
      }
    }
    std::ranges::stable_sort(longer, std::ranges::greater{}, &RankedSequence::log_probability);
    if (longer.size() > width) longer.resize(width);
    beams = std::move(longer);
  }
  return beams;
}

}}  // namespace c3::gpu
