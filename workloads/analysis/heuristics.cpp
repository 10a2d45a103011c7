#include "workloads/analysis/heuristics.hpp"

#include <algorithm>
#include <numeric>

#include "collectives/library/channel_protocol.hpp"
#include "gpu/kernels/describe.hpp"
#include "workloads/analysis/nearest_rank.hpp"
#include "workloads/analysis/periodic_power.hpp"
#include "workloads/execute/collective_choice.hpp"
#include "workloads/execute/run.hpp"

namespace c3 { inline namespace workloads {
namespace {

/// A strategy with a partition, and what a table of isolated times says of it.
struct Partition {
  const Strategy* strategy = nullptr;
  CuChoice cus;
  Seconds kernel, collective;
};

bool divides_cus(const Strategy& strategy) {
  return std::ranges::any_of(strategy.streams, [](const auto& stream) {
    return stream.second.cus.is_set() || stream.second.reserve_cus > 0;
  });
}

/// Of a pair whose collectives are on channels.
bool is_on_cus(const Experiment& experiment, const Strategy& strategy, const StreamPair& pair) {
  const StreamPolicy policy = policy_of(strategy, experiment.program.streams[pair.collective]);
  return !strategy.serial && policy.backend == Backend::cu;
}

std::size_t first_in_order(const Experiment& experiment, const Strategy& strategy) {
  if (strategy.order.empty()) return 0;
  const auto found = std::ranges::find(experiment.program.streams, strategy.order.front());
  return static_cast<std::size_t>(found - experiment.program.streams.begin());
}

Seconds time_of_run(const Experiment& experiment, const Strategy& strategy, RunSetup setup) {
  setup.power = periodic_start(experiment, strategy, setup);
  return run_once(experiment, strategy, setup).time;
}

std::vector<Partition> partitions_of(const Experiment& experiment, const StreamPair& pair) {
  std::vector<Partition> partitions;
  for (const Strategy& strategy : experiment.strategies) {
    if (!is_on_cus(experiment, strategy, pair) || !divides_cus(strategy)) continue;
    for (const CuChoice& cus : cu_choices(experiment, strategy)) {
      const auto alone = [&](OperationFilter side) {
        return time_of_run(experiment, strategy, {.cus = cus, .filter = side});
      };
      partitions.push_back(
          {&strategy, cus, alone(OperationFilter::kernels), alone(OperationFilter::collectives)});
    }
  }
  return partitions;
}

std::vector<Experiment> experiments_of(const ExperimentFactory& make) {
  std::vector<Experiment> experiments = {make(std::nullopt)};
  const int draws = experiments.front().measure.draws;
  if (draws > 0) experiments.clear();
  for (int draw = 0; draw < draws; ++draw)
    experiments.push_back(make(static_cast<std::uint64_t>(draw)));
  return experiments;
}

/// Median over draws and seeds, as run_study's.
Seconds time_together(const ExperimentFactory& make, const std::string& name, const CuChoice& cus) {
  std::vector<Seconds> times;
  for (const Experiment& experiment : experiments_of(make)) {
    const auto strategy = std::ranges::find(experiment.strategies, name, &Strategy::name);
    for (int seed = 0; seed < experiment.measure.seeds; ++seed)
      times.push_back(
          time_of_run(experiment, *strategy, {.cus = cus, .seed = static_cast<std::uint64_t>(seed)}));
  }
  std::ranges::sort(times);
  return times[nearest_rank(times.size(), 50)];
}

const StrategyResult* result_of(std::span<const StrategyResult> results, const std::string& name) {
  const auto found = std::ranges::find(results, name, &StrategyResult::name);
  return found == results.end() ? nullptr : &*found;
}

std::optional<HeuristicPick> pick_by_work_groups(const Experiment& experiment, const StreamPair& pair,
                                                 std::span<const StrategyResult> results) {
  const std::optional<std::size_t> first = launched_first(experiment);
  if (!first) return std::nullopt;
  for (const Strategy& strategy : experiment.strategies) {
    const StrategyResult* const result = result_of(results, strategy.name);
    if (result == nullptr || !is_on_cus(experiment, strategy, pair) || divides_cus(strategy)) continue;
    if (first_in_order(experiment, strategy) == *first)
      return HeuristicPick{.rule = HeuristicRule::work_groups, .strategy = strategy.name, .time = result->time};
  }
  return std::nullopt;
}

std::optional<HeuristicPick> pick_by_isolated_times(const ExperimentFactory& make, const Experiment& experiment,
                                                    const StreamPair& pair,
                                                    std::span<const StrategyResult> results) {
  const std::vector<Partition> partitions = partitions_of(experiment, pair);
  if (partitions.empty()) return std::nullopt;
  std::vector<Seconds> kernel, collective;
  for (const Partition& partition : partitions) {
    kernel.push_back(partition.kernel);
    collective.push_back(partition.collective);
  }
  const Partition& best = partitions[by_isolated_times(kernel, collective).front()];
  const StrategyResult* const result = result_of(results, best.strategy->name);
  if (result == nullptr) return std::nullopt;
  const bool was_run = result->cus == best.cus;
  return HeuristicPick{.rule = HeuristicRule::isolated_times,
                       .strategy = best.strategy->name,
                       .cus = std::accumulate(best.cus.begin(), best.cus.end(), 0),
                       .time = was_run ? result->time : time_together(make, best.strategy->name, best.cus)};
}

}  // namespace

std::optional<StreamPair> pair_of(const Program& program) {
  if (program.streams.size() != 2) return std::nullopt;
  const StreamContent first = content_of(program, 0), second = content_of(program, 1);
  const bool is_pair = first.kernels != first.collectives && second.kernels != second.collectives &&
                       first.kernels != second.kernels;
  if (!is_pair) return std::nullopt;
  return first.kernels ? StreamPair{0, 1} : StreamPair{1, 0};
}

std::optional<std::size_t> launched_first(const Experiment& experiment) {
  const std::optional<StreamPair> pair = pair_of(experiment.program);
  if (!pair) return std::nullopt;
  const auto& kernels = experiment.program.script_of(0).streams[pair->kernel];
  const auto kernel =
      std::ranges::find_if(kernels, [](const Operation& each) { return kernel_of(each) != nullptr; });
  const auto call = std::ranges::find(experiment.program.calls, pair->collective, &Call::stream);
  if (kernel == kernels.end() || call == experiment.program.calls.end()) return std::nullopt;
  const CollectiveMethod method = method_of(call->what, {}, experiment.cluster);
  const std::int64_t channels = channels_of(experiment.cluster, call->what, method.algorithm);
  const std::int64_t tiles = describe("", *kernel_of(*kernel), experiment.cluster.gpu).work_groups;
  return channels < tiles ? pair->collective : pair->kernel;
}

std::vector<std::size_t> by_isolated_times(std::span<const Seconds> kernel,
                                           std::span<const Seconds> collective) {
  std::vector<std::size_t> order(kernel.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return std::max(kernel[i], collective[i]); });
  return order;
}

std::vector<HeuristicPick> heuristic_picks(const ExperimentFactory& make,
                                           std::span<const StrategyResult> results) {
  const Experiment experiment = make(std::nullopt);
  const std::optional<StreamPair> pair = pair_of(experiment.program);
  if (!pair || experiment.step) return {};
  std::vector<HeuristicPick> picks;
  for (std::optional<HeuristicPick> pick : {pick_by_work_groups(experiment, *pair, results),
                                            pick_by_isolated_times(make, experiment, *pair, results)}) {
    if (pick) picks.push_back(std::move(*pick));
  }
  return picks;
}

}}  // namespace c3::workloads
