#pragma once
/// The dates of a run's points by its graph alone.

#include <vector>

#include "workloads/traces/run_graph.hpp"

namespace c3 { inline namespace traces {

/// DependencyGraph::replay of \p run, the graph of \p ranks. \throws TraceSetError that names the events of a
/// ring: calls and GPU work that wait for each other
std::vector<Picoseconds> replayed_dates(const std::vector<Rank>& ranks, const RunGraph& run,
                                        const LagScales& scales = {});

}}  // namespace c3::traces
