#pragma once
/// What a runtime picks for a kernel beside a collective that knows each of them alone: the heuristics of
/// arXiv 2412.14335.

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "workloads/analysis/study.hpp"
#include "workloads/experiment.hpp"

namespace c3 { inline namespace workloads {

/// A stream of kernels and one of collectives, by position.
struct StreamPair {
  std::size_t kernel = 0, collective = 0;
};
/// Absent unless \p program has these two streams and no other.
std::optional<StreamPair> pair_of(const Program& program);

/// Schedule prioritisation launches in ascending number of work groups. \returns the stream that goes first:
/// the one whose first operation has fewer, of channels as many as the library takes for large data. Absent
/// where \p experiment is no pair, or its first kernel has no shape. Where both have as many, the kernel goes
/// first.
std::optional<std::size_t> launched_first(const Experiment& experiment);

/// Resource partitioning takes the partition with the least max(G(k), C(k)) of isolated times. \returns
/// positions of partitions, the best first and the earlier of equal ones first. \p kernel and \p collective are
/// of equal length.
std::vector<std::size_t> by_isolated_times(std::span<const Seconds> kernel,
                                           std::span<const Seconds> collective);

/// The picks of both rules among the strategies of a pair that move data on CUs, as far as the experiment has
/// such strategies: the first that launches in the order of the rule and divides no CUs, and of those that
/// divide CUs the strategy and the partition of the least max(G(k), C(k)). Isolated times are of nominal
/// values and one seed; the time of a pick is the median of as many runs as \p results are of.
/// \param results of all strategies, from run_study with \p make. \throws InfeasibleError, InterruptedError
std::vector<HeuristicPick> heuristic_picks(const ExperimentFactory& make,
                                           std::span<const StrategyResult> results);

}}  // namespace c3::workloads
