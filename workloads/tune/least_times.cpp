#include "workloads/tune/least_times.hpp"

#include "gpu/kernels/describe.hpp"
#include "gpu/kernels/operator_table.hpp"

namespace c3 { inline namespace workloads {
namespace {

ClusterSpec in_a_burst(ClusterSpec cluster, int cus_per_xcd) {
  cluster.gpu.governor.state = ClockState::burst;
  if (cus_per_xcd > 0) cluster.gpu.compute.cus_per_xcd = cus_per_xcd;
  return cluster;
}

}  // namespace

LeastTimes::LeastTimes(const Experiment& experiment, int cus_per_xcd)
    : experiment_(experiment),
      cluster_(in_a_burst(experiment.cluster, cus_per_xcd)),
      alone_(experiment.program, cluster_) {}

OperationTimes LeastTimes::of(const Script& script) {
  OperationTimes lasts;
  for (const std::vector<Operation>& stream : script.streams) {
    std::vector<Seconds>& times = lasts.emplace_back();
    for (const Operation& operation : stream)
      times.push_back(of(operation));
  }
  return lasts;
}

Seconds LeastTimes::of(const Operation& operation) {
  if (!computes(operation)) return {};
  const Operator* op = kernel_of(operation);
  const bool is_exact = op == nullptr || grain_of(experiment_.measure, *op) == KernelGrain::fluid;
  return (is_exact ? 1.0 : 1.0 - kCohortMargin) * alone_.of(operation);
}

std::optional<PowerLoad> PowerLoads::of(NameId name, const Operator& op) {
  return known_.of(name, op, [&] { return load_of(describe(name_of(op), op, gpu_)); });
}

/// At half of boost clock, below which no limit leads, all of its time that the clock scales is in it twice.
std::optional<PowerLoad> PowerLoads::load_of(KernelDescription kernel) const {
  if (kernel.energy.value <= 0.0) return std::nullopt;
  const Joules energy = static_cast<double>(kernel.work_groups) * kernel.energy;
  slow_down(kernel, 2.0);
  const Seconds slow = time_alone(kernel, gpu_, {.launch = LaunchCost::device}).time;
  return PowerLoad{0.5 * (1.0 - kCohortMargin) * (slow - gpu_.dispatch.launch_latency), energy};
}

std::vector<Seconds> power_bounds(const Script& script, const OperationTimes& lasts, const GpuSpec& gpu,
                                  PowerLoads& loads) {
  std::vector<Seconds> bounds;
  for (std::size_t stream = 0; stream < script.streams.size(); ++stream) {
    std::vector<PowerLoad> hot;
    Seconds others;
    for (std::size_t i = 0; i < script.streams[stream].size(); ++i) {
      const Operation& operation = script.streams[stream][i];
      const Operator* op = kernel_of(operation);
      const auto load = op == nullptr ? std::nullopt : loads.of(operation.name, *op);
      if (load) {
        hot.push_back(*load);
      } else {
        others += lasts[stream][i];
      }
    }
    bounds.push_back(hot.empty() ? Seconds{} : power_bound(gpu, hot, others));
  }
  return bounds;
}

}}  // namespace c3::workloads
