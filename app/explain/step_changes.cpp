#include "app/explain/step_changes.hpp"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "engine/errors.hpp"
#include "engine/interrupt.hpp"
#include "workloads/analysis/step_outline.hpp"

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

namespace {

struct StepTokens {
  std::int64_t micro_batches = 0, tokens = 0;
};

/// Absent where \p file is no training step.
std::optional<StepTokens> tokens_of(const ExperimentFile& file) {
  const Experiment outline = file.outline();
  if (!outline.step) return std::nullopt;
  const std::int64_t all = outline.family->size().micro_batches;
  return StepTokens{all, outline.step->tokens / outlined_micro_batches(outline) * all};
}

}  // namespace

ExperimentFile with_change(const std::string& file, std::vector<std::string> sets, KeyChange& change,
                           std::int64_t tokens) {
  sets.insert(sets.end(), change.sets.begin(), change.sets.end());
  const auto made = [&] {
    checkpoint();
    return ExperimentFile::load(file, sets);
  };
  ExperimentFile changed = made();
  std::optional<StepTokens> its = tokens_of(changed);
  if (!its || its->tokens == tokens) return changed;
  const std::int64_t before = its->tokens;
  if (const std::int64_t count = its->micro_batches * tokens; count % before == 0) {
    const std::string set = fmt::format("training.micro_batches={}", count / before);
    change.sets.push_back(set);
    sets.push_back(set);
    changed = made();
    its = tokens_of(changed);
  }
  if (its->tokens != tokens)
    throw InfeasibleError(fmt::format("{} tokens a step cannot be {}", before, tokens));
  return changed;
}

}}  // namespace c3::app
