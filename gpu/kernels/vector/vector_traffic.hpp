#pragma once
/// Bytes of kernels without a matrix product.

#include "gpu/kernel.hpp"

namespace c3 { inline namespace gpu {

/// Bytes of one kernel whose tensors may be in the caches from the operator before, and which may go through
/// its rows again. What fits in the last cache is found there, and what is stored is overwritten there, as in a
/// loop of the kernel. Wrong when: other kernels have filled that cache since (too few loads), or write back
/// later what this one has left in it, of which no kernel's time has a part (too few stores).
class VectorTraffic final : public TrafficModel {
 public:
  struct Loads {
    Bytes once;            ///< of a work group, first pass
    Bytes again = {};      ///< of a work group, all later passes
    Bytes tensors;         ///< whole kernel, loads and stores
    Bytes row_cache = {};  ///< bytes that a resident work group wants kept for its later passes
    Bytes l1 = {};         ///< of a CU, that keeps them
    double l2_kept = 0;
    int work_groups_per_cu = 1;
    int l2_partitions = 1;
    double sharpness = 5;  ///< of a cache: VectorCoefficients::miss_sharpness
    bool cold = false;     ///< the last cache neither has the kernel's tensors nor keeps what it stores
  };
  explicit VectorTraffic(const Loads& loads) : loads_(loads) {}

  Traffic per_work_group(const CacheState& state) const override;

 private:
  double again_missed(const CacheState& state) const;

  Loads loads_;
};

}}  // namespace c3::gpu
