#include "gpu/kernel_model/describe.hpp"

#include "engine/errors.hpp"
#include "gpu/kernel_model/gemm.hpp"

namespace c3 {

KernelDescription describe(std::string name, const Operator& op, const GpuSpec& gpu) {
  if (const auto* gemm = std::get_if<GemmShape>(&op)) return describe_gemm(std::move(name), *gemm, gpu);
  throw InfeasibleError("no model of this class yet");
}

KernelTime time_of(const Operator& op, const GpuSpec& gpu, const KernelSlice& slice) {
  return time_alone(describe(name_of(op), op, gpu), gpu, slice);
}

}  // namespace c3
