#include "gpu/spec.hpp"

#include <algorithm>

#include "engine/errors.hpp"

namespace c3 { inline namespace gpu {

Bytes element_size(DType dtype) {
  switch (dtype) {
    case DType::bf16:
    case DType::fp16:
      return Bytes{2};
    case DType::fp8:
      return Bytes{1};
    case DType::fp32:
      return Bytes{4};
    case DType::fp4:
      return Bytes{0.5};
  }
  throw std::logic_error("element_size: unknown data type");
}

const MatrixRate& matrix_rate(const GpuSpec& gpu, DType dtype) {
  const auto& rates = gpu.compute.matrix;
  const auto found = std::ranges::find(rates, dtype, &MatrixRate::dtype);
  if (found == rates.end()) {
    throw InfeasibleError("gpu '" + gpu.name + "' has no matrix rate for " + std::string(name_of(dtype)));
  }
  return *found;
}

bool takes_any_layout(const GpuSpec& gpu, DType dtype) {
  if (element_size(dtype) >= element_size(DType::bf16)) return true;
  return dtype == DType::fp8 && gpu.family.matrix_operands == MatrixOperands::tensor_memory;
}

const MatrixRate& product_rate(const GpuSpec& gpu, DType dtype) {
  const MatrixRate& on_matrix_units = gpu.compute.fp32_matrix;
  return dtype == DType::fp32 && on_matrix_units.peak.value > 0.0 ? on_matrix_units : matrix_rate(gpu, dtype);
}

}}  // namespace c3::gpu
