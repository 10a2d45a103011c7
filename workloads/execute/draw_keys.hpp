#pragma once
/// What the random draws of an operation depend on.

#include <cstdint>
#include <vector>

#include "workloads/experiment.hpp"

namespace c3::inline workloads {

/// One key for each operation of \p stream, for RandomStream: a hash of the stream's name, the operation's name
/// and how many operations of that name come before it on the stream. Positions do not matter, so that neither
/// the order in which streams are defined nor an operation of another name changes what is drawn.
std::vector<std::uint64_t> draw_keys(const StreamSpec& stream);

}  // namespace c3::workloads
