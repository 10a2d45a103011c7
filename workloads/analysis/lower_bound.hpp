#pragma once
/// What no simulation may beat: flops at peak, bytes at peak HBM and raw link rates.

#include "workloads/experiment.hpp"

namespace c3 { inline namespace workloads {

/// For the rank with most to do. Latencies are left out: they only make the bound lower.
struct LowerBound {
  Seconds kernels;      ///< every GEMM's flops at peak and compulsory bytes at peak HBM bandwidth
  Seconds collectives;  ///< bytes that leave or reach a rank over all its links at raw rate, and its HBM bytes
  Seconds hbm;          ///< compulsory bytes of both at peak HBM bandwidth
  Seconds serial;  ///< when no rank overlaps its kernels with its collectives; ranks may overlap each other

  Seconds together() const;  ///< when everything may overlap
};

/// With collectives that read and write what others have written.
LowerBound lower_bound(const Experiment& experiment);
/// Under \p strategy: what a fused collective stores at memory, its kernel does not, and it reads nothing that
/// must be read; nor does it wait for its kernel, so that `serial` is no more than together().
LowerBound lower_bound(const Experiment& experiment, const Strategy& strategy);

}}  // namespace c3::workloads
