#pragma once
/// Functions that rows of this study call, see row_functions.hpp.

#include "studies/cases/row_functions.hpp"

namespace c3 { inline namespace studies {

/// A step of four ranks with unlike loads, with the `recommendation.` keys of `set`. Gives time, alone (the
/// longest rank's kernels or all collectives, without waits and hosts) and cpu, all in s.
RowFunction ranks_row;
/// An all-to-all-v of four V100, one of many that a host launches one after another. Column bytes; gives
/// gpus_us and host_us: it takes the longer of both.
RowFunction exchange_row;
/// A generated task whose tables are placed by sharders and by the search, judged by our own simulation.
/// Columns task, nodes (empty: four GPUs of one), placements, seed. Gives predicted_first, fastest_sharder,
/// search, best and, of one simulation, cpu, all in s.
RowFunction placements_row;

}}  // namespace c3::studies
