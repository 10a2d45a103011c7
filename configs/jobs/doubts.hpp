#pragma once
/// Figures that a reader of a configuration would ask about: allowed, and yet probably a slip.

#include <span>
#include <string>
#include <vector>

#include "collectives/spec.hpp"
#include "configs/toml/tree.hpp"

namespace c3 { inline namespace configs {

/// A GPU preset that extends another one: peaks of which some are its own and some inherited, and numbers of
/// compute units or clocks of its own beside inherited peaks.
std::vector<std::string> doubts_about_preset(const Table& gpu);

/// Families without coefficients of their own whose name may be misspelt, ratios of peaks between data types,
/// and NICs that GPUs cannot share evenly.
std::vector<std::string> doubts_about(const GpuSpec& gpu);
std::vector<std::string> doubts_about(const ClusterSpec& cluster);

}}  // namespace c3::configs
