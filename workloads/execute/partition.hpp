#pragma once
/// CU masks of a strategy: which CUs of each XCD every stream may use.

#include <vector>

#include "workloads/experiment.hpp"

namespace c3 { inline namespace workloads {

/// CUs reserved for each stream, by stream; 0 = none.
using CuChoice = std::vector<int>;

/// Every combination of the values that the strategy's swept partitions take: powers of two times the mask
/// granule within each range. A strategy without sweep has exactly one.
std::vector<CuChoice> cu_choices(const Experiment& experiment, const Strategy& strategy);

/// An empty \p choice reserves none. Reserved CUs come first in each XCD, stream after stream; the others share
/// the rest, less what each leaves unused. \throws InfeasibleError when a mask is not a multiple of the
/// granule, more CUs are reserved than there are, or a stream that needs CUs gets none.
std::vector<CuRange> cu_ranges(const Experiment& experiment, const Strategy& strategy, const CuChoice& choice);

/// \returns the strategy's word on a stream, or the defaults.
StreamPolicy policy_of(const Strategy& strategy, const std::string& stream);

/// Whether operations of \p stream occupy CUs under \p policy.
bool uses_cus(const Program& program, std::size_t stream, const StreamPolicy& policy);

}}  // namespace c3::workloads
