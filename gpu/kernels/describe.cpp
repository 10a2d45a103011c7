#include "gpu/kernels/describe.hpp"

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
  if (of.coefficients == nullptr) return kernel;
  const double factor = scale_of(of.coefficients(op), gpu.kernels);
  if (factor != 1.0) scale_times(kernel, factor);
  return kernel;
}

KernelTime time_of(const Operator& op, const GpuSpec& gpu, const KernelSlice& slice) {
  return time_alone(describe(name_of(op), op, gpu), gpu, slice);
}

}  // namespace c3::gpu
