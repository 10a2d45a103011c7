#pragma once
/// How far points of a sweep are from one another.

#include <vector>

#include "configs/jobs/sweep.hpp"

namespace c3 { inline namespace configs {

/// The position of each point; the sum of absolute differences between two positions is their distance. Along a
/// swept number, logarithms of its values lie between 0 and 1; where a value has no logarithm, ranks do.
/// Different texts are 1 apart.
std::vector<std::vector<double>> positions_of(const Sweep& sweep);

}}  // namespace c3::configs
