#pragma once
/// A compute kernel, described by what it does and not by how long it takes, so that it can be re-timed with
/// fewer CUs, less cache and less bandwidth.

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "engine/units.hpp"
#include "gpu/call_costs.hpp"
#include "gpu/channels/footprint.hpp"
#include "gpu/spec.hpp"
#include "gpu/waves.hpp"

namespace c3 { inline namespace gpu {

/// What one work group occupies on its CU while it is resident.
struct WorkGroupNeeds {
  Bytes lds;
  Bytes registers;
  int waves = 1;
  bool computes = true;  ///< shares the CU's arithmetic with its neighbours; false for copies
};

/// How many such work groups one empty CU holds. \throws InfeasibleError naming the kernel when it holds none.
int work_groups_per_cu(const ComputeSpec& compute, const WorkGroupNeeds& needs, const std::string& kernel);

/// What a kernel finds in the memory system when some of its work groups are dispatched.
struct CacheState {
  std::int64_t resident = 1;  ///< work groups of the kernel that run at once, whole GPU
  int xcds = 1;
  Bytes l2_size;                ///< per XCD
  Bytes llc_size;               ///< whole GPU
  BytesPerSecond l2_intruder;   ///< insertions of others into one XCD's L2
  BytesPerSecond llc_intruder;  ///< insertions of others into the LLC
  Seconds work_group_time;      ///< of one work group
  Replacement replacement = Replacement::random;
  bool stores_bypass = false;  ///< the kernel's own stores are not inserted into the caches
  bool cold = false;           ///< the caches hold nothing from the operator before
  double cus_taken = 0.0;  ///< share of the GPU's CUs that the kernel cannot have: masked, or held by copies
  friend bool operator==(const CacheState&, const CacheState&) = default;
};

/// Mean bytes of one work group at each level, loads only; stores are KernelDescription::output.
struct Traffic {
  Bytes l2;          ///< requested from L2
  Bytes llc;         ///< missed L2: through the XCD's port
  Bytes hbm;         ///< missed the LLC
  Bytes found = {};  ///< of an input that the caches still hold from the operator before: not in `hbm`
  double stores_to_hbm = 1.0;  ///< share of the stores that leave the caches before they are written again

  /// Loads of \p count work groups.
  friend Traffic operator*(double count, const Traffic& of_one) {
    return {count * of_one.l2, count * of_one.llc, count * of_one.hbm, count * of_one.found,
            of_one.stores_to_hbm};
  }
};

/// Loads of a kernel as a function of how much runs at once and of the cache left to it.
class TrafficModel {
 public:
  virtual ~TrafficModel() = default;
  virtual Traffic per_work_group(const CacheState& state) const = 0;
};

/// A kernel that a call launches before or after its main one, and that computes next to nothing: it clears,
/// transposes or transforms tensors. Simulated as one flow, which takes `time` where nothing is beside it.
/// Wrong when: such kernels alternate with main ones, image by image; here all of a phase run together.
struct KernelPhase {
  std::string name;  ///< "transpose of images"
  Bytes read, written;
  double hbm_share = 1.0;  ///< as KernelDescription's
  Seconds time;            ///< alone, launch apart
  std::vector<TouchedTensor> touches = {};
};

struct KernelDescription {
  std::string name;
  std::int64_t work_groups = 1;      ///< one output tile each
  PersistentBlocks persistent = {};  ///< what goes through them, where it is not one work group each
  WorkGroupNeeds needs;
  Flops flops;           ///< of one work group
  Seconds compute_time;  ///< of one work group, with a whole CU's arithmetic at `clock`, memory permitting
  /// Least time of a work group from first load to last arithmetic, however little there is beside it: few
  /// wavefronts, or steps that wait for one another.
  Seconds least_time;
  std::int64_t split = 1;  ///< parts of K whose results a second kernel adds up
  Seconds overhead;  ///< of the kernel, with hardly anything running: unequal last work groups, a second kernel
  std::vector<KernelPhase> before = {}, after = {};  ///< in the order in which they run
  std::vector<TouchedTensor> touches = {};           ///< where that is stated: of convolutions
  Hertz clock;  ///< core clock while this kernel runs, before its GPU's governor
  /// Energy of one of its flops over that of a 16-bit matrix product; 0 on vector units, of which none is
  /// known.
  double flop_energy = 0.0;
  Watts power;          ///< mean of a stream of it at `clock`; 0: not known
  Joules energy;        ///< of the matrix products of one work group at `clock`
  double prologue = 0;  ///< share of its loads that a work group must have before it computes, 0..1
  /// How well a work group hides the shorter of its arithmetic and its HBM loads behind the longer: exponent of
  /// a norm, >= 1 (1: one after the other; infinite: wholly).
  double overlap = std::numeric_limits<double>::infinity();
  double hbm_share = 1.0;     ///< of HBM's rate that its access pattern reaches with HBM to itself
  double after_others = 1.0;  ///< arithmetic after or beside other work, over that in a loop of itself
  Bytes outstanding;          ///< loads in flight of one work group, as many as it asks for
  Bytes output;               ///< stores of one work group
  /// Loads of one work group from HBM, once it has computed, of what it adds its results to: nothing hides
  /// them. They are not in `traffic`. Wrong when: a work group has a second tile to compute meanwhile.
  Bytes added_to;
  std::shared_ptr<const TrafficModel> traffic;
  /// Of one call alone as its class was measured on the device; 0: the GPU's launch latency.
  Seconds measured_launch;
  CallKind call = CallKind::elementwise;  ///< what a host's part of a call alone is
  // For lower bounds:
  FlopsPerSecond peak;  ///< of the whole GPU for this kernel's data type
  Flops useful_flops;   ///< of the whole kernel, padding excluded
  Bytes compulsory;     ///< every input read once and every output written once
};

/// \p loads of one work group of \p kernel, and of what it adds to.
inline Traffic with_added_to(const KernelDescription& kernel, Traffic loads) {
  loads.l2 += kernel.added_to;
  loads.llc += kernel.added_to;
  loads.hbm += kernel.added_to;
  return loads;
}

/// Work groups that ask for a CU: tiles, or the blocks of a persistent kernel.
inline std::int64_t launched_work_groups(const KernelDescription& kernel) {
  return kernel.persistent.blocks > 0 ? kernel.persistent.blocks : kernel.work_groups;
}

/// The loads of \p traffic, times \p factor.
std::shared_ptr<const TrafficModel> scaled(std::shared_ptr<const TrafficModel> traffic, double factor);

/// Bytes that one of \p on_cu such work groups on a CU keeps in flight.
Bytes in_flight(const ComputeSpec& compute, const KernelDescription& kernel, int on_cu);

}}  // namespace c3::gpu
