#include "workloads/analysis/periodic_power.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "gpu/clock/governor.hpp"
#include "gpu/kernels/operator_class.hpp"
#include "workloads/analysis/steady_state.hpp"

namespace c3::inline workloads {
namespace {

constexpr double kLong = 3.0;  // times the averaging: of what a run began with 5 % is left

bool has_products(const Program& program) {
  return std::ranges::any_of(program.scripts, [](const Script& script) {
    return std::ranges::any_of(script.streams, [](const auto& operations) {
      return std::ranges::any_of(operations, [](const Operation& operation) {
        const Operator* op = kernel_of(operation);
        return op != nullptr && op->of_class().has_product;
      });
    });
  });
}

/// As few flows as tell its mean power. A fused collective follows the work groups of its kernel.
Experiment as_few_flows(const Experiment& experiment, const Strategy& strategy) {
  Experiment coarse = may_be_shortened(experiment) ? smallest(experiment) : experiment;
  const bool fuses = std::ranges::any_of(strategy.streams,
                                         [](const auto& its) { return its.second.backend == Backend::fused; });
  if (!fuses) coarse.measure.kernel_grain = coarse.measure.vector_grain = KernelGrain::fluid;
  if (coarse.measure.collective_grain == CollectiveGrain::edge)
    coarse.measure.collective_grain = CollectiveGrain::gang;
  return coarse;
}

/// What a run of \p its leads back to, if it was run at the speed that follows from its own mean.
PowerState after(const BoardPower& its, Seconds time, const GpuSpec& gpu) {
  if (time > kLong * gpu.governor.averaging) return its.end;
  const Watts limit = sustained_target(gpu);
  const double left = std::exp(-(time / gpu.governor.averaging));
  const Watts led_to = (1.0 / (1.0 - left)) * (its.end.mean - left * its.begin.mean);
  return {.mean = std::clamp(led_to, std::min(gpu.governor.idle, limit), limit),
          .speed = 1.0 / slowdown_to(gpu, its.means.at_boost, limit)};
}

}  // namespace

std::vector<PowerState> periodic_start(const Experiment& experiment, const Strategy& strategy,
                                       const RunSetup& setup) {
  const GpuSpec& gpu = experiment.cluster.gpu;
  if (!is_governed(gpu) || gpu.governor.state == ClockState::burst) return {};
  if (setup.filter == OperationFilter::collectives || !has_products(experiment.program)) return {};
  const Experiment coarse = as_few_flows(experiment, strategy);
  RunSetup passing = setup;
  passing.observer = nullptr;
  passing.launches = nullptr;
  passing.power.clear();
  constexpr int kPasses = 2;
  for (int pass = 0; pass < kPasses; ++pass) {
    const RunResult run = run_once(coarse, strategy, passing);
    std::vector<PowerState> states;
    for (const BoardPower& its : run.power)
      states.push_back(after(its, run.time, gpu));
    passing.power = std::move(states);
    const bool is_free =
        std::ranges::all_of(passing.power, [](const PowerState& its) { return its.speed >= 1.0; });
    if (is_free || run.time > kLong * gpu.governor.averaging) break;
  }
  return passing.power;
}

}  // namespace c3::workloads
