#pragma once
/// Matrix products.

#include <array>
#include <cstdint>

#include "base/enum_names.hpp"
#include "gpu/kernels/operator.hpp"
#include "gpu/spec.hpp"

namespace c3::inline gpu {

/// Where a GEMM's loads come from.
enum class GemmTraffic : std::uint8_t {
  tiled,     ///< as its tiles share them, in L2 and in the LLC
  streamed,  ///< most of them from HBM, for reasons that its geometry does not show (StreamedSpec)
};
constexpr auto enum_names(GemmTraffic) {
  return std::to_array<EnumName<GemmTraffic>>(
      {{"tiled", GemmTraffic::tiled}, {"streamed", GemmTraffic::streamed}});
}

/// C[m,n] = A[m,k] B[k,n], per GPU; `batch` of them, each with operands of its own.
struct GemmShape {
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  DType dtype = DType::bf16;
  std::int64_t batch = 1;
  GemmTraffic traffic = GemmTraffic::tiled;

  bool operator==(const GemmShape&) const = default;
};

const OperatorClass& operator_class(const GemmShape& shape);

/// The two products of a product's backward pass: gradient of A[m,k] and gradient of B[k,n].
std::array<GemmShape, 2> backward(const GemmShape& forward);

}  // namespace c3::gpu
