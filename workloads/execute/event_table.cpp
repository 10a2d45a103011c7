#include "workloads/execute/event_table.hpp"

#include <fmt/format.h>

namespace c3::inline workloads {

EventTable::Entry& EventTable::entry(const std::string& name) {
  Entry& entry = entries_[name];
  if (!entry.event)
    entry.event = std::make_unique<Event>(simulation_, fmt::format("event '{}' of rank {}", name, rank_));
  return entry;
}

}  // namespace c3::workloads
