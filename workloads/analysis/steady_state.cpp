#include "workloads/analysis/steady_state.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "workloads/analysis/periodic_power.hpp"
#include "workloads/analysis/step_outline.hpp"

namespace c3 { inline namespace workloads {
namespace {

constexpr double kSteady = 0.01;  // of a period, by which the next may differ
constexpr int kLargerSteps = 3;   // that are tried after the smallest three

/// a + factor (a - b), of every time and count.
class Extrapolation {
 public:
  explicit Extrapolation(double factor) : factor_(factor) {}

  RunResult operator()(const RunResult& a, const RunResult& b) const {
    RunResult result = a;
    result.time = beyond(a.time, b.time);
    result.kernels = beyond(a.kernels, b.kernels);
    result.collectives = beyond(a.collectives, b.collectives);
    for (std::size_t i = 0; i < a.streams.size(); ++i)
      result.streams[i] = beyond(a.streams[i], b.streams[i]);
    // Whom ranks meet, which makes their classes, does not depend on how many layers there are.
    for (std::size_t i = 0; i < a.classes.size(); ++i)
      result.classes[i].times = beyond(a.classes[i].times, b.classes.at(i).times);
    result.averaged = {std::max(a.averaged.longer, beyond(a.averaged.longer, b.averaged.longer)),
                       std::max(a.averaged.shorter, beyond(a.averaged.shorter, b.averaged.shorter))};
    return result;
  }

 private:
  Seconds beyond(Seconds a, Seconds b) const { return a + factor_ * (a - b); }
  SideSpan beyond(const SideSpan& a, const SideSpan& b) const {
    return {a.release, a.release + beyond(a.duration(), b.duration()), a.any};
  }
  StepBreakdown beyond(const StepBreakdown& a, const StepBreakdown& b) const {
    StepBreakdown times{.kernels = beyond(a.kernels, b.kernels),
                        .communication = beyond(a.communication, b.communication),
                        .exposed = beyond(a.exposed, b.exposed),
                        .idle = beyond(a.idle, b.idle),
                        .bubble = beyond(a.bubble, b.bubble),
                        .classes = a.classes,
                        .exposed_by = a.exposed_by};
    for (ClassTime& its : times.classes) {
      const auto other = std::ranges::find(b.classes, its.name, &ClassTime::name);
      if (other == b.classes.end()) continue;
      its.time = beyond(its.time, other->time);
      its.count += factor_ * (its.count - other->count);
    }
    for (ExposedTime& its : times.exposed_by) {
      const auto other = std::ranges::find(b.exposed_by, its.kind, &ExposedTime::kind);
      if (other == b.exposed_by.end()) continue;
      its.time = beyond(its.time, other->time);
      its.waiting = beyond(its.waiting, other->waiting);
    }
    return times;
  }

  double factor_;
};

class SteadyState {
 public:
  SteadyState(ShorterSteps& steps, const Strategy& strategy, const RunSetup& setup, const SteadySizes& sizes)
      : steps_(steps),
        strategy_(strategy),
        setup_(setup),
        layers_(sizes.layers),
        micro_batches_(sizes.micro_batches) {}

  std::optional<RunResult> run() {
    if (!is_steady()) return std::nullopt;
    RunResult result = from_two(2);
    result.is_shortened = true;
    result.notes.push_back(note());
    widen(result);
    return result;
  }

  /// From the sizes at \p larger and before it.
  RunResult from_two(std::size_t larger) {
    RunResult result = of_micro_batches(micro_batches_.at(larger), larger);
    if (!micro_batches_.is_shortened()) return result;
    const RunResult smaller = of_micro_batches(micro_batches_.at(larger - 1), larger);
    return Extrapolation(micro_batches_.beyond(larger))(result, smaller);
  }

  SteadySizes sizes() const { return {layers_, micro_batches_}; }

 private:
  bool is_steady() {
    return finds_steady(layers_, [&](std::int64_t n) { return simulated(n, micro_batches_.last()).time; }) &&
           finds_steady(micro_batches_, [&](std::int64_t n) { return simulated(layers_.last(), n).time; });
  }

  /// Makes \p sizes larger until two periods take equal times. The first layers and the first micro-batches may
  /// fill what later ones find full.
  template <class TimeOf>
  static bool finds_steady(Sizes& sizes, TimeOf time_of) {
    const auto is_steady = [&] {
      const Seconds first = time_of(sizes.of[1]) - time_of(sizes.of[0]);
      const Seconds second = time_of(sizes.of[2]) - time_of(sizes.of[1]);
      return std::abs((second - first).value) <= kSteady * second.value;
    };
    for (int tried = 0; sizes.is_shortened(); ++tried) {
      if (is_steady()) return true;
      // A step of half of the whole costs, with those before it, as much as the whole.
      if (tried == kLargerSteps || 2 * sizes.larger().last() > sizes.whole) return false;
      sizes = sizes.larger();
    }
    return true;
  }

  RunResult of_micro_batches(std::int64_t count, std::size_t larger) {
    const RunResult& last = simulated(layers_.at(larger), count);
    if (!layers_.is_shortened()) return last;
    return Extrapolation(layers_.beyond(larger))(last, simulated(layers_.at(larger - 1), count));
  }

  const RunResult& simulated(std::int64_t layers, std::int64_t micro_batches) {
    const StepSize size{layers, micro_batches};
    auto found = runs_.find(size);
    if (found == runs_.end()) found = runs_.emplace(size, run_once(steps_.at(size), strategy_, setup_)).first;
    return found->second;
  }

  /// By how much the last two periods of \p sizes differ, for all that lie beyond.
  template <class TimeOf>
  Seconds drift(const Sizes& sizes, TimeOf time_of) const {
    if (!sizes.is_shortened()) return {};
    const Seconds last = time_of(sizes.of[2]) - time_of(sizes.of[1]);
    const Seconds before = time_of(sizes.of[1]) - time_of(sizes.of[0]);
    return Seconds{std::abs((last - before).value)} * sizes.beyond();
  }

  /// Periods may go on to differ as the last two did.
  void widen(RunResult& result) {
    const Seconds of_layers =
        drift(layers_, [&](std::int64_t n) { return simulated(n, micro_batches_.last()).time; });
    const Seconds of_batches =
        drift(micro_batches_, [&](std::int64_t n) { return simulated(layers_.last(), n).time; });
    const Seconds off = of_layers * (1.0 + micro_batches_.beyond()) + of_batches * (1.0 + layers_.beyond());
    const double of_ranks = result.estimate ? result.estimate->simulated : 1.0;
    const Seconds largest = simulated(layers_.last(), micro_batches_.last()).time;
    const std::string averaged = result.estimate ? ", " + result.estimate->method : std::string();
    result.estimate = Estimate{.low = result.time - result.averaged.shorter - off,
                               .high = result.time + result.averaged.longer + off,
                               .method = "steady state" + averaged,
                               .simulated = of_ranks * (largest / result.time)};
  }

  std::string note() const {
    return "steady state from " + part_text(layers_, micro_batches_) + " (--exact simulates all)";
  }

  ShorterSteps& steps_;
  const Strategy& strategy_;
  const RunSetup setup_;
  Sizes layers_, micro_batches_;
  std::map<StepSize, RunResult> runs_;
};

/// \p asked, with what runs of all sizes share.
RunSetup shared_setup(ShorterSteps& steps, const Strategy& strategy, const RunSetup& asked) {
  RunSetup setup = asked;
  if (!setup.corrections) setup.corrections = steps.corrections();
  if (setup.power.empty()) setup.power = periodic_start(steps.whole(), strategy, setup);
  return setup;
}

/// \param to_compare whether ComparedStep::from_two is wanted, which may take further runs
ComparedStep run_as(ShorterSteps& steps, const Strategy& strategy, const RunSetup& asked, bool to_compare) {
  const Experiment& experiment = steps.whole();
  const RunSetup setup = shared_setup(steps, strategy, asked);
  if (setup.observer != nullptr || !may_be_shortened(experiment))
    return {run_once(experiment, strategy, setup)};
  const ProgramFamily& family = *experiment.family;
  SteadyState steady(steps, strategy, setup, {layers_of(family), micro_batches_of(family)});
  if (std::optional<RunResult> result = steady.run()) {
    ComparedStep step{std::move(*result), steady.sizes()};
    if (to_compare) step.from_two = steady.from_two(1);
    return step;
  }
  RunResult whole = run_once(experiment.is_outline ? written_whole(experiment) : experiment, strategy, setup);
  whole.notes.emplace_back(
      "layers or micro-batches do not repeat in equal times: the whole step was simulated");
  return {std::move(whole)};
}

}  // namespace

RunResult run_step(const Experiment& experiment, const Strategy& strategy, const RunSetup& setup) {
  ShorterSteps steps(experiment);
  return run_step(steps, strategy, setup);
}

RunResult run_step(ShorterSteps& steps, const Strategy& strategy, const RunSetup& setup) {
  return run_as(steps, strategy, setup, false).run;
}

ComparedStep run_step_to_compare(ShorterSteps& steps, const Strategy& strategy, const RunSetup& setup) {
  return run_as(steps, strategy, setup, true);
}

RunResult run_variant(ShorterSteps& steps, const Strategy& strategy, const RunSetup& setup,
                      const SteadySizes& sizes) {
  return SteadyState(steps, strategy, shared_setup(steps, strategy, setup), sizes).from_two(1);
}

}}  // namespace c3::workloads
