#pragma once
/// In which order a strategy enqueues streams.

#include <cstddef>
#include <vector>

#include "workloads/experiment.hpp"

namespace c3 { inline namespace workloads {

/// Streams in the order in which \p strategy enqueues them at time 0; those it does not name come last.
/// \throws InfeasibleError for a name that no stream has
std::vector<std::size_t> enqueue_order(const Program& program, const Strategy& strategy);

}}  // namespace c3::workloads
