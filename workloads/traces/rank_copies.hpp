#pragma once
/// \file
/// Ranks of one file: c3sim simulates ranks that do the same at the same time once, and writes one trace for
/// all.

#include <vector>

#include "workloads/traces/trace_event.hpp"

namespace c3 { inline namespace traces {

/// A trace for each rank for which \p trace stands, in the order of ranks; itself where that is only its own.
/// The collectives of each are in its own groups: that with the description of the group in the file, and the
/// rank in it. \throws TraceSetError for a group that the file does not describe or that no rank's counterpart
/// is of, and for more than 2 million kernels and copies in all
std::vector<Trace> traces_of_ranks(Trace trace);

}}  // namespace c3::traces
