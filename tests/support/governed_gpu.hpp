#pragma once
/// A GPU whose power is known in round numbers, and kernels of any power.

#include "tests/support/gpu_bench.hpp"

namespace c3::test {

/// 600 W, 100 W idle, 1 pJ a flop and a byte, a square root, 100 ms, 1.35 limits in a burst.
inline GovernorSpec round_governor() {
  using namespace literals;
  return {.board = Watts{600},
          .limit = Watts{600},
          .idle = Watts{100},
          .flop_pj = 1.0,
          .byte_pj = 1.0,
          .exponent = 0.5,
          .burst = 1.35,
          .averaging = 100.0_ms,
          .level = {},
          .state = ClockState::sustained};
}

/// round_gpu() under round_governor().
inline GpuSpec governed_gpu() {
  GpuSpec gpu = round_gpu();
  gpu.governor = round_governor();
  return gpu;
}

/// Eight work groups, one a CU, that together draw \p watts (>= 100) at boost clock while they compute for
/// \p seconds there, and load nothing.
inline KernelDescription hot_kernel(double watts, double seconds) {
  KernelDescription kernel = plain_kernel("hot", 8, Seconds{seconds});
  kernel.power = Watts{watts};
  kernel.energy = Joules{(watts - 100) * seconds / 8};
  return kernel;
}

}  // namespace c3::test
