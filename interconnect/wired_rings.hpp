#pragma once
/// Rings over the GPUs of a wired node.

#include <span>
#include <vector>

#include "interconnect/spec.hpp"

namespace c3 { inline namespace interconnect {

/// What disjoint_rings says of a wired node.
std::vector<std::vector<int>> wired_rings(const NodeSpec& node, std::span<const int> members);

}}  // namespace c3::interconnect
