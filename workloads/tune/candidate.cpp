#include "workloads/tune/candidate.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "workloads/tune/model_times.hpp"

namespace c3::inline workloads {
namespace {

std::vector<Experiment> all_draws(const ExperimentFactory& make) {
  std::vector<Experiment> draws = {make(std::nullopt)};
  const int count = draws.front().measure.draws;
  if (count > 0) draws.clear();
  for (int draw = 0; draw < count; ++draw)
    draws.push_back(make(static_cast<std::uint64_t>(draw)));
  return draws;
}

}  // namespace

CandidateFacts candidate_facts(const ExperimentFactory& make) {
  const std::vector<Experiment> draws = all_draws(make);
  CandidateFacts facts;
  facts.size.gpus = draws.front().cluster.ranks();
  for (const Experiment& experiment : draws) {
    if (!experiment.step) continue;
    facts.size.tokens = experiment.step->tokens;
    facts.needed = std::max(facts.needed, experiment.step->memory.held);
    facts.fits = facts.fits && experiment.step->fits();
  }
  if (!facts.fits) return facts;
  std::optional<ModelTimes> least;
  for (const Experiment& experiment : draws) {
    for (const Strategy& strategy : experiment.strategies) {
      const ModelTimes its = model_times(experiment, strategy);
      least = least ? ModelTimes{.bound = std::min(least->bound, its.bound),
                                 .estimate = std::min(least->estimate, its.estimate)}
                    : its;
    }
  }
  facts.bound = least.value_or(ModelTimes{}).bound;
  facts.estimate = least.value_or(ModelTimes{}).estimate;
  return facts;
}

}  // namespace c3::workloads
