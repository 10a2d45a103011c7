#include "studies/selection/growing/selector_training.hpp"

namespace c3 { inline namespace studies {

void train_steps(KernelSelector& selector, std::span<const TakenSequence> taken,
                 const TrainingOptions& options) {
  for (std::size_t place = 0; place < selector.steps.size(); ++place) {
    std::vector<KnownChoice> choices;
    for (const TakenSequence& sequence : taken) {
      const std::span<const int> before = std::span<const int>(sequence.tokens).first(place);
      KnownChoice choice{.features = with_tokens(sequence.features, before),
                         .tokens = selector.valid.at(sequence.kind).next(before),
                         .losses = {}};
      for (const int token : choice.tokens)
        choice.losses.push_back(token == sequence.tokens[place] ? 0.0 : kWrong);
      choices.push_back(std::move(choice));
    }
    selector.steps[place].trees = train_choice(choices, options);
  }
}

}}  // namespace c3::studies
