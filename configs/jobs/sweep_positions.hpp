#pragma once
/// How far points of a sweep are from one another.

#include <vector>

#include "configs/jobs/sweep.hpp"

namespace c3 { inline namespace configs {

/// Where each point lies, so that the sum of absolute differences of two is their distance. Along a swept
/// number, logarithms of its values lie between 0 and 1; without one of all values, their ranks do. Different
/// texts are 1 apart.
std::vector<std::vector<double>> positions_of(const Sweep& sweep);

}}  // namespace c3::configs
