#include "workloads/analysis/run_clock.hpp"

#include <algorithm>

namespace c3 { inline namespace workloads {

std::optional<RunClock> clock_of(const RunResult& run) {
  if (run.power.empty()) return std::nullopt;
  const auto& slowest =
      *std::ranges::min_element(run.power, {}, [](const BoardPower& its) { return its.means.speed; });
  Joules energy;
  for (const BoardPower& its : run.power)
    energy += its.boards * (its.means.drawn * run.time);
  return RunClock{.speed = slowest.means.speed,
                  .mean = slowest.means.drawn,
                  .highest = std::max(slowest.means.highest, slowest.means.drawn),
                  .energy = energy};
}

}}  // namespace c3::workloads
