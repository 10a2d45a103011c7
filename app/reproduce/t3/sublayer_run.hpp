#pragma once
/// One sub-layer under every configuration of T3's study.

#include <array>
#include <cstdint>
#include <vector>

#include "workloads/experiment.hpp"

namespace c3 {

/// Bytes at one GPU's HBM.
struct HbmTraffic {
  double gemm_read = 0, gemm_written = 0;
  double reduce_read = 0, reduce_written = 0;
  double gather_read = 0, gather_written = 0;

  double total() const {
    return gemm_read + gemm_written + reduce_read + reduce_written + gather_read + gather_written;
  }
  double stored() const { return gemm_written + reduce_written; }
};

/// Of a sub-layer. Speedups are over `sequential`.
struct SublayerTimes {
  double gemm = 0, reduce = 0, gather = 0;  ///< [s] alone
  double reduce_in_memory = 0;  ///< [s] the reduce-scatter alone when memory makes its last addition
  double t3 = 0, t3_mca = 0;    ///< [s] of all three, fused
  double fused_gemm = 0;        ///< [s] of the GEMM in T3-MCA

  double sequential() const { return gemm + reduce + gather; }
  double ideal() const { return overlapped(reduce); }
  double ideal_in_memory() const { return overlapped(reduce_in_memory); }
  double speedup_t3() const { return sequential() / t3; }
  double speedup_t3_mca() const { return sequential() / t3_mca; }
  /// Whether the GEMM is what an overlapped reduce-scatter hides behind.
  bool is_gemm_bound() const { return gemm > reduce; }

  std::vector<double> values() const {
    return {gemm, reduce, gather, reduce_in_memory, t3, t3_mca, fused_gemm};
  }
  static SublayerTimes from(const std::vector<double>& values);

 private:
  double overlapped(double with) const;
};

/// Means over the seeds of \p experiment, which is as configs/experiments/t3/one.toml. \throws std::logic_error
/// for one without its streams and strategies; what run_once throws
SublayerTimes time_sublayer(const Experiment& experiment);

/// What the sequential configuration and T3-MCA move, counted in simulations in which every stream has its own
/// HBM.
std::array<HbmTraffic, 2> count_traffic(const Experiment& experiment);

/// Of the GEMM with \p cus CUs taken from it [s].
double gemm_without(const Experiment& experiment, int cus);

}  // namespace c3
