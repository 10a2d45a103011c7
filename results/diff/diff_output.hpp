#pragma once
/// What `c3sim diff` prints.

#include <cstddef>
#include <string>

#include "results/diff/run_diff.hpp"

namespace c3::inline results {

/// Facts, configuration, then a table of numbers for each strategy, then the activities of all of them, the
/// largest change first. \param lines most rows of each table, the others are counted; 0: all. Absent values
/// are "-".
std::string diff_text(const RunDiff& diff, std::size_t lines);
/// app/README.md has its keys. Times in us. \param lines most activities; the other parts are whole
std::string diff_json(const RunDiff& diff, std::size_t lines);

/// An activity and the strategy that it is of.
struct RankedActivity {
  const StrategyPair& strategies;
  const ActivityChange& change;
};

/// The activities of all strategies, the largest change first, at most \p lines; 0: all.
std::vector<RankedActivity> ranked_activities(const RunDiff& diff, std::size_t lines);

}  // namespace c3::results
