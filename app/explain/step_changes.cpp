#include "app/explain/step_changes.hpp"

#include <fmt/format.h>

#include <utility>

#include "engine/errors.hpp"
#include "engine/interrupt.hpp"
#include "workloads/training/training_step.hpp"

namespace c3 { inline namespace app {

KeyChange training_key(const std::string& key, std::string_view value) {
  return {fmt::format("{} {}", key, value), {fmt::format("training.{}=\"{}\"", key, value)}};
}

KeyChange training_key(const std::string& key, std::int64_t value) {
  return {fmt::format("{} {}", key, value), {fmt::format("training.{}={}", key, value)}};
}

KeyChange both(KeyChange a, const KeyChange& b) {
  a.what += ", " + b.what;
  a.sets.insert(a.sets.end(), b.sets.begin(), b.sets.end());
  return a;
}

Experiment with_change(const std::string& file, std::vector<std::string> sets, KeyChange& change,
                       std::int64_t tokens) {
  sets.insert(sets.end(), change.sets.begin(), change.sets.end());
  const auto made = [&] {
    checkpoint();
    return ExperimentFile::load(file, sets).make(std::nullopt);
  };
  Experiment experiment = made();
  if (!experiment.step || experiment.step->tokens == tokens) return experiment;
  const std::int64_t of_step = experiment.step->tokens;
  if (const std::int64_t count = training_of(experiment).micro_batches * tokens; count % of_step == 0) {
    const std::string set = fmt::format("training.micro_batches={}", count / of_step);
    change.sets.push_back(set);
    sets.push_back(set);
    experiment = made();
  }
  if (experiment.step->tokens != tokens)
    throw InfeasibleError(fmt::format("{} tokens a step cannot be {}", of_step, tokens));
  return experiment;
}

}}  // namespace c3::app
