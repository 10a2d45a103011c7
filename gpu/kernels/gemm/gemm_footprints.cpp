#include "gpu/kernels/gemm/gemm_footprints.hpp"

namespace c3 { inline namespace gpu {
namespace {

/// Of an operand that `outer` rows of m or n and k columns make, or the transpose.
Footprint step_of_k(const GemmShape& gemm, bool is_along, std::int64_t outer, Bytes element) {
  const auto k = static_cast<double>(gemm.k);
  if (is_along) return pieces(outer, static_cast<double>(kStepOfProduct), k, element);
  const auto whole = static_cast<double>(outer);
  return pieces(std::min(gemm.k, kStepOfProduct), whole, whole, element);
}

}  // namespace

std::array<TouchedTensor, 3> touched_by(const GemmShape& gemm) {
  const OperandSizes sizes = operand_sizes(gemm);
  const Bytes result = result_size(gemm);
  const auto count = static_cast<double>(gemm.batch);
  const auto tensor = [count](std::int64_t rows, std::int64_t columns, Bytes element) {
    return element * (count * static_cast<double>(rows) * static_cast<double>(columns));
  };
  const bool a_along = gemm.layout != GemmLayout::nt;
  const bool b_along = gemm.layout == GemmLayout::tn;
  return {{{"A", tensor(gemm.m, gemm.k, sizes.a), false, step_of_k(gemm, a_along, gemm.m, sizes.a)},
           {"B", tensor(gemm.k, gemm.n, sizes.b), false, step_of_k(gemm, b_along, gemm.n, sizes.b)},
           {"C", tensor(gemm.m, gemm.n, result), true,
            pieces(gemm.m, static_cast<double>(kColumnsOfTile), static_cast<double>(gemm.n), result)}}};
}

}}  // namespace c3::gpu
