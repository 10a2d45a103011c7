#include "workloads/execute/event_table.hpp"

#include <fmt/format.h>

namespace c3 { inline namespace workloads {

EventTable::Entry& EventTable::entry(EventId number) {
  Entry& entry = entries_[number];
  if (!entry.event) {
    const std::string& name = program_.names[script_.events[number]];
    entry.event = std::make_unique<Event>(simulation_, fmt::format("event '{}' of rank {}", name, rank_));
  }
  return entry;
}

void EventTable::record(EventId number, Seconds date, ActivityId after) {
  Entry& its = entry(number);
  its.date = date;
  its.recorded_after = after;
  its.event->set();
}

}}  // namespace c3::workloads
