#pragma once
/// GPUs of one type that do not compute equally fast.

#include <cstdint>
#include <vector>

namespace c3 { inline namespace workloads {

/// By rank, the factor of its clock period over the mean GPU's, which slows arithmetic and channels: 1 +
/// \p spread z, drawn by (\p seed, rank). Where ranks stand for others (\p stands_for_others), every rank has
/// the expected factor of the slowest, for which collectives wait. Empty without a spread.
std::vector<double> slower_gpus(double spread, int ranks, bool stands_for_others, std::uint64_t seed);

}}  // namespace c3::workloads
