#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "app/memory_account.hpp"
#include "configs/config_error.hpp"
#include "engine/errors.hpp"
#include "engine/interrupt.hpp"

namespace c3::inline app {
namespace {

/// A change of keys of [training], which is not looked at yet.
struct Wish {
  std::string what;
  std::vector<std::string> sets;
};

Wish wish(const std::string& key, std::string_view value) {
  return {fmt::format("{} {}", key, value), {fmt::format("training.{}=\"{}\"", key, value)}};
}
Wish wish(const std::string& key, std::int64_t value) {
  return {fmt::format("{} {}", key, value), {fmt::format("training.{}={}", key, value)}};
}

Wish both(Wish a, const Wish& b) {
  a.what += ", " + b.what;
  a.sets.insert(a.sets.end(), b.sets.begin(), b.sets.end());
  return a;
}

std::vector<Wish> micro_batches(const TrainingSetup& setup) {
  std::vector<Wish> wishes;
  if (setup.micro_batch % 2 == 0) wishes.push_back(wish("micro_batch", setup.micro_batch / 2));
  if (setup.micro_batch > 2) wishes.push_back(wish("micro_batch", 1));
  return wishes;
}

std::vector<Wish> recomputations(const TrainingSetup& setup) {
  std::vector<Wish> wishes;
  if (setup.recompute != Recompute::selective && setup.recompute != Recompute::full)
    wishes.push_back(wish("recompute", name_of(Recompute::selective)));
  if (setup.recompute != Recompute::full) wishes.push_back(wish("recompute", name_of(Recompute::full)));
  if (setup.recompute_every > 1) wishes.push_back(wish("recompute_every", 1));
  return wishes;
}

std::vector<Wish> shardings(const TrainingSetup& setup) {
  std::vector<Wish> wishes;
  for (const Sharding more : enum_values<Sharding>())
    if (more > setup.sharding) wishes.push_back(wish("sharding", name_of(more)));
  return wishes;
}

std::vector<Wish> divisions(const TrainingSetup& setup) {
  Wish tensor = wish("tensor_parallel", 2 * std::int64_t{setup.tensor_parallel});
  if (setup.tensor_parallel == 1)
    tensor = both(std::move(tensor), {"sequence_parallel", {"training.sequence_parallel=true"}});
  return {std::move(tensor), wish("pipeline", 2 * std::int64_t{setup.pipeline.stages}),
          wish("context_parallel", 2 * std::int64_t{setup.context.ranks})};
}

/// To the memory of the host: activations of half of the layers or of all, and the optimizer.
std::vector<Wish> offloads(const TrainingSetup& setup) {
  const std::int64_t layers = setup.model.layers / (setup.pipeline.stages * setup.pipeline.virtual_stages);
  std::vector<Wish> wishes;
  for (const std::int64_t some : {layers / 2, layers})
    if (some > setup.offload.layers) wishes.push_back(wish("offload_layers", some));
  if (setup.offload.optimizer < 1.0) wishes.push_back(wish("offload_optimizer", 1));
  return wishes;
}

std::vector<Wish> wishes_for(const TrainingSetup& setup) {
  const std::vector<Wish> smaller = micro_batches(setup), again = recomputations(setup),
                          shards = shardings(setup);
  std::vector<Wish> wishes;
  for (const auto& some : {smaller, again, shards, divisions(setup), offloads(setup)})
    wishes.insert(wishes.end(), some.begin(), some.end());
  if (!smaller.empty() && !again.empty()) wishes.push_back(both(smaller.back(), again.back()));
  if (!smaller.empty() && !shards.empty()) wishes.push_back(both(smaller.back(), shards.back()));
  if (!again.empty() && !shards.empty()) wishes.push_back(both(again.back(), shards.back()));
  return wishes;
}

/// Makes the experiments of changes.
class Changer {
 public:
  Changer(const MemoryRequest& request, std::int64_t tokens) : request_(request), tokens_(tokens) {}

  MemoryChange change(Wish wish) const {
    MemoryChange change{.what = std::move(wish.what), .sets = std::move(wish.sets)};
    try {
      std::optional<Experiment> experiment = experiment_of(change.sets);
      if (experiment->step->tokens != tokens_) experiment = with_tokens(change, *experiment);
      if (experiment->step->tokens == tokens_) {
        change.facts = experiment->step;
        change.time = closed_form_time(*experiment);
      } else {
        change.problem = fmt::format("{} tokens a step cannot be {}", experiment->step->tokens, tokens_);
      }
    } catch (const ConfigError& error) {
      change.problem = error.what();
    } catch (const InfeasibleError& error) {
      change.problem = error.what();
    }
    return change;
  }

 private:
  Experiment experiment_of(const std::vector<std::string>& more) const {
    checkpoint();
    std::vector<std::string> sets = request_.sets;
    sets.insert(sets.end(), more.begin(), more.end());
    return ExperimentFile::load(request_.file, sets).make(std::nullopt);
  }

  /// The same step by another number of micro-batches, where the file states that number.
  Experiment with_tokens(MemoryChange& change, const Experiment& other) const {
    const std::int64_t count = training_of(other).micro_batches * tokens_;
    if (count % other.step->tokens != 0) return other;
    change.sets.push_back(fmt::format("training.micro_batches={}", count / other.step->tokens));
    return experiment_of(change.sets);
  }

  const MemoryRequest& request_;
  std::int64_t tokens_;
};

}  // namespace

std::vector<MemoryChange> memory_changes(const MemoryRequest& request, const TrainingSetup& setup,
                                         const StepFacts& facts) {
  const Changer changer(request, facts.tokens);
  std::vector<MemoryChange> changes;
  for (Wish& wish : wishes_for(setup))
    changes.push_back(changer.change(std::move(wish)));
  const auto rank = [](const MemoryChange& its) {
    if (!its.facts) return std::pair(2, 0.0);
    return its.facts->fits() ? std::pair(0, its.time.time.value) : std::pair(1, its.facts->memory.held.value);
  };
  std::ranges::stable_sort(changes, std::less<>(), rank);
  return changes;
}

}  // namespace c3::app
