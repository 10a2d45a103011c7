#pragma once
/// GPU work that a trace says to run on while later work of its stream runs.

#include "workloads/traces/trace_event.hpp"

namespace c3 { inline namespace traces {

/// A stream runs what different calls launched one after the other. Work that ends after later work of its
/// stream has ended is cut where that work starts, and named in Trace::changed_durations. Kernels of one graph
/// launch may run side by side, and a kernel may begin before the end of the one before it (programmatic
/// dependent launch). Wrong when: the start of the later work is what was recorded wrongly.
void cut_impossible_durations(Trace& trace);

}}  // namespace c3::traces
