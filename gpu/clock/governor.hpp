#pragma once
/// What a board's power limit makes of the clock of a stream of kernels.

#include "engine/units.hpp"
#include "gpu/spec.hpp"

namespace c3 { inline namespace gpu {

/// Part of the limit by which the mean power moves between two decisions of a governor.
inline constexpr double kGovernorBand = 0.01;

/// Whether the power of \p gpu is known, so that a burst and a sustained clock differ.
bool is_governed(const GpuSpec& gpu);

/// Mean power that the board may draw in the long run: its limit times GovernorSpec::settled, or the limit that
/// a measured level of this node implies, at which a product with all of \p gpu's 16-bit share settles at that
/// level. Source of the first: an H100 and an H200, streams of 2.5 s (studies/one_gpu). Wrong when: a stream
/// ends within the first second, in which the board allows more.
Watts power_limit(const GpuSpec& gpu);

/// What a run's governor leads the mean power to where it holds the clock (PowerGovernor): half a per cent
/// below the limit.
Watts sustained_target(const GpuSpec& gpu);

/// Energy of a flop of matrix products of \p dtype over that of 16 bits: a flop of half the bits takes half the
/// energy (assumed).
double flop_energy(DType dtype);

/// Mean power of a stream that computes at \p rate, a flop of which takes \p energy times that of a 16-bit
/// matrix product, and moves \p traffic at HBM, at boost clock: P = idle + flop_pj F energy + byte_pj B. Wrong
/// when: operands are not random (fewer bits toggle), links or copy engines draw much, or vector units compute.
Watts power_at_boost(const GpuSpec& gpu, FlopsPerSecond rate, double energy, BytesPerSecond traffic);

/// The same on \p cus CUs, each of which draws what it does where all of them draw \p on_all; 0 stays 0. Wrong
/// when: HBM is what feeds a part of the GPU as fast as the whole.
Watts power_on(const GpuSpec& gpu, Watts on_all, int cus);

/// How much longer arithmetic takes than at boost clock once the power of a stream has been averaged for long:
/// max(1, \p power / limit)^exponent.
double sustained_slowdown(const GpuSpec& gpu, Watts power);
/// The same with \p allowed in place of the limit.
double slowdown_to(const GpuSpec& gpu, Watts power, Watts allowed);

/// The same within the first milliseconds, before the mean counts: GovernorSpec::burst times the limit in its
/// place. No source describes such a limit on bursts. It was added, with 1.35, after fits of the given H100 and
/// B200 tables without it left large products too fast beside small ones. Wrong when: a board's regulator
/// answers faster than it averages, or voltage and not power holds a burst back.
double burst_slowdown(const GpuSpec& gpu, Watts power);

/// What a stream draws that would draw \p power at boost clock and takes \p slower times as long for its
/// arithmetic: the limit that made it so slow.
Watts power_when_slowed(const GpuSpec& gpu, Watts power, double slower);

/// When a stream that draws \p power from idle on reaches the limit: the mean over GovernorSpec::averaging
/// rises as an exponential. Infinite when it never does.
Seconds time_to_limit(const GpuSpec& gpu, Watts power);

/// How a time was measured: one kernel again and again from a GPU that was nearly idle.
struct Repeats {
  double before = 0;  ///< calls that were not timed
  double timed = 1;   ///< calls whose mean is the result
};

/// The mean time of one call that \p repeats measure: \p burst each until the limit is reached, \p sustained
/// from then on. Wrong when: the clock falls by steps rather than at once; calls have gaps.
Seconds measured_time(Seconds burst, Seconds sustained, Seconds to_limit, const Repeats& repeats);

}}  // namespace c3::gpu
