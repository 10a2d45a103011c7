#pragma once
/// The dates of a rank's operations where each takes a given time, whatever runs beside it.

#include <vector>

#include "workloads/execute/step_breakdown.hpp"
#include "workloads/program/program.hpp"

namespace c3 { inline namespace workloads {

struct IsolatedSchedule {
  Seconds time;  ///< until the last operation ends
  StepBreakdown times;
};

/// Operations begin when those before them on their stream have ended and the events for which it waits are
/// recorded. \param lasts of each operation, by stream; of events 0. Wrong when: hosts are late, ranks differ,
/// or operations that run at the same time share the machine, which is what a simulation adds. \throws
/// std::invalid_argument where streams wait for one another in a circle
IsolatedSchedule schedule(const Program& program, const Script& script,
                          const std::vector<std::vector<Seconds>>& lasts);

}}  // namespace c3::workloads
