#include "app/explain/step_changes.hpp"

#include <fmt/format.h>

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

/// Tokens of the whole step that \p outline begins.
std::int64_t tokens_of(const Experiment& outline) {
  return outline.step->tokens / outlined_micro_batches(outline) * outline.family->size().micro_batches;
}

}  // namespace

ChangedFile with_change(const std::string& file, std::vector<std::string> sets, KeyChange& change,
                        std::int64_t tokens) {
  sets.insert(sets.end(), change.sets.begin(), change.sets.end());
  const auto made = [&] {
    checkpoint();
    const ExperimentFile changed = ExperimentFile::load(file, sets);
    return ChangedFile{changed, changed.outline()};
  };
  ChangedFile changed = made();
  if (!changed.outline.step) return changed;
  const std::int64_t before = tokens_of(changed.outline);
  if (before == tokens) return changed;
  if (const std::int64_t count = changed.outline.family->size().micro_batches * tokens; count % before == 0) {
    const std::string set = fmt::format("training.micro_batches={}", count / before);
    change.sets.push_back(set);
    sets.push_back(set);
    changed = made();
  }
  if (tokens_of(changed.outline) != tokens)
    throw InfeasibleError(fmt::format("{} tokens a step cannot be {}", before, tokens));
  return changed;
}

}}  // namespace c3::app
