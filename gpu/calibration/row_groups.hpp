#pragma once
/// Rows of a table of measurements that belong together: of one shape, of one GPU.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/random.hpp"

namespace c3 { inline namespace gpu {

/// Rows of the caller's table by index, from 0.
using Rows = std::vector<std::size_t>;

/// The rows of each distinct id. \p ids: shape [rows]. Groups in order of rising id, rows in the table's order,
/// so that the order in which groups first appear changes nothing.
std::vector<Rows> rows_by_id(std::span<const std::uint64_t> ids);

/// Row weights, shape [rows], under which every group weighs the same however many rows it has; their mean is
/// 1.
std::vector<double> balanced_weights(std::span<const std::uint64_t> groups);

/// 0 .. count - 1.
Rows every_row(std::size_t count);

/// 0 .. count - 1 in random order, each order as likely. Takes the draws \p first .. \p first + count - 1 of
/// \p random.
Rows random_order(std::size_t count, const RandomStream& random, std::uint64_t first = 0);

}}  // namespace c3::gpu
