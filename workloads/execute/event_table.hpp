#pragma once
/// The events that streams and hosts record and wait for.

#include <map>
#include <memory>
#include <string>

#include "engine/event.hpp"

namespace c3::inline workloads {

/// Events of one rank by name, made at first mention.
class EventTable {
 public:
  EventTable(Simulation& simulation, int rank) : simulation_(simulation), rank_(rank) {}
  struct Entry {
    std::unique_ptr<Event> event;
    ActivityId recorded_after = kNoActivity;
  };
  Entry& entry(const std::string& name);

 private:
  Simulation& simulation_;
  int rank_;
  std::map<std::string, Entry> entries_;
};

}  // namespace c3::workloads
