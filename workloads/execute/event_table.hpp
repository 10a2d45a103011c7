#pragma once
/// The events that streams and hosts of one rank record and wait for.

#include <memory>
#include <vector>

#include "engine/event.hpp"
#include "workloads/program/program.hpp"

namespace c3::inline workloads {

/// Events of one rank by number, made at first mention.
class EventTable {
 public:
  /// \p program and \p script must outlive it.
  EventTable(Simulation& simulation, const Program& program, const Script& script, int rank)
      : simulation_(simulation),
        program_(program),
        script_(script),
        rank_(rank),
        entries_(script.events.size()) {}
  struct Entry {
    std::unique_ptr<Event> event;
    ActivityId recorded_after = kNoActivity;
  };
  Entry& entry(EventId number);

 private:
  Simulation& simulation_;
  const Program& program_;
  const Script& script_;
  int rank_;
  std::vector<Entry> entries_;
};

}  // namespace c3::workloads
