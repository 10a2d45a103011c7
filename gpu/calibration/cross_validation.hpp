#pragma once
/// Which rows a fit may see, so that others can be predicted without having been seen: the error to report is
/// theirs.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "gpu/calibration/row_groups.hpp"

namespace c3 { inline namespace gpu {

/// What a fit may see, and what it is then asked to predict. No row is in both.
struct Split {
  Rows fitted;
  Rows held_out;
};

/// \p folds splits that hold out each row once, all rows of a key (a hash of the kernel's shape) together, so
/// that no shape is predicted from its own measurement on another GPU. \p keys: shape [rows]. Keys are dealt in
/// random order, each to the fold with the fewest rows so far. Same seed, same splits.
/// \throws std::invalid_argument when folds < 2 or there are fewer keys than folds.
std::vector<Split> folds_by_key(std::span<const std::uint64_t> keys, std::size_t folds, std::uint64_t seed);

/// A split for each group (a GPU, in order of rising id) that holds out its rows and shows the fit all others.
/// \throws std::invalid_argument when there are fewer than two groups.
std::vector<Split> leave_one_group_out(std::span<const std::uint64_t> groups);

}}  // namespace c3::gpu
