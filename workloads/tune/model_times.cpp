#include "workloads/tune/model_times.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "gpu/clock/governor.hpp"
#include "workloads/analysis/closed_form_times.hpp"
#include "workloads/analysis/lower_bound.hpp"
#include "workloads/analysis/study_bounds.hpp"
#include "workloads/execute/partition.hpp"
#include "workloads/tune/energy_bound.hpp"
#include "workloads/tune/least_times.hpp"
#include "workloads/tune/linked_ranks.hpp"

namespace c3 { inline namespace workloads {
namespace {

constexpr std::size_t kMostLinked = 1024;  ///< ranks; beyond them messages are not followed

/// Whether each stream has the fused backend.
std::vector<bool> fused_streams(const Program& program, const Strategy& strategy) {
  std::vector<bool> fused;
  for (const std::string& stream : program.streams)
    fused.push_back(policy_of(strategy, stream).backend == Backend::fused);
  return fused;
}
bool fuses(const Program& program, const Strategy& strategy) {
  const std::vector<bool> fused = fused_streams(program, strategy);
  return std::ranges::find(fused, true) != fused.end();
}

/// The first rank of each script.
std::vector<int> representatives(const Program& program) {
  std::vector<int> ranks;
  std::set<std::uint32_t> seen;
  for (const RankSpan& span : program.ranks)
    if (seen.insert(span.script).second) ranks.push_back(span.begin);
  return ranks.empty() ? std::vector<int>{0} : ranks;
}

Seconds sum_of(const std::vector<Seconds>& times) {
  Seconds sum;
  for (const Seconds time : times)
    sum += time;
  return sum;
}
Seconds sum_of(const OperationTimes& times) {
  Seconds sum;
  for (const std::vector<Seconds>& stream : times)
    sum += sum_of(stream);
  return sum;
}

/// All ranks that may be linked to others, one play of each kind.
std::vector<LinkedPlay> plays_of(const Program& program, const MessageTime& message_time) {
  std::vector<LinkedPlay> plays;
  std::set<int> covered;
  for (const int first : representatives(program)) {
    if (covered.contains(first)) continue;
    const std::vector<int> ranks = linked_ranks(program, first, kMostLinked);
    covered.insert(ranks.begin(), ranks.end());
    plays.emplace_back(program, ranks, message_time);
  }
  return plays;
}

/// Times of messages at the rate of links and NICs. \p cluster must outlive it.
MessageTime message_time(const ClusterSpec& cluster) {
  return [&cluster](Bytes bytes, int from, int to) {
    const bool in_node = from / cluster.node.gpus == to / cluster.node.gpus;
    return bytes / (in_node || !cluster.fabric ? rate_in_node(1, cluster) : rate_between_nodes(cluster));
  };
}

/// Time of the busiest thread of \p script's hosts.
Seconds host_time(const Script& script) {
  Seconds longest;
  if (!script.host) return longest;
  for (const HostThread& thread : script.host->threads) {
    Seconds sum;
    for (const HostStep& step : thread.steps)
      sum += step.cost;
    longest = std::max(longest, sum);
  }
  return longest;
}

/// Factor by which the power limit slows the kernels of a script, that of its most slowed stream; 1: not at
/// all.
double slowdown(const OperationTimes& lasts, const std::vector<Seconds>& under_limit) {
  double factor = 1.0;
  for (std::size_t stream = 0; stream < lasts.size(); ++stream) {
    const Seconds free = sum_of(lasts[stream]);
    if (free > Seconds{}) factor = std::max(factor, under_limit[stream] / free);
  }
  return factor;
}

/// CUs of each XCD that \p strategy leaves to every stream; empty where all have all of them. If the best
/// value of a partition is sought, takes one in the middle.
std::vector<int> cus_of_streams(const Experiment& experiment, const Strategy& strategy) {
  const bool divides = std::ranges::any_of(strategy.streams, [](const auto& stream_policy) {
    return stream_policy.second.cus.is_set() || stream_policy.second.reserve_cus > 0;
  });
  if (!divides) return {};
  const std::vector<CuChoice> choices = cu_choices(experiment, strategy);
  std::vector<int> cus;
  for (const CuRange& range : cu_ranges(experiment, strategy, choices[choices.size() / 2]))
    cus.push_back(range.size());
  return cus;
}

/// What operations take whatever the strategy, and which ranks wait for each other.
struct KernelTimes {
  std::vector<LinkedPlay> plays;
  std::vector<OperationTimes> lasts;              ///< by script, at least
  std::vector<std::vector<Seconds>> under_limit;  ///< by script and stream, under the power limit
  std::vector<ProductEnergy> energies;            ///< by script; empty where the GPU's power is not known
  std::vector<double> ranks;                      ///< by script, how many run it
  Seconds longest;                                ///< of all ranks, with communication in no time
};

KernelTimes kernel_times(const Experiment& experiment, std::vector<LinkedPlay> plays) {
  KernelTimes times;
  times.plays = std::move(plays);
  LeastTimes least(experiment);
  const GpuSpec& gpu = experiment.cluster.gpu;
  const bool has_power = is_governed(gpu);
  const bool is_hot = has_power && gpu.governor.state == ClockState::sustained;
  PowerLoads loads(gpu);
  times.ranks = ranks_by_script(experiment.program, experiment.cluster.ranks());
  for (const Script& script : experiment.program.scripts) {
    const OperationTimes& lasts = times.lasts.emplace_back(least.of(script));
    times.under_limit.push_back(is_hot ? power_bounds(script, lasts, gpu, loads)
                                       : std::vector<Seconds>(lasts.size()));
    if (has_power) times.energies.push_back(product_energy(script, gpu, loads));
  }
  for (const LinkedPlay& play : times.plays)
    times.longest = std::max(times.longest, play.time_without_messages(times.lasts));
  return times;
}

KernelTimes kernel_times(const Experiment& experiment) {
  return kernel_times(experiment, plays_of(experiment.program, message_time(experiment.cluster)));
}

/// Ranks by script for a program of one stage, whose other ranks run an empty script: as if these ran
/// those that are written.
std::vector<double> ranks_if_all_are_alike(const Program& program, std::vector<double> ranks) {
  double all = 0.0, written = 0.0;
  for (std::size_t script = 0; script < ranks.size(); ++script) {
    all += ranks[script];
    const bool is_written = std::ranges::any_of(program.scripts[script].streams,
                                                [](const auto& stream) { return !stream.empty(); });
    if (!is_written) ranks[script] = 0.0;
    written += ranks[script];
  }
  for (double& count : ranks)
    count *= all / written;
  return ranks;
}

/// What hardware allows at least, found once of strategies that fuse the same streams.
class HardwareBounds {
 public:
  explicit HardwareBounds(const Experiment& experiment) : experiment_(experiment) {}

  Seconds of(const Strategy& strategy) {
    const std::vector<bool> fused = fused_streams(experiment_.program, strategy);
    const auto [entry, is_new] = known_.try_emplace(fused);
    if (is_new) entry->second = lower_bound(experiment_, strategy);
    return workloads::of(strategy, entry->second);
  }

 private:
  const Experiment& experiment_;
  std::map<std::vector<bool>, LowerBound> known_;
};

/// Makes bound and estimate of one run from what its operations take.
class Modeller {
 public:
  /// \p kernels are those of \p experiment.
  Modeller(const Experiment& experiment, const Strategy& strategy, const KernelTimes& kernels)
      : experiment_(experiment), program_(experiment.program), strategy_(strategy), kernels_(kernels) {}

  /// \param hardware what it allows
  Seconds bound(Seconds hardware) const {
    if (fuses(program_, strategy_)) return hardware;
    Seconds bound = std::max(hardware, kernels_.longest);
    for (std::size_t script = 0; script < kernels_.lasts.size(); ++script) {
      if (strategy_.serial) bound = std::max(bound, sum_of(kernels_.lasts[script]));
      for (const Seconds under_limit : kernels_.under_limit[script])
        bound = std::max(bound, under_limit);
    }
    return bound;
  }

  Seconds estimate() const {
    std::vector<OperationTimes> lasts = kernels_.lasts;
    divide(lasts);
    ClosedFormTimes expected(experiment_, &strategy_);
    Seconds longest;
    for (std::size_t script = 0; script < lasts.size(); ++script) {
      const double slower = slowdown(kernels_.lasts[script], kernels_.under_limit[script]);
      for (std::size_t stream = 0; stream < lasts[script].size(); ++stream) {
        const std::vector<Operation>& operations = program_.scripts[script].streams[stream];
        for (std::size_t i = 0; i < operations.size(); ++i)
          lasts[script][stream][i] =
              communicates(operations[i]) ? expected.of(operations[i]) : slower * lasts[script][stream][i];
      }
      longest = std::max(longest, host_time(program_.scripts[script]));
      if (strategy_.serial) longest = std::max(longest, sum_of(lasts[script]));
    }
    for (const LinkedPlay& play : kernels_.plays)
      longest = std::max(longest, play.time(lasts));
    return longest;
  }

  /// Energy of all boards until \p time, with \p of_board for each.
  Joules energy(Joules (*of_board)(const GpuSpec&, const ProductEnergy&, Seconds), Seconds time) const {
    Joules sum;
    for (std::size_t script = 0; script < kernels_.energies.size(); ++script)
      sum += kernels_.ranks[script] * of_board(experiment_.cluster.gpu, kernels_.energies[script], time);
    return sum;
  }

 private:
  /// Kernels on the CUs that the strategy leaves them.
  void divide(std::vector<OperationTimes>& lasts) const {
    const std::vector<int> cus = cus_of_streams(experiment_, strategy_);
    for (std::size_t stream = 0; stream < cus.size(); ++stream) {
      const int all = experiment_.cluster.gpu.compute.cus_per_xcd;
      if (cus[stream] == 0 || cus[stream] == all) continue;
      LeastTimes least(experiment_, cus[stream]);
      for (std::size_t script = 0; script < lasts.size(); ++script) {
        std::vector<Seconds>& times = lasts[script][stream];
        for (std::size_t i = 0; i < times.size(); ++i)
          times[i] = std::max(times[i], least.of(program_.scripts[script].streams[stream][i]));
      }
    }
  }

  const Experiment& experiment_;
  const Program& program_;
  const Strategy& strategy_;
  const KernelTimes& kernels_;
};

}  // namespace

std::vector<ModelTimes> model_times(const Experiment& experiment, std::span<const Strategy> strategies) {
  const KernelTimes kernels = kernel_times(experiment);
  HardwareBounds hardware(experiment);
  std::vector<ModelTimes> times;
  for (const Strategy& strategy : strategies) {
    const Modeller modeller(experiment, strategy, kernels);
    const Seconds least = modeller.bound(hardware.of(strategy)), likely = modeller.estimate();
    times.push_back({.bound = least,
                     .estimate = likely,
                     .least_energy = modeller.energy(least_energy, least),
                     .likely_energy = modeller.energy(likely_energy, likely)});
  }
  return times;
}

std::vector<ModelTimes> stage_times(const Experiment& stage, std::span<const Strategy> strategies) {
  const auto written = static_cast<std::size_t>(std::ranges::find(stage.program.ranks, 0U, &RankSpan::script) -
                                                stage.program.ranks.begin());
  std::vector<LinkedPlay> alone;
  alone.emplace_back(stage.program, std::vector{stage.program.ranks.at(written).begin});
  const KernelTimes kernels = kernel_times(stage, std::move(alone));
  KernelTimes like_all = kernels;
  like_all.ranks = ranks_if_all_are_alike(stage.program, kernels.ranks);
  const double busy = 1.0 - stage.step->pipeline->bubble_share;
  std::vector<ModelTimes> times;
  for (const Strategy& strategy : strategies) {
    const Modeller modeller(stage, strategy, kernels);
    const Seconds least = modeller.bound(Seconds{}), likely = modeller.estimate() / busy;
    times.push_back({.bound = least,
                     .estimate = likely,
                     .least_energy = modeller.energy(least_energy, least),
                     .likely_energy = Modeller(stage, strategy, like_all).energy(likely_energy, likely)});
  }
  return times;
}

}}  // namespace c3::workloads
