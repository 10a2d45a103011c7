#pragma once
/// The events that streams and hosts of one rank record and wait for.

#include <memory>
#include <vector>

#include "engine/event.hpp"
#include "workloads/program/program.hpp"

namespace c3 { inline namespace workloads {

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
    Seconds date = {};  ///< of its record
    ActivityId recorded_after = kNoActivity;
  };
  Entry& entry(EventId number);
  /// \param after what was before it on its stream; a host thread has none
  void record(EventId number, Seconds date, ActivityId after = kNoActivity);

 private:
  Simulation& simulation_;
  const Program& program_;
  const Script& script_;
  int rank_;
  std::vector<Entry> entries_;
};

}}  // namespace c3::workloads
