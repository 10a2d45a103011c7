#include "gpu/kernels/describe.hpp"

#include "gpu/kernels/attention.hpp"
#include "gpu/kernels/gemm.hpp"
#include "gpu/kernels/vector.hpp"

namespace c3 {
namespace {

double scale_for(const Operator& op, const KernelCoefficients& coefficients) {
  if (const auto* gemm = std::get_if<GemmShape>(&op)) {
    return gemm->dtype == DType::fp32 ? coefficients.vector_gemm.scale : coefficients.matrix_gemm.scale;
  }
  return std::holds_alternative<AttentionShape>(op) ? coefficients.attention.scale : coefficients.vector.scale;
}

/// Every time of the kernel but its launch, by a factor measured on this GPU.
void scale_times(KernelDescription& kernel, double factor) {
  kernel.compute_time = kernel.compute_time * factor;
  kernel.least_time = kernel.least_time * factor;
  kernel.overhead = kernel.overhead * factor;
  kernel.hbm_share /= factor;
}

KernelDescription described(std::string name, const Operator& op, const GpuSpec& gpu) {
  if (const auto* gemm = std::get_if<GemmShape>(&op)) return describe_gemm(std::move(name), *gemm, gpu);
  if (const auto* attention = std::get_if<AttentionShape>(&op)) {
    return describe_attention(std::move(name), *attention, gpu);
  }
  return describe_vector(std::move(name), std::get<VectorShape>(op), gpu);
}

}  // namespace

KernelDescription describe(std::string name, const Operator& op, const GpuSpec& gpu) {
  KernelDescription kernel = described(std::move(name), op, gpu);
  const double factor = scale_for(op, gpu.kernels);
  if (factor != 1.0) scale_times(kernel, factor);
  return kernel;
}

KernelTime time_of(const Operator& op, const GpuSpec& gpu, const KernelSlice& slice) {
  return time_alone(describe(name_of(op), op, gpu), gpu, slice);
}

}  // namespace c3
