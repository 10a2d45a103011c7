#pragma once
/// What a reader must know of a Kineto trace before the tables: doubts about what the file holds.

#include <string>
#include <vector>

#include "workloads/traces/trace_event.hpp"

namespace c3 { inline namespace app {

/// One line each: durations that cannot be and were changed, calls of several processes, no GPU work.
std::vector<std::string> notes_on(const Trace& trace);

}}  // namespace c3::app
