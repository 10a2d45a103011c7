#pragma once
/// A stream that repeats the same kernels: its time at the boost clock, and at the clock that its power leaves.

#include <span>

#include "engine/units.hpp"
#include "gpu/kernel_time.hpp"
#include "gpu/kernels/operator.hpp"
#include "gpu/spec.hpp"

namespace c3 { inline namespace gpu {

struct GovernedTimes {
  Seconds burst;      ///< of all kernels once, at the boost clock
  Seconds sustained;  ///< the same once power has been averaged for long; `burst` where nothing slows
  Watts power;        ///< mean at the boost clock; 0: not known of this GPU
  Seconds to_limit;   ///< from idle until the limit is reached; infinite: never
};

/// Of \p operators one after another, again and again, on \p slice of \p gpu, whichever state \p gpu is in. All
/// of them slow down by the mean power of the stream, and only in their arithmetic. \throws InfeasibleError as
/// describe
GovernedTimes stream_times(std::span<const Operator> operators, const GpuSpec& gpu,
                           const KernelSlice& slice = {});

}}  // namespace c3::gpu
