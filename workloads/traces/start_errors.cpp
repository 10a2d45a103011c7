#include "workloads/traces/start_errors.hpp"

#include <algorithm>
#include <cmath>

namespace c3 { inline namespace traces {
namespace {

std::vector<Picoseconds> recorded_dates(const DependencyGraph& graph) {
  std::vector<Picoseconds> dates(graph.points());
  for (PointId point = 0; point < dates.size(); ++point)
    dates[point] = graph.recorded(point);
  return dates;
}

}  // namespace

Picoseconds step_length(const RankPoints& rank, const std::vector<Picoseconds>& dates) {
  if (rank.steps.empty()) return {};
  return dates[rank.steps.back().end] - dates[rank.steps.front().begin];
}

Picoseconds gpu_length(const RankPoints& rank, const std::vector<Picoseconds>& dates) {
  if (rank.steps.empty() || rank.ends.empty()) return {};
  Picoseconds last = dates[rank.ends.front()];
  for (const PointId end : rank.ends)
    last = std::max(last, dates[end]);
  return last - dates[rank.steps.front().begin];
}

StartErrors start_errors(const std::vector<Rank>& ranks, const RunGraph& run,
                         const std::vector<Picoseconds>& dates) {
  StartErrors errors;
  const std::vector<Picoseconds> recorded = recorded_dates(run.graph);
  std::vector<double> distances;
  double steps = 0.0;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    const RankPoints& points = run.ranks[rank];
    const StepLength length{.recorded = step_length(points, recorded), .replayed = step_length(points, dates)};
    errors.steps.push_back(length);
    errors.step += length.recorded;
    steps += static_cast<double>(std::max<std::size_t>(1, points.steps.size()));
    if (length.recorded.count > 0)
      errors.step_error =
          std::max(errors.step_error, std::abs(static_cast<double>((length.replayed - length.recorded).count)) /
                                          static_cast<double>(length.recorded.count));
    for (const PointId start : points.starts)
      distances.push_back(std::abs(static_cast<double>((dates[start] - recorded[start]).count)));
  }
  errors.step.count = std::llround(static_cast<double>(errors.step.count) / steps);
  if (distances.empty() || errors.step.count <= 0) return errors;
  std::ranges::sort(distances);
  const auto share = [&](double quantile) {
    const auto place = static_cast<std::size_t>(quantile * static_cast<double>(distances.size() - 1));
    return distances[place] / static_cast<double>(errors.step.count);
  };
  errors.median = share(0.5);
  errors.p95 = share(0.95);
  errors.worst = share(1.0);
  return errors;
}

}}  // namespace c3::traces
