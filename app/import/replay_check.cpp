#include "app/import/replay_check.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "workloads/comparison/simulated_dates.hpp"

namespace c3 { inline namespace app {

ReplayCheck check_replay(const RecordedRun& run, Experiment experiment) {
  const SimulatedDates simulated = simulate(run, std::move(experiment));
  ReplayCheck check;
  std::vector<double> distances;  // us
  double lengths = 0.0;
  std::size_t steps = 0;
  for (std::size_t i = 0; i < run.ranks.size(); ++i) {
    const RecordedRank& rank = run.ranks[i];
    const double recorded = rank.length().microseconds();
    lengths += recorded;
    steps += std::max<std::size_t>(1, rank.steps.size());
    if (recorded > 0.0)
      check.step_error =
          std::max(check.step_error, std::abs(simulated.lengths[i].microseconds() - recorded) / recorded);
    for (std::size_t row = 0; row < rank.work.size(); ++row)
      distances.push_back(std::abs((simulated.work[i][row].start - rank.work[row].start).microseconds()));
  }
  if (distances.empty() || lengths <= 0.0) return check;
  std::ranges::sort(distances);
  const double step = lengths / static_cast<double>(steps);
  const auto share = [&](double quantile) {
    return distances[static_cast<std::size_t>(quantile * static_cast<double>(distances.size() - 1))] / step;
  };
  check.median = share(0.5);
  check.p95 = share(0.95);
  return check;
}

}}  // namespace c3::app
