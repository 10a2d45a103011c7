#pragma once
/// What a kernel's time hangs on: the rate of its GPU that would save it most.

#include <array>

#include "base/enum_names.hpp"
#include "gpu/kernel_time.hpp"
#include "gpu/kernels/operator.hpp"
#include "gpu/spec.hpp"

namespace c3 { inline namespace gpu {

enum class KernelBound {
  compute,  ///< peaks of the matrix and vector units, at the same clock
  issue,    ///< the core clock: instructions, and what a CU loads from L2, stages and waits for in cycles
  l2,       ///< bandwidth of caches, ports and dies
  hbm,      ///< the memory's bandwidth
  latency,  ///< of memory: too little is in flight
  launch,   ///< what a call costs before its first work group
  power,    ///< the power limit of the board
};
constexpr auto enum_names(KernelBound) {
  return std::to_array<EnumName<KernelBound>>({{"compute", KernelBound::compute},
                                               {"issue", KernelBound::issue},
                                               {"l2", KernelBound::l2},
                                               {"hbm", KernelBound::hbm},
                                               {"latency", KernelBound::latency},
                                               {"launch", KernelBound::launch},
                                               {"power", KernelBound::power}});
}

/// \p gpu with what \p bound names \p factor times as fast, or as short. A launch is a call's as well as a
/// GPU's: KernelTime::launch of its kernels is to be divided.
GpuSpec with_faster(const GpuSpec& gpu, KernelBound bound, double factor);

/// Finds bounds of kernels on one GPU.
class BoundFinder {
 public:
  explicit BoundFinder(const GpuSpec& gpu);

  /// What saves \p op the most time on \p slice where it is 1.5 times as fast, with the kernel that is chosen
  /// then. \p time is its time as it is. \throws InfeasibleError as time_of
  KernelBound bound_of(const Operator& op, const KernelTime& time, const KernelSlice& slice = {}) const;

 private:
  std::array<GpuSpec, enum_values<KernelBound>().size()> faster_;  ///< by bound
};

}}  // namespace c3::gpu
