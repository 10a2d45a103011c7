#include "gpu/kernel_model/describe.hpp"

#include "gpu/kernel_model/attention.hpp"
#include "gpu/kernel_model/gemm.hpp"
#include "gpu/kernel_model/vector.hpp"

namespace c3 {

KernelDescription describe(std::string name, const Operator& op, const GpuSpec& gpu) {
  if (const auto* gemm = std::get_if<GemmShape>(&op)) return describe_gemm(std::move(name), *gemm, gpu);
  if (const auto* attention = std::get_if<AttentionShape>(&op)) {
    return describe_attention(std::move(name), *attention, gpu);
  }
  return describe_vector(std::move(name), std::get<VectorShape>(op), gpu);
}

KernelTime time_of(const Operator& op, const GpuSpec& gpu, const KernelSlice& slice) {
  return time_alone(describe(name_of(op), op, gpu), gpu, slice);
}

}  // namespace c3
