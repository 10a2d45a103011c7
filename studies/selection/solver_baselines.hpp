#pragma once
/// Simple ways to choose among the kernels that a find-db lists for a convolution, to judge the trained one by.

#include <cstddef>
#include <vector>

#include "studies/selection/solver_table.hpp"

namespace c3 { inline namespace studies {

/// The place of the chosen kernel among those listed, by problem.
using Picks = std::vector<std::size_t>;

/// Writes \p picks of \p held_out from what \p fitted has; both are rows of \p table.
using PickRule = void (*)(const SolverTable& table, const Rows& fitted, const Rows& held_out, Picks& picks);

/// The kernel that is most often the best of its pass and type.
void pick_majority(const SolverTable& table, const Rows& fitted, const Rows& held_out, Picks& picks);

/// The same among layers of one kind; what that does not have, by pass and type.
void pick_majority_of_kind(const SolverTable& table, const Rows& fitted, const Rows& held_out, Picks& picks);

/// What is most often the best of the 8 nearest of the pass and type: by the sum of the differences of the
/// logarithms of sizes. A tie goes to the nearest.
void pick_by_neighbours(const SolverTable& table, const Rows& fitted, const Rows& held_out, Picks& picks);

/// The least time by the roofline of each kernel's sort; of kernels of one sort, what is most often the best.
void pick_by_roofline(const SolverTable& table, const Rows& fitted, const Rows& held_out, Picks& picks);

/// The least time by our kernels of each sort, likewise.
void pick_by_model(const SolverTable& table, const Rows& fitted, const Rows& held_out, Picks& picks);

}}  // namespace c3::studies
