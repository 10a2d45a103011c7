#include "gpu/kernels/describe.hpp"

#include <algorithm>

#include "gpu/clock/governor.hpp"
#include "gpu/kernels/coefficient_table.hpp"
#include "gpu/kernels/operator_table.hpp"

namespace c3::inline gpu {
namespace {

/// Every time of the kernel but its launch, by a factor measured on this GPU.
void scale_times(KernelDescription& kernel, double factor) {
  kernel.compute_time = kernel.compute_time * factor;
  kernel.least_time = kernel.least_time * factor;
  kernel.overhead = kernel.overhead * factor;
  kernel.hbm_share /= factor;
}

}  // namespace

KernelDescription describe(std::string name, const Operator& op, const GpuSpec& gpu) {
  const OperatorClass& of = op.of_class();
  KernelDescription kernel = of.describe(op, std::move(name), gpu);
  if (of.coefficients != nullptr) {
    const double factor = scale_of(of.coefficients(op), gpu.kernels);
    if (factor != 1.0) scale_times(kernel, factor);
  }
  if (is_governed(gpu) && op.of_class().has_product) {
    const Watts power = power_of_stream(kernel, gpu);
    const bool hot = gpu.governor.state == ClockState::sustained;
    const double slower = hot ? sustained_slowdown(gpu, power) : burst_slowdown(gpu, power);
    slow_down(kernel, slower);
    kernel.power = power_when_slowed(gpu, power, slower);
  }
  return kernel;
}

// What vector units draw was never measured: they count as traffic alone.
Watts power_of_stream(const KernelDescription& kernel, const GpuSpec& gpu) {
  const KernelTime alone = time_alone(kernel, gpu, {.launch = LaunchCost::device});
  const auto& rates = gpu.compute.matrix;
  const auto vectors = std::ranges::find(rates, DType::fp32, &MatrixRate::dtype);
  const bool on_matrix_units = vectors == rates.end() || kernel.peak > vectors->peak;
  const FlopsPerSecond rate = on_matrix_units ? alone.flops / alone.time : FlopsPerSecond{};
  return power_at_boost(gpu, rate, kernel.peak, (alone.hbm_read + alone.hbm_write) / alone.time);
}

void slow_down(KernelDescription& kernel, double slower) {
  kernel.compute_time = kernel.compute_time * slower;
  kernel.least_time = kernel.least_time * slower;
  kernel.clock = kernel.clock / slower;
}

KernelTime time_of(const Operator& op, const GpuSpec& gpu, const KernelSlice& slice) {
  return time_alone(describe(name_of(op), op, gpu), gpu, slice);
}

}  // namespace c3::gpu
