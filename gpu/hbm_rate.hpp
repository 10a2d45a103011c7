#pragma once
/// How fast HBM alone serves reads and writes.

#include "engine/units.hpp"
#include "gpu/spec.hpp"

namespace c3 { inline namespace gpu {

/// HBM bandwidth for a mix of reads and writes: 1/C = (1-w)/read + w/write + 4w(1-w) t, with w the written
/// share of what was served last and t the turnaround that gives the measured 1:1 copy rate. Wrong when: banks
/// conflict more than in the measurements behind the three rates.
BytesPerSecond hbm_capacity(const HbmSpec& hbm, double written_share);

/// Fastest progress [1/s] that HBM alone allows work of these bytes; kUnbounded without any.
double hbm_rate_alone(const HbmSpec& hbm, Bytes read, Bytes written);

}}  // namespace c3::gpu
