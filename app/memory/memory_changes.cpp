#include <algorithm>
#include <functional>
#include <utility>

#include "app/memory/memory_account.hpp"
#include "configs/toml/config_error.hpp"
#include "engine/errors.hpp"

namespace c3 { inline namespace app {
namespace {

std::vector<KeyChange> micro_batches(const TrainingSetup& setup) {
  std::vector<KeyChange> wishes;
  if (setup.micro_batch % 2 == 0) wishes.push_back(training_key("micro_batch", setup.micro_batch / 2));
  if (setup.micro_batch > 2) wishes.push_back(training_key("micro_batch", 1));
  return wishes;
}

std::vector<KeyChange> recomputations(const TrainingSetup& setup) {
  std::vector<KeyChange> wishes;
  if (setup.recompute != Recompute::selective && setup.recompute != Recompute::full)
    wishes.push_back(training_key("recompute", name_of(Recompute::selective)));
  if (setup.recompute != Recompute::full) wishes.push_back(training_key("recompute", name_of(Recompute::full)));
  if (setup.recompute_every > 1) wishes.push_back(training_key("recompute_every", 1));
  return wishes;
}

std::vector<KeyChange> shardings(const TrainingSetup& setup) {
  std::vector<KeyChange> wishes;
  for (const Sharding more : enum_values<Sharding>())
    if (more > setup.sharding) wishes.push_back(training_key("sharding", name_of(more)));
  return wishes;
}

std::vector<KeyChange> divisions(const TrainingSetup& setup) {
  KeyChange tensor = training_key("tensor_parallel", 2 * std::int64_t{setup.tensor_parallel});
  if (setup.tensor_parallel == 1)
    tensor = both(std::move(tensor), {"sequence_parallel", {"training.sequence_parallel=true"}});
  return {std::move(tensor), training_key("pipeline", 2 * std::int64_t{setup.pipeline.stages}),
          training_key("context_parallel", 2 * std::int64_t{setup.context.ranks})};
}

/// Changes that offload to the host's memory: activations of half of the layers or of all, and the optimizer.
std::vector<KeyChange> offloads(const TrainingSetup& setup) {
  const std::int64_t layers = setup.model.layers / (setup.pipeline.stages * setup.pipeline.virtual_stages);
  std::vector<KeyChange> wishes;
  for (const std::int64_t some : {layers / 2, layers})
    if (some > setup.offload.layers) wishes.push_back(training_key("offload_layers", some));
  if (setup.offload.optimizer < 1.0) wishes.push_back(training_key("offload_optimizer", 1));
  return wishes;
}

std::vector<KeyChange> wishes_for(const TrainingSetup& setup) {
  const std::vector<KeyChange> smaller = micro_batches(setup), again = recomputations(setup),
                               shards = shardings(setup);
  std::vector<KeyChange> wishes;
  for (const auto& some : {smaller, again, shards, divisions(setup), offloads(setup)})
    wishes.insert(wishes.end(), some.begin(), some.end());
  if (!smaller.empty() && !again.empty()) wishes.push_back(both(smaller.back(), again.back()));
  if (!smaller.empty() && !shards.empty()) wishes.push_back(both(smaller.back(), shards.back()));
  if (!again.empty() && !shards.empty()) wishes.push_back(both(again.back(), shards.back()));
  return wishes;
}

/// What the step of \p facts is with \p wish.
MemoryChange changed(const MemoryRequest& request, const StepFacts& facts, KeyChange wish) {
  MemoryChange change;
  try {
    const Experiment outline = with_change(request.file, request.sets, wish, facts.tokens).outline;
    change.facts = outline.family->facts(outline.cluster);
    change.time = closed_form_time(outline, *change.facts);
  } catch (const ConfigError& error) {
    change.problem = error.what();
  } catch (const InfeasibleError& error) {
    change.problem = error.what();
  }
  change.key = std::move(wish);
  return change;
}

}  // namespace

std::vector<MemoryChange> memory_changes(const MemoryRequest& request, const TrainingSetup& setup,
                                         const StepFacts& facts) {
  std::vector<MemoryChange> changes;
  for (KeyChange& wish : wishes_for(setup))
    changes.push_back(changed(request, facts, std::move(wish)));
  const auto rank = [](const MemoryChange& change) {
    if (!change.facts) return std::pair(2, 0.0);
    return change.facts->fits() ? std::pair(0, change.time.time.value)
                                : std::pair(1, change.facts->memory.held.value);
  };
  std::ranges::stable_sort(changes, std::less<>(), rank);
  return changes;
}

}}  // namespace c3::app
