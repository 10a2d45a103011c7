#pragma once
/// "cat" of events in JSON traces.

#include <optional>
#include <string_view>

#include "workloads/traces/trace_event.hpp"

namespace c3 { inline namespace traces {

/// Also of the spellings of 2021 (Kernel, Runtime, Operator). Nothing for categories that do not decide when
/// anything runs.
std::optional<EventKind> kind_of_category(std::string_view category);

}}  // namespace c3::traces
