#include "workloads/traces/trace_error.hpp"

#include <fmt/format.h>

namespace c3 { inline namespace traces {

std::string at_place(const TracePlace& place, const std::string& what) {
  std::string text = place.file + ": ";
  if (place.rank) text += fmt::format("rank {}: ", *place.rank);
  if (place.event) text += fmt::format("event {}: ", *place.event);
  return text + what;
}

}}  // namespace c3::traces
