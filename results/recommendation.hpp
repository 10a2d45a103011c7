#pragma once
/// The strategy to take, and why.

#include <optional>
#include <string>
#include <vector>

#include "workloads/analysis/study.hpp"

namespace c3 { inline namespace results {

/// What a runtime's heuristic picks, and what that loses.
struct PickedByRule {
  HeuristicPick pick;
  double regret = 0.0;  ///< time lost against the fastest strategy, over its time
};

struct Recommendation {
  std::optional<std::string> strategy;   ///< absent where the times do not tell
  std::string reason;                    ///< when no strategy is best, names those that are as good
  std::vector<PickedByRule> rules = {};  ///< StudyResult::heuristics and what each picks
};

/// The strategy with the least median, if 95 % of its times are below the median of every other one and the
/// others take at least 1 % longer. The reason compares it with the next: how much faster it is and, where both
/// have a loss split, the largest part of the other's loss that it avoids. Absent for fewer than two
/// strategies. Wrong when: draws move all strategies together, whose order is then surer than their times are.
std::optional<Recommendation> recommend(const StudyResult& study);

/// One sentence.
std::string recommendation_text(const Recommendation& recommendation);

}}  // namespace c3::results
