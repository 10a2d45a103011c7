#pragma once
/// A kernel of which the time alone is known, not what it does: an estimate, or one line of a profile.

#include <array>
#include <cstdint>
#include <string>

#include "base/enum_names.hpp"
#include "engine/task.hpp"
#include "engine/units.hpp"

namespace c3 { inline namespace gpu {

class Gpu;
struct KernelLaunch;

/// What the time of a timed kernel holds.
enum class Timing : std::uint8_t {
  alone,   ///< what it takes with a GPU to itself
  in_situ  ///< what it took beside others, which it then never waits for again
};

/// Which units compute.
enum class Place : std::uint8_t {
  gpu,  ///< the GPU's: bytes leave the memory
  pim   ///< those inside the memory (PimSpec)
};
constexpr auto enum_names(Place) {
  return std::to_array<EnumName<Place>>({{"gpu", Place::gpu}, {"pim", Place::pim}});
}

struct TimedKernel {
  Seconds duration;  ///< > 0; of Timing::in_situ >= 0
  Bytes read = {};   ///< from HBM, spread evenly over its time; 0 of Timing::in_situ
  Bytes written = {};
  Timing timing = Timing::alone;
  Place place = Place::gpu;

  bool operator==(const TimedKernel&) const = default;
};

/// Runs \p kernel, called \p name. On a GPU that is stated to be slow it takes longer, as if all of it were
/// arithmetic. One that was timed alone also takes longer where others want the bandwidth of HBM that it needs;
/// one that was timed in situ does not, and takes nothing from others. Wrong when: others want its CUs, its
/// caches or its clock, of which it holds nothing. With Place::pim its bytes stay inside the memory: they take
/// command slots of HBM, no cache and no link.
Task run_timed_kernel(Gpu& gpu, std::string name, TimedKernel kernel, KernelLaunch launch);

}}  // namespace c3::gpu
