#include "gpu/kernels/kernel_bound.hpp"

#include <cmath>

#include "gpu/kernels/describe.hpp"

namespace c3 { inline namespace gpu {
namespace {

constexpr double kFactor = 1.5;

template <class Change>
void change_rates(GpuSpec& gpu, const Change& change) {
  for (MatrixRate& rate : gpu.compute.matrix)
    change(rate);
  change(gpu.compute.fp32_matrix);
}

}  // namespace

GpuSpec with_faster(const GpuSpec& gpu, KernelBound bound, double factor) {
  GpuSpec faster = gpu;
  const auto raise = [factor](auto&... quantities) { ((quantities = factor * quantities), ...); };
  switch (bound) {
    case KernelBound::compute:
      change_rates(faster, [&](MatrixRate& rate) { raise(rate.peak, rate.sustained); });
      break;
    case KernelBound::issue:
      raise(faster.compute.boost_clock);
      change_rates(faster, [&](MatrixRate& rate) { raise(rate.clock, rate.peak_clock); });
      break;
    case KernelBound::l2:
      raise(faster.cache.l2_bandwidth, faster.cache.xcd_port_bandwidth, faster.cache.llc_bandwidth,
            faster.cache.fabric_bandwidth);
      break;
    case KernelBound::hbm:
      raise(faster.hbm.peak, faster.hbm.read, faster.hbm.write, faster.hbm.copy);
      break;
    case KernelBound::latency:
      faster.hbm.latency = faster.hbm.latency / factor;
      break;
    case KernelBound::launch:
      break;
    case KernelBound::power:
      raise(faster.governor.limit, faster.governor.board);
      // A level stands for the power at which products slow to it (power_limit).
      faster.governor.level = std::pow(factor, gpu.governor.exponent) * gpu.governor.level;
      break;
  }
  return faster;
}

BoundFinder::BoundFinder(const GpuSpec& gpu) {
  for (const KernelBound bound : enum_values<KernelBound>())
    faster_.at(static_cast<std::size_t>(bound)) = with_faster(gpu, bound, kFactor);
}

KernelBound BoundFinder::bound_of(const Operator& op, const KernelTime& time, const KernelSlice& slice) const {
  // A faster clock shortens launches, too; that is not what makes it a bound.
  const Seconds running = time.time - time.launch;
  KernelBound found = KernelBound::launch;
  Seconds most = time.launch - time.launch / kFactor;
  for (const KernelBound bound : enum_values<KernelBound>()) {
    if (bound == KernelBound::launch) continue;
    const KernelTime faster = time_of(op, faster_.at(static_cast<std::size_t>(bound)), slice);
    const Seconds saved = running - (faster.time - faster.launch);
    if (saved <= most) continue;
    most = saved;
    found = bound;
  }
  return found;
}

}}  // namespace c3::gpu
