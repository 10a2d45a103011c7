#pragma once
/// One sub-layer under every configuration of T3's study.

#include <array>
#include <string_view>
#include <vector>

#include "workloads/experiment.hpp"

namespace c3 { inline namespace studies {

/// What an experiment must have to be run as a sub-layer.
inline constexpr std::array<std::string_view, 3> kT3Streams = {"layer", "reduce", "gather"};
inline constexpr std::array<std::string_view, 3> kT3Strategies = {"sequential", "t3", "t3_mca"};

/// Bytes at one GPU's HBM.
struct HbmTraffic {
  Bytes gemm_read, gemm_written;
  Bytes reduce_read, reduce_written;
  Bytes gather_read, gather_written;

  Bytes total() const {
    return gemm_read + gemm_written + reduce_read + reduce_written + gather_read + gather_written;
  }
  Bytes stored() const { return gemm_written + reduce_written; }
};

/// Times of a sub-layer. Speedups are over `sequential`.
struct SublayerTimes {
  Seconds gemm, reduce, gather;  ///< alone
  Seconds reduce_in_memory;      ///< the reduce-scatter alone when memory makes its last addition
  Seconds t3, t3_mca;            ///< of all three, fused
  Seconds fused_gemm;            ///< of the GEMM in T3-MCA

  Seconds sequential() const { return gemm + reduce + gather; }
  double ideal() const { return overlapped(reduce); }
  double ideal_in_memory() const { return overlapped(reduce_in_memory); }
  double speedup_t3() const { return sequential() / t3; }
  double speedup_t3_mca() const { return sequential() / t3_mca; }
  /// Whether the GEMM is what an overlapped reduce-scatter hides behind.
  bool is_gemm_bound() const { return gemm > reduce; }

  /// values() gives the times in seconds, from() reads them back.
  std::vector<double> values() const;
  static SublayerTimes from(const std::vector<double>& values);

 private:
  double overlapped(Seconds with) const;
};

/// Means over the seeds of \p experiment, which is as studies/t3/one.toml. \throws std::logic_error
/// for one without its streams and strategies; what run_once throws
SublayerTimes time_sublayer(const Experiment& experiment);

/// What the sequential configuration and T3-MCA move, counted in simulations in which every stream has its own
/// HBM.
std::array<HbmTraffic, 2> count_traffic(const Experiment& experiment);

/// Time of the GEMM with \p cus CUs taken from it.
Seconds gemm_without(const Experiment& experiment, int cus);

}}  // namespace c3::studies
