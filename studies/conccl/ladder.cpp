#include "studies/conccl/ladder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <string>

#include "workloads/analysis/heuristics.hpp"
#include "workloads/analysis/lower_bound.hpp"

namespace c3 { inline namespace studies {
namespace {

constexpr double kLuck = 0.01;  // see Pruning

const Strategy& strategy_of(const Experiment& experiment, std::string_view name) {
  const auto found = std::ranges::find(experiment.strategies, name, &Strategy::name);
  if (found == experiment.strategies.end())
    throw std::logic_error(fmt::format("ladder: experiment '{}' has no strategy '{}'", experiment.name, name));
  return *found;
}

/// The strategy for a side by itself: no masks, and the algorithm that the other strategies have.
const Strategy& whole_gpu(const Experiment& experiment) { return strategy_of(experiment, "base"); }

/// CUs of the one stream that has a mask.
int cus_of(const CuChoice& choice) { return std::accumulate(choice.begin(), choice.end(), 0); }

/// Whether the two differ in nothing but the order of enqueuing. Under a mask each stream has CUs of its own,
/// so that neither waits for the other's work groups: the order of what is enqueued at one instant is then
/// nothing.
bool have_the_same_masks(const Strategy& a, const Strategy& b) {
  return a.streams == b.streams && a.serial == b.serial;
}

/// Whether any of \p rungs needs isolated times under masks.
bool has_masks(const RungSet& rungs) {
  return rungs.test(index_of(Rung::rp)) || rungs.test(index_of(Rung::rp_lookup)) ||
         rungs.test(index_of(Rung::sp_rp));
}

Seconds alone_on_whole_gpu(const Experiment& experiment, OperationFilter filter, std::uint64_t seed) {
  return run_once(experiment, whole_gpu(experiment), {.seed = seed, .filter = filter}).time;
}

/// The runs of one pair.
class PairLadder {
 public:
  PairLadder(const Experiment& experiment, const AloneTimes& kernel, std::uint64_t seed, const RungSet& rungs)
      : experiment_(experiment),
        kernel_(kernel),
        seed_(seed),
        rungs_(rungs),
        bound_(lower_bound(experiment).together()) {}

  LadderTimes run() {
    const AloneTimes collective =
        has_masks(rungs_)
            ? run_alone(experiment_, strategy_of(experiment_, "rp"), OperationFilter::collectives, seed_)
            : AloneTimes{.whole = alone_on_whole_gpu(experiment_, OperationFilter::collectives, seed_)};
    times_.kernel = kernel_.whole;
    times_.collective = collective.whole;
    run_unmasked();
    if (has_masks(rungs_)) run_masked(collective);
    return times_;
  }

 private:
  bool wants(Rung rung) const { return rungs_.test(index_of(rung)); }

  void put(Rung rung, const MaskedRun& run) {
    if (run.time < bound_)
      throw std::logic_error(fmt::format("ladder: '{}' of '{}' took {} s, less than its lower bound of {} s",
                                         name_of(rung), experiment_.name, run.time.value, bound_.value));
    if (!wants(rung)) return;
    times_.together[index_of(rung)] = run.time;
    times_.cus[index_of(rung)] = run.cus;
  }

  Seconds together(const Experiment& experiment, std::string_view strategy) const {
    return run_once(experiment, strategy_of(experiment, strategy), {.seed = seed_}).time;
  }

  MaskSweep masks(std::string_view strategy, const AloneTimes& collective) const {
    return sweep_masks(experiment_, strategy_of(experiment_, strategy), kernel_, collective, seed_);
  }

  void run_masked(const AloneTimes& collective) {
    const bool alike = have_the_same_masks(strategy_of(experiment_, "rp"), strategy_of(experiment_, "sp_rp"));
    std::optional<MaskSweep> rp;
    if (wants(Rung::rp) || wants(Rung::rp_lookup) || alike) {
      rp = masks("rp", collective);
      put(Rung::rp, rp->best);
      put(Rung::rp_lookup, rp->lookup);
    }
    if (wants(Rung::sp_rp)) put(Rung::sp_rp, alike ? rp->best : masks("sp_rp", collective).best);
  }

  void run_unmasked() {
    Seconds base, sp;
    const bool random = wants(Rung::base_random_order);
    if (random || wants(Rung::base)) put(Rung::base, {.time = base = together(experiment_, "base")});
    if (random || wants(Rung::sp)) put(Rung::sp, {.time = sp = together(experiment_, "sp")});
    // This policy is oldest first after a shuffle of what is launched at one instant: either order, evenly. Its
    // mean speedup is that of the harmonic mean of both times.
    if (random) put(Rung::base_random_order, {.time = Seconds{2.0 / (1.0 / base.value + 1.0 / sp.value)}});
    if (wants(Rung::base_round_robin)) {
      Experiment round_robin = experiment_;
      round_robin.cluster.gpu.dispatch.policy = DispatchPolicy::round_robin;
      put(Rung::base_round_robin, {.time = together(round_robin, "base")});
    }
    if (wants(Rung::conccl)) put(Rung::conccl, {.time = together(experiment_, "conccl")});
    if (wants(Rung::conccl_8)) put(Rung::conccl_8, {.time = together(experiment_, "conccl_8")});
  }

  const Experiment& experiment_;
  const AloneTimes& kernel_;
  std::uint64_t seed_;
  RungSet rungs_;
  Seconds bound_;
  LadderTimes times_;
};

}  // namespace

std::string_view name_of(Rung rung) {
  static constexpr std::array<std::string_view, kRungs.size()> kNames = {
      "base", "base_round_robin", "base_random_order", "sp", "rp", "rp_lookup", "sp_rp", "conccl", "conccl_8"};
  return kNames.at(index_of(rung));
}

RungSet rungs_of(std::span<const Rung> rungs) {
  RungSet set;
  for (const Rung rung : rungs)
    set.set(index_of(rung));
  return set;
}

AloneTimes run_alone(const Experiment& experiment, const Strategy& partitioned, OperationFilter filter,
                     std::uint64_t seed) {
  AloneTimes times{.whole = alone_on_whole_gpu(experiment, filter, seed)};
  for (const CuChoice& choice : cu_choices(experiment, partitioned))
    times.masked.push_back(
        run_once(experiment, partitioned, {.cus = choice, .seed = seed, .filter = filter}).time);
  return times;
}

MaskSweep sweep_masks(const Experiment& experiment, const Strategy& partitioned, const AloneTimes& kernel,
                      const AloneTimes& collective, std::uint64_t seed, Pruning pruning) {
  const std::vector<CuChoice> choices = cu_choices(experiment, partitioned);
  if (kernel.masked.size() != choices.size() || collective.masked.size() != choices.size())
    throw std::logic_error(fmt::format("ladder: strategy '{}' has {} masks, isolated times are of {} and {}",
                                       partitioned.name, choices.size(), kernel.masked.size(),
                                       collective.masked.size()));
  std::vector<Seconds> slower;
  std::ranges::transform(kernel.masked, collective.masked, std::back_inserter(slower),
                         [](Seconds a, Seconds b) { return std::max(a, b); });
  MaskSweep sweep;
  for (const std::size_t mask : by_isolated_times(kernel.masked, collective.masked)) {
    if (pruning != Pruning::none && sweep.runs > 0 && slower[mask] * (1.0 - kLuck) >= sweep.best.time) break;
    const MaskedRun run{.cus = cus_of(choices[mask]),
                        .time = run_once(experiment, partitioned, {.cus = choices[mask], .seed = seed}).time};
    if (sweep.runs == 0) sweep.lookup = run;
    if (sweep.runs == 0 || run.time < sweep.best.time) sweep.best = run;
    ++sweep.runs;
  }
  return sweep;
}

AloneTimes kernel_alone(const Experiment& experiment, std::uint64_t seed, const RungSet& rungs) {
  if (!has_masks(rungs)) return {.whole = alone_on_whole_gpu(experiment, OperationFilter::kernels, seed)};
  return run_alone(experiment, strategy_of(experiment, "rp"), OperationFilter::kernels, seed);
}

LadderTimes run_ladder(const Experiment& experiment, const AloneTimes& kernel, std::uint64_t seed,
                       const RungSet& rungs) {
  return PairLadder(experiment, kernel, seed, rungs).run();
}

}}  // namespace c3::studies
