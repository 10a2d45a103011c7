#pragma once
/// GPUs of one type that do not compute equally fast.

#include <cstdint>
#include <vector>

namespace c3::inline workloads {

/// By rank, how many times as long its arithmetic takes as the mean GPU's: 1 + \p spread z, drawn by (\p seed,
/// rank). A rank that \p stands_for_others is the slowest by expectation, for which collectives wait: all ranks
/// have its time. Empty without a spread.
std::vector<double> slower_gpus(double spread, int ranks, bool stands_for_others, std::uint64_t seed);

}  // namespace c3::workloads
