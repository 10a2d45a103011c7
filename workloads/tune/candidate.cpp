#include "workloads/tune/candidate.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "workloads/tune/model_times.hpp"

namespace c3::inline workloads {
namespace {

constexpr Seconds kLeastEstimate{1e-9};  ///< of what does nothing

/// What one draw of a training step holds.
void add_step(CandidateFacts& facts, const StepFacts& step) {
  facts.size.tokens = step.tokens;
  facts.needed = std::max(facts.needed, step.memory.held);
  facts.fits = facts.fits && step.fits();
}

}  // namespace

CandidateFacts candidate_facts(const Experiment& nominal, const ExperimentFactory& make) {
  CandidateFacts facts;
  std::optional<ModelTimes> least;
  const auto look_at = [&](const Experiment& experiment) {
    facts.size.gpus = experiment.cluster.ranks();
    if (experiment.step) add_step(facts, *experiment.step);
    if (!facts.fits) return;
    for (const Strategy& strategy : experiment.strategies) {
      const ModelTimes its = model_times(experiment, strategy);
      least = least ? ModelTimes{.bound = std::min(least->bound, its.bound),
                                 .estimate = std::min(least->estimate, its.estimate)}
                    : its;
    }
  };
  if (nominal.measure.draws == 0) look_at(nominal);
  for (int draw = 0; draw < nominal.measure.draws; ++draw)
    look_at(make(static_cast<std::uint64_t>(draw)));
  if (facts.fits) {
    facts.bound = least.value_or(ModelTimes{}).bound;
    facts.estimate = std::max({least.value_or(ModelTimes{}).estimate, facts.bound, kLeastEstimate});
  }
  return facts;
}

}  // namespace c3::workloads
