// How well placements of tables are chosen, judged by our own simulation and not by measured steps.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <ranges>
#include <string>
#include <utility>

#include "base/cpu_clock.hpp"
#include "configs/jobs/experiment_reader.hpp"
#include "engine/random.hpp"
#include "studies/dlrm/functions.hpp"
#include "workloads/execute/run.hpp"
#include "workloads/recommendation/recommendation_step.hpp"
#include "workloads/recommendation/sharding_search.hpp"

namespace c3 { inline namespace studies {
namespace {

/// A number from 0 to 1 that task, table and what is drawn decide.
double drawn(int task, int table, std::string_view what) {
  constexpr std::uint64_t kParts = 1 << 20;
  return static_cast<double>(stable_hash(fmt::format("{} {} {}", task, table, what)) % kParts) / kParts;
}

/// A task as Lin et al. generate them: 13 tables a rank, 0.7 to 1.3 times, whose rows and lookups are spread
/// over orders of magnitude; the lookups' mean is that of the 856 recorded tables, 8.3.
RecommendationJob task_of(int task, int ranks) {
  RecommendationJob job{.batch = std::int64_t{512} << (task % 4),
                        .bottom = {512, 256, 64},
                        .top = {512, 256, 1},
                        .update = RowUpdate::exact_rowwise_adagrad,
                        .input_rate = BytesPerSecond{8.1e9},
                        .pipeline = InputPipeline::three_stage};
  const int tables = static_cast<int>(13 * ranks * (0.7 + 0.6 * drawn(task, 0, "tables")));
  for (int table = 0; table < tables; ++table) {
    const double rows = std::pow(10.0, 4.0 + 2.5 * drawn(task, table, "rows"));
    const double lookups = std::exp(5.0 * std::pow(drawn(task, table, "lookups"), 2.0));  // 1 to 148
    job.tables.push_back({.name = fmt::format("table{}", table),
                          .rows = std::llround(rows),
                          .cols = 64,
                          .lookups = std::llround(lookups),
                          .reuse = ReuseProfile::dlrm_2021});
  }
  return job;
}

double simulated(const RecommendationJob& job, const ClusterSpec& cluster, const Placement& placement) {
  Experiment step;
  step.cluster = cluster;
  step.strategies.resize(1);
  step.measure.kernel_grain = step.measure.vector_grain = KernelGrain::fluid;
  step.program = recommendation_program(with_placement(job, placement), cluster);
  return run_once(step, step.strategies.front(), {}).time.value;
}

/// Times of the sharder of six that the bound takes, of the fastest of six, of the search's first placement
/// and of the best of all that were simulated.
std::map<std::string, double> times_of(const RecommendationJob& job, const ClusterSpec& cluster, int asked,
                                       std::uint64_t seed) {
  const PlacementSpace space = placement_space(job, cluster);
  const ShardingPlan plan{.placements = asked, .seed = seed};
  CpuClock clock;
  const ShardingChoice choice = best_placement(
      space, plan, [&](const Placement& placement) { return Seconds{simulated(job, cluster, placement)}; });
  const double cpu = clock.lap() / choice.tried;
  const auto time_of = [&](Sharder sharder) {
    return std::ranges::find(choice.sharders, sharder, &std::pair<Sharder, Seconds>::first)->second.value;
  };
  const auto bound_of = [&](Sharder sharder) { return least_time(space, place(space, sharder, seed)); };
  const Sharder predicted = std::ranges::min(kSharders, {}, bound_of);
  const double fastest = std::ranges::min(kSharders | std::views::transform(time_of));
  return {{"predicted_first", time_of(predicted)},
          {"fastest_sharder", fastest},
          {"search", time_of(Sharder::search)},
          {"best", choice.time.value},
          {"cpu", cpu}};
}

}  // namespace

NumberSource placements_row(const RowArguments& row) {
  constexpr std::int64_t kMost = 1'000'000;
  const auto nodes = row.find("nodes").empty() ? 0 : static_cast<int>(row.whole("nodes", kMost));
  const ClusterSpec cluster = nodes > 0
                                  ? load_cluster(SystemChoice{.system = "a100-sxm-40gb-8", .nodes = nodes})
                                  : load_cluster("a100-sxm-40gb-8", std::vector<std::string>{"+node.gpus=4"});
  const auto task = static_cast<int>(*number_in(row.text("task")));
  RecommendationJob job = task_of(task, cluster.ranks());
  if (nodes > 0) job.batch = std::int64_t{512} * cluster.ranks();
  const auto asked = static_cast<int>(row.whole("placements", kMost));
  const auto seed = static_cast<std::uint64_t>(*number_in(row.text("seed")));
  return [job, cluster, asked, seed] { return times_of(job, cluster, asked, seed); };
}

}}  // namespace c3::studies
