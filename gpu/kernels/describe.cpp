#include "gpu/kernels/describe.hpp"

#include "gpu/clock/governor.hpp"
#include "gpu/kernels/coefficient_table.hpp"
#include "gpu/kernels/operator_table.hpp"

namespace c3 { inline namespace gpu {
namespace {

/// Every time of the kernel but its launch, by a factor measured on this GPU.
void scale_times(KernelDescription& kernel, double factor) {
  kernel.compute_time = kernel.compute_time * factor;
  kernel.least_time = kernel.least_time * factor;
  kernel.overhead = kernel.overhead * factor;
  kernel.hbm_share /= factor;
  for (std::vector<KernelPhase>* phases : {&kernel.before, &kernel.after}) {
    for (KernelPhase& phase : *phases) {
      phase.time = phase.time * factor;
      phase.hbm_share /= factor;
    }
  }
}

Watts power_of(const KernelDescription& kernel, const KernelTime& alone, const GpuSpec& gpu) {
  return power_at_boost(gpu, alone.flops / alone.time, kernel.flop_energy,
                        (alone.hbm_read + alone.hbm_write) / alone.time);
}

/// What every class's kernel is given: the GPU's factor of its coefficients, and what it draws.
KernelDescription on_this_gpu(KernelDescription kernel, const Operator& op, const GpuSpec& gpu) {
  const OperatorClass& of = op.of_class();
  if (of.coefficients != nullptr) {
    const double factor = scale_of(of.coefficients(op), gpu.kernels);
    if (factor != 1.0) scale_times(kernel, factor);
  }
  if (is_governed(gpu) && of.has_product()) {
    const KernelTime alone = time_alone(kernel, gpu, {.launch = LaunchCost::device});
    kernel.power = power_of(kernel, alone, gpu);
    const Watts traffic = power_at_boost(gpu, {}, 0.0, (alone.hbm_read + alone.hbm_write) / alone.time);
    kernel.energy = (1.0 / static_cast<double>(kernel.work_groups)) * ((kernel.power - traffic) * alone.time);
  }
  return kernel;
}

}  // namespace

KernelDescription describe(std::string name, const Operator& op, const GpuSpec& gpu) {
  return on_this_gpu(op.of_class().describe(op, std::move(name), gpu), op, gpu);
}

KernelDescription describe_tuned(std::string name, const Operator& op, const GpuSpec& gpu,
                                 const KernelSlice& slice) {
  const OperatorClass& of = op.of_class();
  if (of.describe_tuned == nullptr) return describe(std::move(name), op, gpu);
  return on_this_gpu(of.describe_tuned(op, std::move(name), gpu, slice), op, gpu);
}

Watts power_of_stream(const KernelDescription& kernel, const GpuSpec& gpu) {
  return power_of(kernel, time_alone(kernel, gpu, {.launch = LaunchCost::device}), gpu);
}

void slow_down(KernelDescription& kernel, double slower) {
  kernel.compute_time = kernel.compute_time * slower;
  kernel.least_time = kernel.least_time * slower;
  kernel.clock = kernel.clock / slower;
}

KernelTime time_of(const Operator& op, const GpuSpec& gpu, const KernelSlice& slice) {
  KernelDescription kernel = describe(name_of(op), op, gpu);
  if (kernel.power.value > 0.0) {
    const bool hot = gpu.governor.state == ClockState::sustained;
    const Watts power = power_on(gpu, kernel.power, slice.cus > 0 ? slice.cus : gpu.compute.cus());
    slow_down(kernel, hot ? sustained_slowdown(gpu, power) : burst_slowdown(gpu, power));
  }
  return time_alone(kernel, gpu, slice);
}

}}  // namespace c3::gpu
