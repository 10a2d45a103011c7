#include "workloads/tune/model_bound.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <vector>

#include "gpu/clock/governor.hpp"
#include "gpu/kernels/describe.hpp"
#include "gpu/kernels/operator_table.hpp"
#include "workloads/analysis/lower_bound.hpp"
#include "workloads/analysis/operator_profile.hpp"
#include "workloads/analysis/study_bounds.hpp"
#include "workloads/execute/partition.hpp"
#include "workloads/tune/linked_ranks.hpp"
#include "workloads/tune/power_bound.hpp"

namespace c3::inline workloads {
namespace {

constexpr std::size_t kMostLinked = 1024;  ///< ranks; beyond them messages are not followed

ClusterSpec in_a_burst(ClusterSpec cluster) {
  cluster.gpu.governor.state = ClockState::burst;
  return cluster;
}

bool fuses(const Program& program, const Strategy& strategy) {
  return std::ranges::any_of(program.streams, [&](const std::string& stream) {
    return policy_of(strategy, stream).backend == Backend::fused;
  });
}

/// Least times of operations: communication takes none, unless somebody has recorded how long it lasts.
class LeastTimes {
 public:
  explicit LeastTimes(const Experiment& experiment)
      : experiment_(experiment),
        cluster_(in_a_burst(experiment.cluster)),
        alone_(experiment.program, cluster_) {}

  /// By stream and operation.
  std::vector<std::vector<Seconds>> of(const Script& script) {
    std::vector<std::vector<Seconds>> lasts;
    for (const std::vector<Operation>& stream : script.streams) {
      std::vector<Seconds>& its = lasts.emplace_back();
      for (const Operation& operation : stream)
        its.push_back(of(operation));
    }
    return lasts;
  }

 private:
  Seconds of(const Operation& operation) {
    if (!computes(operation)) return {};
    const Operator* op = kernel_of(operation);
    const bool is_exact = op == nullptr || grain_of(experiment_.measure, *op) == KernelGrain::fluid;
    return (is_exact ? 1.0 : 1.0 - kCohortMargin) * alone_.of(operation);
  }

  const Experiment& experiment_;
  ClusterSpec cluster_;
  IsolatedTimes alone_;
};

/// Of products at boost clock, each unlike one once.
class PowerLoads {
 public:
  explicit PowerLoads(const GpuSpec& gpu) : gpu_(gpu) {}

  /// Absent of a kernel whose power is not known.
  std::optional<PowerLoad> of(const Operator& op) {
    const auto known = std::ranges::find(known_, op, &Known::op);
    if (known != known_.end()) return known->load;
    known_.push_back({op, load_of(describe(name_of(op), op, gpu_))});
    return known_.back().load;
  }

 private:
  struct Known {
    Operator op;
    std::optional<PowerLoad> load;
  };

  /// At half of boost clock, below which no limit leads, all of its time that the clock scales is in it twice.
  std::optional<PowerLoad> load_of(KernelDescription kernel) const {
    if (kernel.energy.value <= 0.0) return std::nullopt;
    const Joules energy = static_cast<double>(kernel.work_groups) * kernel.energy;
    slow_down(kernel, 2.0);
    const Seconds slow = time_alone(kernel, gpu_, {.launch = LaunchCost::device}).time;
    return PowerLoad{0.5 * (1.0 - kCohortMargin) * (slow - gpu_.dispatch.launch_latency), energy};
  }

  const GpuSpec& gpu_;
  std::vector<Known> known_;
};

/// The longest of the streams of \p script under the power limit, each by itself. \param lasts by stream and
/// operation
Seconds power_bound_of(const Script& script, const std::vector<std::vector<Seconds>>& lasts, const GpuSpec& gpu,
                       PowerLoads& loads) {
  Seconds bound;
  for (std::size_t stream = 0; stream < script.streams.size(); ++stream) {
    std::vector<PowerLoad> hot;
    Seconds others;
    for (std::size_t i = 0; i < script.streams[stream].size(); ++i) {
      const Operator* op = kernel_of(script.streams[stream][i]);
      const auto load = op == nullptr ? std::nullopt : loads.of(*op);
      if (load) {
        hot.push_back(*load);
      } else {
        others += lasts[stream][i];
      }
    }
    if (!hot.empty()) bound = std::max(bound, power_bound(gpu, hot, others));
  }
  return bound;
}

/// The first rank of each script.
std::vector<int> representatives(const Program& program) {
  std::vector<int> ranks;
  std::set<std::uint32_t> seen;
  for (const RankSpan& span : program.ranks)
    if (seen.insert(span.script).second) ranks.push_back(span.begin);
  return ranks.empty() ? std::vector<int>{0} : ranks;
}

}  // namespace

Seconds model_bound(const Experiment& experiment, const Strategy& strategy) {
  const Program& program = experiment.program;
  Seconds bound = of(strategy, lower_bound(experiment, strategy));
  if (fuses(program, strategy)) return bound;
  LeastTimes least(experiment);
  const GpuSpec& gpu = experiment.cluster.gpu;
  const bool is_hot = is_governed(gpu) && gpu.governor.state == ClockState::sustained;
  PowerLoads loads(gpu);
  std::vector<std::vector<std::vector<Seconds>>> lasts;
  for (const Script& script : program.scripts) {
    lasts.push_back(least.of(script));
    Seconds in_turn;
    for (const std::vector<Seconds>& stream : lasts.back())
      for (const Seconds time : stream)
        in_turn += time;
    if (strategy.serial) bound = std::max(bound, in_turn);
    if (is_hot) bound = std::max(bound, power_bound_of(script, lasts.back(), gpu, loads));
  }
  std::set<int> covered;
  for (const int first : representatives(program)) {
    if (covered.contains(first)) continue;
    const std::vector<int> ranks = linked_ranks(program, first, kMostLinked);
    covered.insert(ranks.begin(), ranks.end());
    bound = std::max(bound, linked_time(program, ranks, lasts));
  }
  return bound;
}

}  // namespace c3::workloads
