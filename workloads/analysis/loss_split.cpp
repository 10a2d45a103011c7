#include "workloads/analysis/loss_split.hpp"

#include <algorithm>
#include <bit>
#include <stdexcept>

#include "workloads/analysis/nearest_rank.hpp"
#include "workloads/analysis/periodic_power.hpp"
#include "workloads/analysis/steady_state.hpp"

namespace c3 { inline namespace workloads {
namespace {

Seconds& part_of(LossSplit& split, SharedResource resource) {
  switch (resource) {
    case SharedResource::dispatch:
      return split.dispatch;
    case SharedResource::cus:
      return split.cus;
    case SharedResource::cache:
      return split.cache;
    case SharedResource::hbm:
      return split.hbm;
    case SharedResource::links:
      return split.links;
  }
  throw std::logic_error("part_of: unknown resource");
}

double factorial(std::size_t n) { return n < 2 ? 1.0 : static_cast<double>(n) * factorial(n - 1); }

}  // namespace

std::vector<SharedResource> shared_resources(const Experiment& experiment, const Strategy& strategy) {
  int busy = 0, on_cus = 0, with_collectives = 0;
  bool reserves = false;
  const Program& program = experiment.program;
  for (std::size_t stream = 0; stream < program.streams.size(); ++stream) {
    const StreamPolicy policy = policy_of(strategy, program.streams[stream]);
    const StreamContent content = content_of(program, stream);
    busy += content.any ? 1 : 0;
    on_cus += uses_cus(program, stream, policy) ? 1 : 0;
    with_collectives += content.collectives ? 1 : 0;
    reserves = reserves || policy.reserve_cus > 0;
  }
  std::vector<SharedResource> shared;
  if (on_cus > 1) shared.push_back(SharedResource::dispatch);
  if (on_cus > 1 || reserves) shared.push_back(SharedResource::cus);
  if (busy > 1) shared.push_back(SharedResource::cache);
  if (busy > 1) shared.push_back(SharedResource::hbm);
  if (with_collectives > 1) shared.push_back(SharedResource::links);
  return shared;
}

std::size_t loss_split_runs(const Experiment& experiment, const Strategy& strategy) {
  return (std::size_t{1} << shared_resources(experiment, strategy).size()) - 1;
}

LossSplit split_loss(const Experiment& experiment, const Strategy& strategy, const CuChoice& cus,
                     std::span<const std::uint64_t> seeds, const LossBounds& bounds,
                     const std::function<void()>& ran) {
  const std::vector<SharedResource> players = shared_resources(experiment, strategy);
  const std::size_t subsets = std::size_t{1} << players.size();
  std::vector<Seconds> median_time(subsets);
  median_time.front() = bounds.together;
  for (std::size_t subset = 1; subset < subsets; ++subset) {
    Isolation isolation;
    for (std::size_t p = 0; p < players.size(); ++p) {
      if ((subset >> p & 1U) != 0) isolation = isolation.with(players[p]);
    }
    RunSetup setup{.cus = cus, .isolation = isolation};
    setup.power = periodic_start(experiment, strategy, setup);
    std::vector<Seconds> times;
    for (const std::uint64_t seed : seeds) {
      setup.seed = seed;
      times.push_back(run_step(experiment, strategy, setup).time);
      ran();
    }
    std::ranges::sort(times);
    median_time[subset] = times.at(nearest_rank(times.size(), 50));
  }
  LossSplit split;
  Seconds explained;
  for (std::size_t p = 0; p < players.size(); ++p) {
    const std::size_t own = std::size_t{1} << p;
    Seconds value;
    for (std::size_t subset = 0; subset < subsets; ++subset) {
      if ((subset & own) != 0) continue;
      const auto size = static_cast<std::size_t>(std::popcount(subset));
      const double orders = factorial(size) * factorial(players.size() - size - 1) / factorial(players.size());
      value += orders * (median_time[subset] - median_time[subset | own]);
    }
    part_of(split, players[p]) = value;
    explained += value;
  }
  split.interaction = bounds.together - bounds.ideal - explained;
  return split;
}

}}  // namespace c3::workloads
