#pragma once
/// What `c3sim diff` prints.

#include <cstddef>
#include <string>
#include <vector>

#include "results/diff/recorded_diff.hpp"
#include "results/diff/run_diff.hpp"

namespace c3 { inline namespace results {

/// Facts, configuration, then a table of numbers for each strategy, then the activities of all of them, the
/// largest change first. \param lines most rows of each table, the others are counted; 0: all. Absent values
/// are "-".
std::string diff_text(const RunDiff& diff, std::size_t lines);
/// app/README.md has its keys. Times in us. \param lines most activities; the other parts are whole
std::string diff_json(const RunDiff& diff, std::size_t lines);

/// Compares what was recorded with what was simulated: how far apart they are, then the starts, then the
/// durations that differ most. \param streams names, indexed by number. \param lines as above, for each table
std::string recorded_diff_text(const RecordedDiff& diff, const std::vector<std::string>& streams,
                               std::size_t lines);
/// app/README.md has its keys. Times in us.
std::string recorded_diff_json(const std::string& file, const std::vector<RecordedDiff>& diffs,
                               const std::vector<std::string>& streams, std::size_t lines);

/// An activity and the strategy that it is of.
struct RankedActivity {
  const StrategyPair& strategies;
  const ActivityChange& change;
};

/// The activities of all strategies, the largest change first, at most \p lines; 0: all.
std::vector<RankedActivity> ranked_activities(const RunDiff& diff, std::size_t lines);

}}  // namespace c3::results
