#pragma once
/// What differs between the result files of two runs: facts, numbers of the summary, activities.

#include <optional>
#include <string>
#include <vector>

#include "results/diff/activity_diff.hpp"
#include "results/diff/summary_diff.hpp"
#include "results/result_reader.hpp"

namespace c3 { inline namespace results {

/// A text that differs, absent where a file does not have it.
struct TextChange {
  std::string name;
  std::optional<std::string> a, b;
  std::optional<double> relative = std::nullopt;  ///< b / a - 1 where both are numbers

  bool operator==(const TextChange&) const = default;
};

/// A strategy of the first file, and the one of the second that is compared with it.
struct StrategyPair {
  std::string a, b;

  std::string label() const { return a == b ? a : a + ":" + b; }
  bool operator==(const StrategyPair&) const = default;
};

struct DiffOptions {
  double tolerance = 0.0;  ///< relative: numbers that differ by no more are equal
  bool all_kinds = false;  ///< also parts and waits of activities, and when and how a run was made
  std::vector<StrategyPair> strategies;  ///< empty: those of the same name
};

struct StrategyDiff {
  StrategyPair strategies;
  SummaryDiff summary;
  ActivityDiff activities;

  bool is_equal() const { return summary.changes.empty() && activities.is_equal(); }
};

struct RunDiff {
  std::string a, b;                                   ///< paths
  std::vector<TextChange> facts = {};                 ///< facts about the runs: system, seed, version, ...
  std::vector<TextChange> configuration = {};         ///< filled by who knows the configuration's language
  std::vector<StrategyDiff> strategies = {};          ///< those whose time changes most first
  std::vector<std::string> only_a = {}, only_b = {};  ///< strategies that are compared with none

  /// Whether the runs gave the same. Versions of the software and of the file may differ.
  bool is_equal() const;
};

/// Everything but the configuration. \throws IoError when a file is damaged.
RunDiff diff_runs(const ResultReader& a, const ResultReader& b, const DiffOptions& options);

}}  // namespace c3::results
