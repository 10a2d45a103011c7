#pragma once
/// What configs/kernels/FAMILY.toml says of families, for tests that need no file.

#include "gpu/spec.hpp"

namespace c3::test {

inline FamilySpec pascal() {
  return {
      .name = "pascal", .gemm_order = GemmOrder::blocks, .l1_keeps_loads = false, .tuned_as = TunedGpu::volta};
}
inline FamilySpec volta() {
  return {.name = "volta", .gemm_order = GemmOrder::blocks, .tuned_as = TunedGpu::volta};
}
inline FamilySpec turing() {
  return {.name = "turing", .gemm_order = GemmOrder::blocks, .tuned_as = TunedGpu::volta};
}
inline FamilySpec ampere() {
  return {.name = "ampere", .gemm_order = GemmOrder::blocks, .tuned_as = TunedGpu::ampere};
}
inline FamilySpec hopper() {
  return {.name = "hopper",
          .matrix_operands = MatrixOperands::shared_memory,
          .gemm_order = GemmOrder::blocks,
          .tuned_as = TunedGpu::hopper};
}
inline FamilySpec blackwell() {
  return {.name = "blackwell",
          .matrix_operands = MatrixOperands::tensor_memory,
          .gemm_order = GemmOrder::blocks,
          .tuned_as = TunedGpu::blackwell};
}
inline FamilySpec cdna2() {
  return {.name = "cdna2", .gemm_order = GemmOrder::columns, .issue_lanes = 64, .tuned_as = TunedGpu::mi250x};
}
inline FamilySpec cdna3() {
  return {.name = "cdna3", .gemm_order = GemmOrder::columns, .issue_lanes = 64, .tuned_as = TunedGpu::mi300x};
}

}  // namespace c3::test
