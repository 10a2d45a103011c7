#include "app/sweep/table_placement.hpp"

#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "workloads/execute/run.hpp"

namespace c3 { inline namespace app {
namespace {

std::string text_of(const ShardingChoice& choice) {
  constexpr double kMilli = 1e3;
  std::vector<std::string> sharders;
  for (const auto& [sharder, time] : choice.sharders)
    sharders.push_back(fmt::format("{} {:.3f} ms", name_of(sharder), time.value * kMilli));
  const std::string found_by =
      choice.found_by ? fmt::format("by {}", name_of(*choice.found_by)) : std::string("a neighbour of these");
  return fmt::format("shard: {} placements were simulated ({}); the fastest, {}, takes {:.3f} ms", choice.tried,
                     fmt::join(sharders, ", "), found_by, choice.time.value * kMilli);
}

}  // namespace

PlacedFile with_placed_tables(const ExperimentFile& file,
                              const std::function<void(std::size_t, std::size_t)>& progress) {
  const std::optional<ShardingTask> task = file.sharding();
  if (!task) return {.file = file};
  std::size_t done = 0;
  const ShardingChoice choice = best_placement(task->space, task->plan, [&](const Placement& placement) {
    const Experiment step = file.placed(placement).make(std::nullopt);
    if (progress) progress(done++, static_cast<std::size_t>(task->plan.placements));
    return run_once(step, step.strategies.front(), {}).time;
  });
  return {file.placed(choice.placement), choice.placement, text_of(choice)};
}

}}  // namespace c3::app
