#pragma once
/// How long a kernel takes with nothing beside it, in closed form: the same waves, caches and HBM as in a
/// simulation, without one. The fluid grain takes its bound from here, so that the two cannot drift apart.

#include <cstdint>

#include "engine/bound_law.hpp"
#include "gpu/kernel.hpp"
#include "gpu/spec.hpp"

namespace c3 { inline namespace gpu {

/// What a call costs before its first work group.
enum class LaunchCost {
  measured,  ///< one call alone, as its class was measured on the device, or by a host
  device,    ///< the GPU's launch latency: in a queue that is not empty, or replayed from a graph
};

/// What a kernel has of a GPU, and how it is called.
struct KernelSlice {
  int cus = 0;         ///< compute units, spread evenly over the XCDs; 0 = all
  double cache = 1.0;  ///< share of L2 and LLC, 0..1
  double hbm = 1.0;    ///< share of HBM bandwidth, > 0..1
  LaunchCost launch = LaunchCost::measured;
  CallCosts calls = {};  ///< of the host, with LaunchCost::measured
  bool cold = false;     ///< the caches hold nothing from the operator before

  bool operator==(const KernelSlice&) const = default;
};

/// How the work groups of a grid follow one another on the CUs.
struct Occupancy {
  std::int64_t resident = 1;  ///< work groups at once, whole GPU
  std::int64_t waves = 1;
  int sharing = 1;         ///< work groups that compute on the fullest CU
  int last_sharing = 1;    ///< the same in the last wave
  std::int64_t first = 1;  ///< work groups that begin at the start, whole GPU: nothing hides their first loads
  std::int64_t last = 1;   ///< work groups in the last wave, whole GPU

  bool operator==(const Occupancy&) const = default;
};

/// Work groups that the fullest CU computes one after another.
std::int64_t computed_in_turn(const Occupancy& occupancy);

/// Work groups that are left for the last of \p waves on \p slots.
std::int64_t work_groups_in_last(std::int64_t work_groups, std::int64_t slots, std::int64_t waves);

/// Occupancy of \p slots work groups at once, of which \p sharing are on one CU.
Occupancy occupancy(std::int64_t work_groups, std::int64_t slots, std::int64_t waves, int sharing);

/// From the first load to the last store, HBM permitting: a latency, the arithmetic of each wave and the loads
/// of what it adds to, then the slowest work group of the last wave or its stores. \param traffic those loads
/// included (with_added_to) \param slower how many times as long arithmetic takes at
/// speed 1 as at the kernel's clock. Wrong when: work groups of one CU hide each other's latency.
BoundLaw law_of_waves(const KernelDescription& kernel, const GpuSpec& gpu, const Traffic& traffic,
                      const Occupancy& occupancy, double slower = 1.0);

/// Time of two activities of each work group that overlap imperfectly: (a^p + b^p)^(1/p), p = kernel.overlap.
/// With p infinite the longer hides the other.
Seconds overlapped(Seconds a, Seconds b, double p);

struct KernelTime {
  Seconds time;    ///< from launch to the last store
  Seconds launch;  ///< part of `time`
  double waves = 1;
  Bytes l2;  ///< loads and stores, whole kernel
  Bytes hbm_read;
  Bytes hbm_write;
  Bytes found = {};  ///< loads that the caches still hold from the operator before: not in `hbm_read`
  Bytes kept = {};   ///< stores that stay in the caches: not in `hbm_write`
  Flops flops;       ///< useful ones
  Watts power = {};  ///< that a stream of it draws in the mean; 0: not known
};

/// Time of \p kernel alone on \p slice of \p gpu: launch, then the longer of its waves and its bytes at HBM,
/// L2, the XCDs' ports and the LLC, then its overhead. \throws InfeasibleError when a work group does not fit
/// or the slice is none of the GPU's.
KernelTime time_alone(const KernelDescription& kernel, const GpuSpec& gpu, const KernelSlice& slice = {});

/// Share of a CU's arithmetic that \p groups work groups of \p kernel use, 0..1, with nobody else on the CU:
/// less than all where latency, steps that wait for one another or HBM hold them up. \p cus is how many CUs the
/// kernel may use, \p slower the kernel's clock over the current clock. Wrong when: others take HBM bandwidth;
/// it then uses less than this.
double arithmetic_asked(const KernelDescription& kernel, const GpuSpec& gpu, const Traffic& traffic, int groups,
                        int cus, double slower = 1.0);

/// The plain roofline, to judge the model by: useful flops at peak or every operand once at peak HBM bandwidth,
/// whichever is longer. Nothing is lost and a call costs nothing.
/// Source: Williams, Waterman and Patterson, "Roofline", Communications of the ACM 52(4), 2009.
Seconds roofline(const KernelDescription& kernel, const GpuSpec& gpu);

}}  // namespace c3::gpu
