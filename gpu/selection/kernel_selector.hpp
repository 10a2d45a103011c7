#pragma once
/// Which kernel a library would take, learned from tables of what it took.

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "gpu/selection/beam_search.hpp"
#include "gpu/selection/boosted_trees.hpp"

namespace c3 { inline namespace gpu {

/// One place in a sequence of tokens.
struct SelectorStep {
  std::string what;                 ///< "solver", "tile_m"
  std::vector<std::string> tokens;  ///< their names, by number
  BoostedTrees trees;
};

/// Of one library, GPU and sort of kernels.
struct KernelSelector {
  std::size_t features = 0;  ///< of a problem
  std::vector<SelectorStep> steps;
  std::map<std::string, ValidSequences> valid;  ///< by kind_of() a problem: what the table has of such

  /// The best for a problem, best first, at most \p width. \p kind: one of `valid`
  std::vector<RankedSequence> rank(std::span<const float> of, const std::string& kind, std::size_t width) const;
};

}}  // namespace c3::gpu
