#include "workloads/analysis/periodic_power.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <utility>

#include "gpu/clock/governor.hpp"
#include "gpu/kernels/operator_class.hpp"
#include "workloads/analysis/shorter_steps.hpp"

namespace c3 { inline namespace workloads {
namespace {

constexpr double kLong = 3.0;       // times the averaging: of what a run began with 5 % is left
constexpr double kForgotten = 5.0;  // of what ran before, 0.7 %

bool has_products(const Program& program) {
  return std::ranges::any_of(program.scripts, [](const Script& script) {
    return std::ranges::any_of(script.streams, [](const auto& operations) {
      return std::ranges::any_of(operations, [](const Operation& operation) {
        const Operator* op = kernel_of(operation);
        return op != nullptr && op->of_class().has_product();
      });
    });
  });
}

/// \p coarse with as few flows as tell its mean power. A fused collective follows the work groups of its
/// kernel.
Experiment with_few_flows(Experiment coarse, const Strategy& strategy) {
  const bool fuses = std::ranges::any_of(strategy.streams, [](const auto& stream_setting) {
    return stream_setting.second.backend == Backend::fused;
  });
  if (!fuses) coarse.measure.kernel_grain = coarse.measure.vector_grain = KernelGrain::fluid;
  if (coarse.measure.collective_grain == CollectiveGrain::edge)
    coarse.measure.collective_grain = CollectiveGrain::gang;
  return coarse;
}

/// \p experiment without a program, of which smaller steps can be written.
Experiment unwritten(const Experiment& experiment, SharedFamily family) {
  Experiment head{.name = experiment.name,
                  .cluster = experiment.cluster,
                  .program = {},
                  .strategies = experiment.strategies,
                  .measure = experiment.measure};
  head.family = std::move(family);
  return head;
}

/// \p step with so few micro-batches; absent where its author cannot write it.
std::optional<Experiment> of_micro_batches(const Experiment& step, std::int64_t count) {
  try {
    return resized(step, {step.family->size().layers, count});
  } catch (const std::invalid_argument&) {  // its schedule needs more
    return std::nullopt;
  }
}

/// A run of the step's last micro-batches, of as many as fill \p time and one more. Absent where that is all of
/// them, or where there are none.
std::optional<RunResult> run_of_end(const Experiment& step, const Strategy& strategy, const RunSetup& setup,
                                    Seconds time) {
  if (!step.family || step.measure.estimate != Estimator::steady) return std::nullopt;
  const ProgramFamily& family = *step.family;
  const std::int64_t whole = family.size().micro_batches, period = family.micro_batch_period();
  const double stages = static_cast<double>(family.stages());
  const auto at_least = [&](double fewest) {  // whole periods are left out
    const double left_out = std::max(0.0, static_cast<double>(whole) - std::ceil(fewest));
    return whole - static_cast<std::int64_t>(left_out / static_cast<double>(period)) * period;
  };
  for (std::int64_t count = at_least(2.0); count < whole;) {
    const std::optional<Experiment> end = of_micro_batches(step, count);
    if (!end) return std::nullopt;
    RunResult run = run_once(*end, strategy, setup);
    const Seconds of_one =
        run.time / (static_cast<double>(count) + stages - 1.0);  // the first passes all stages
    const std::int64_t needed = at_least(1.0 + time / of_one);
    if (needed <= count) return run;
    count = needed;
  }
  return std::nullopt;
}

std::vector<PowerState> ends_of(const RunResult& run) {
  std::vector<PowerState> states;
  for (const BoardPower& its : run.power)
    states.push_back(its.end);
  return states;
}

/// The state to which the run leads back while its clock is free; otherwise the state from which a second run
/// begins.
PowerState free_or_held(const BoardPower& its, Seconds time, const GpuSpec& gpu) {
  const Watts held = sustained_target(gpu);
  const double left = std::exp(-(time / gpu.governor.averaging));
  const Watts led_to = (1.0 / (1.0 - left)) * (its.end.mean - left * its.begin.mean);
  if (led_to < held) return {.mean = led_to, .speed = 1.0};
  return {.mean = held, .speed = 1.0 / slowdown_to(gpu, its.means.at_boost, held)};
}

/// The same of a run that began held: where its governor has led it, if it has acted.
PowerState held_or_led(const BoardPower& its, const GpuSpec& gpu) {
  if (its.end.speed != its.begin.speed) return its.end;
  return {.mean = its.end.mean, .speed = 1.0 / slowdown_to(gpu, its.means.at_boost, sustained_target(gpu))};
}

}  // namespace

bool heats_its_boards(const Experiment& experiment) {
  const GpuSpec& gpu = experiment.cluster.gpu;
  return is_governed(gpu) && gpu.governor.state != ClockState::burst && has_products(experiment.program);
}

std::vector<PowerState> periodic_start(const Experiment& experiment, const Strategy& strategy,
                                       const RunSetup& setup) {
  const GpuSpec& gpu = experiment.cluster.gpu;
  if (!heats_its_boards(experiment)) return {};
  if (setup.filter == OperationFilter::collectives) return {};
  const bool is_shortened = may_be_shortened(experiment);
  RunSetup passing = setup;
  passing.observer = nullptr;
  passing.launches = nullptr;
  passing.power.clear();
  passing.seed = 0;
  const SharedFamily family = is_shortened ? SharedFamily(smallest(*experiment.family)) : experiment.family;
  const Experiment head = with_few_flows(unwritten(experiment, family), strategy);
  if (const auto end = run_of_end(head, strategy, passing, kForgotten * gpu.governor.averaging))
    return ends_of(*end);
  const Experiment coarse = with_few_flows(is_shortened ? smallest(experiment) : experiment, strategy);
  const RunResult first = run_once(coarse, strategy, passing);
  if (first.time > kLong * gpu.governor.averaging) return ends_of(first);
  std::vector<PowerState> states;
  for (const BoardPower& its : first.power)
    states.push_back(free_or_held(its, first.time, gpu));
  if (std::ranges::all_of(states, [](const PowerState& its) { return its.speed >= 1.0; })) return states;
  passing.power = states;
  const RunResult second = run_once(coarse, strategy, passing);
  for (std::size_t i = 0; i < states.size(); ++i) {
    if (states[i].speed < 1.0) states[i] = held_or_led(second.power[i], gpu);
  }
  return states;
}

}}  // namespace c3::workloads
