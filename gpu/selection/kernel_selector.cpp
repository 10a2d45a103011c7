#include "gpu/selection/kernel_selector.hpp"

#include <algorithm>
#include <utility>

namespace c3 { inline namespace gpu {

std::vector<RankedSequence> KernelSelector::rank(std::span<const float> of, const std::string& kind,
                                                 std::size_t width) const {
  std::vector<const BoostedTrees*> trees;
  for (const SelectorStep& step : steps)
    trees.push_back(&step.trees);
  return beam_search(trees, of, valid.at(kind), width);
}

void train_steps(KernelSelector& selector, std::span<const TakenSequence> taken,
                 const TrainingOptions& options) {
  for (std::size_t place = 0; place < selector.steps.size(); ++place) {
    std::vector<KnownChoice> choices;
    for (const TakenSequence& each : taken) {
      const std::span<const int> before = std::span<const int>(each.tokens).first(place);
      KnownChoice choice{.features = with_tokens(each.features, before),
                         .tokens = selector.valid.at(each.kind).next(before),
                         .losses = {}};
      for (const int token : choice.tokens)
        choice.losses.push_back(token == each.tokens[place] ? 0.0 : kWrong);
      choices.push_back(std::move(choice));
    }
    selector.steps[place].trees = train_choice(choices, options);
  }
}

}}  // namespace c3::gpu
