#include "results/diff/run_diff.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

namespace c3 { inline namespace results {
namespace {

/// What made a file, not what is in it.
constexpr std::array<std::string_view, 5> kProvenance{"schema_version", "software", "software_version",
                                                      "git_commit", "compiler"};
/// Different in every run.
constexpr std::array<std::string_view, 2> kOccasion{"date", "command_line"};
/// Compared key by key.
constexpr std::array<std::string_view, 2> kConfiguration{"config_sha256", "config_resolved"};

template <std::size_t N>
bool is_one_of(const std::array<std::string_view, N>& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

std::vector<TextChange> fact_changes(const ResultReader& a, const ResultReader& b, bool with_occasion) {
  const auto first = a.attributes(), second = b.attributes();
  const auto value = [](const auto& attributes, const std::string& name) -> std::optional<std::string> {
    for (const auto& [key, text] : attributes) {
      if (key == name) return text;
    }
    return std::nullopt;
  };
  std::vector<TextChange> changes;
  const auto compare = [&](const std::string& name) {
    if (is_one_of(kConfiguration, name) || (!with_occasion && is_one_of(kOccasion, name))) return;
    TextChange change{.name = name, .a = value(first, name), .b = value(second, name)};
    if (change.a != change.b) changes.push_back(std::move(change));
  };
  for (const auto& [name, _] : first)
    compare(name);
  for (const auto& [name, _] : second) {
    if (!value(first, name)) compare(name);
  }
  return changes;
}

std::vector<StrategyPair> of_the_same_name(const ResultReader& a, const ResultReader& b) {
  const auto others = b.strategies();
  std::vector<StrategyPair> pairs;
  for (const auto& name : a.strategies()) {
    if (std::ranges::find(others, name) != others.end()) pairs.push_back({name, name});
  }
  return pairs;
}

std::vector<std::string> without(std::vector<std::string> names, const std::vector<std::string>& compared) {
  std::erase_if(names,
                [&](const std::string& name) { return std::ranges::find(compared, name) != compared.end(); });
  return names;
}

}  // namespace

bool RunDiff::is_equal() const {
  const auto is_result = [](const TextChange& fact) {
    return !is_one_of(kProvenance, fact.name) && !is_one_of(kOccasion, fact.name);
  };
  return std::ranges::none_of(facts, is_result) && configuration.empty() && only_a.empty() && only_b.empty() &&
         std::ranges::all_of(strategies, &StrategyDiff::is_equal);
}

RunDiff diff_runs(const ResultReader& a, const ResultReader& b, const DiffOptions& options) {
  RunDiff diff{.a = a.path(), .b = b.path(), .facts = fact_changes(a, b, options.all_kinds)};
  const bool all = options.strategies.empty();
  for (const StrategyPair& pair : all ? of_the_same_name(a, b) : options.strategies) {
    diff.strategies.push_back(
        {.strategies = pair,
         .summary = diff_summaries({a, pair.a}, {b, pair.b}, options.tolerance),
         .activities = diff_activities({a, pair.a}, {b, pair.b}, options.tolerance, options.all_kinds)});
  }
  if (all) {
    diff.only_a = without(a.strategies(), b.strategies());
    diff.only_b = without(b.strategies(), a.strategies());
  }
  std::ranges::stable_sort(diff.strategies, std::ranges::greater{}, [](const StrategyDiff& strategy) {
    return std::abs(strategy.summary.time_change().value);
  });
  return diff;
}

}}  // namespace c3::results
