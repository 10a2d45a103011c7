#pragma once

#include "gpu/spec.hpp"

namespace c3 { inline namespace gpu {

/// Registers of a CU that one work group of a kernel on matrix units holds, where it \p needs so many: all of
/// them where the library's kernels are persistent, as these have three warp groups of 168 registers a thread,
/// 63 of 64 Ki. Source: profiles of nvjet products and of cuDNN's attention on an H100
/// (studies/one_gpu/README.md).
inline Bytes held_registers(const GpuSpec& gpu, Bytes needs) {
  return gpu.library_kernels.gemm_own_tiles > 0 ? gpu.compute.registers_per_cu : needs;
}

}}  // namespace c3::gpu
