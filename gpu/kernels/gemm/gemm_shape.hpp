#pragma once
/// Matrix products.

#include <array>
#include <cstdint>

#include "base/enum_names.hpp"
#include "gpu/kernels/operator.hpp"
#include "gpu/spec.hpp"

namespace c3 { inline namespace gpu {

/// Where a GEMM's loads come from.
enum class GemmTraffic : std::uint8_t {
  tiled,     ///< as its tiles share them, in L2 and in the LLC
  streamed,  ///< most of them from HBM, for reasons that its geometry does not show (StreamedSpec)
};
constexpr auto enum_names(GemmTraffic) {
  return std::to_array<EnumName<GemmTraffic>>(
      {{"tiled", GemmTraffic::tiled}, {"streamed", GemmTraffic::streamed}});
}

/// How A[m,k] and B[k,n] lie in memory, in the words of BLAS: which of them the kernel reads along k (T for A,
/// N for B), as a linear layer's weights and activations do forward.
enum class GemmLayout : std::uint8_t {
  tn,  ///< forward: rows of both run along k
  nn,  ///< gradient of the activations: B is the weight as it lies
  nt,  ///< gradient of the weights: both run across k
};
constexpr auto enum_names(GemmLayout) {
  return std::to_array<EnumName<GemmLayout>>(
      {{"tn", GemmLayout::tn}, {"nn", GemmLayout::nn}, {"nt", GemmLayout::nt}});
}

/// What shares a scale among the operands of an fp8 or fp4 product.
enum class GemmScales : std::uint8_t {
  tensor,  ///< a whole operand, or a row of A and a column of B: applied once to each result
  block,   ///< 128 of k: fp32, of one row of A, and of 128 columns of B
  mx,      ///< 32 of k: 8-bit exponents, of one row of A and of one column of B
  nv,      ///< 16 of k: 8-bit numbers, likewise, on fp4; with one more scale for a whole operand
};
constexpr auto enum_names(GemmScales) {
  return std::to_array<EnumName<GemmScales>>({{"tensor", GemmScales::tensor},
                                              {"block", GemmScales::block},
                                              {"mx", GemmScales::mx},
                                              {"nv", GemmScales::nv}});
}

/// What a product does with its results, which it has in fp32.
enum class GemmResult : std::uint8_t {
  rounded,     ///< stores them in the operands' type, or in 16 bits
  fp32,        ///< stores them as they are
  added,       ///< adds them to what memory has, as `rounded` (beta = 1)
  added_fp32,  ///< the same, as `fp32`: gradients of weights over micro-batches
};
constexpr auto enum_names(GemmResult) {
  return std::to_array<EnumName<GemmResult>>({{"rounded", GemmResult::rounded},
                                              {"fp32", GemmResult::fp32},
                                              {"added", GemmResult::added},
                                              {"added_fp32", GemmResult::added_fp32}});
}

/// C[m,n] = A[m,k] B[k,n], per GPU; `batch` of them, each with operands of its own.
struct GemmShape {
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  DType dtype = DType::bf16;
  std::int64_t batch = 1;
  GemmTraffic traffic = GemmTraffic::tiled;
  GemmLayout layout = GemmLayout::tn;
  WarmOperands warm = WarmOperands::none;
  GemmScales scales = GemmScales::tensor;
  GemmResult result = GemmResult::rounded;

  bool operator==(const GemmShape&) const = default;
};

const OperatorClass& operator_class(const GemmShape& shape);

/// Mean bytes of an element of A and of B, their scales included.
struct OperandSizes {
  Bytes a, b;
};
OperandSizes operand_sizes(const GemmShape& shape);

/// Bytes of an element of C where results are rounded: products of fp8 and fp4 give 16-bit results, as the
/// libraries' kernels do by default.
Bytes result_size(DType dtype);
/// Bytes of an element of C.
Bytes result_size(const GemmShape& shape);
/// Whether C is read, too.
bool adds(GemmResult result);

/// Elements of k that share a scale inside the loop over k; 0: none do.
std::int64_t scaled_together(GemmScales scales);

/// The two products of a product's backward pass: gradient of A[m,k] and gradient of B[k,n].
std::array<GemmShape, 2> backward(const GemmShape& forward);

}}  // namespace c3::gpu
