#pragma once
/// The values of one swept key: a list, or a range that is counted out.

#include <string>
#include <vector>

#include "configs/toml/tree.hpp"

namespace c3 { inline namespace configs {

/// Most values that one key may take.
inline constexpr std::size_t kMostAxisValues = 100'000;

/// Whether \p node is a list or a range, and not a table of further keys.
bool is_axis(const Node& node);

/// Values of `[8, 16, 32]`, or of a range with both ends:
///   `{ from = 8, to = 128, step = 8 }`                 in steps
///   `{ from = "1 MiB", to = "1 GiB", factor = 4 }`      each so many times the one before
///   `{ from = 1, to = 64, count = 7, scale = "log" }`   so many, evenly spaced, or by equal factors
/// Integers stay integers, quantities keep the unit of `from`. Every value has the place of the list's element
/// or of the range. \throws ConfigError
std::vector<Node> axis_values(const Node& node, const std::string& name);

}}  // namespace c3::configs
