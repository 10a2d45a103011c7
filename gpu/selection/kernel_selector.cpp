#include "gpu/selection/kernel_selector.hpp"

namespace c3 { inline namespace gpu {

std::vector<RankedSequence> KernelSelector::rank(std::span<const float> of, const std::string& kind,
                                                 std::size_t width) const {
  std::vector<const BoostedTrees*> trees;
  for (const SelectorStep& step : steps)
    trees.push_back(&step.trees);
  return beam_search(trees, of, valid.at(kind), width);
}

}}  // namespace c3::gpu
