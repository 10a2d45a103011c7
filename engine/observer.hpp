#pragma once
/// What a simulation tells whoever listens: activities, their dependency edges, rate changes and resource use.
/// Nothing is computed for an observer that is not there.

#include <cstdint>
#include <string_view>

#include "engine/units.hpp"

namespace c3 { inline namespace engine {

/// Index of a shared resource of one simulation, in order of creation.
using ResourceId = std::uint32_t;

/// Number of an activity of one simulation, in order of start. 0 is "none".
using ActivityId = std::uint64_t;
inline constexpr ActivityId kNoActivity = 0;

/// Values are part of the HDF5 format: append, do not renumber.
enum class ActivityKind : std::uint8_t {
  kernel = 0,      ///< a compute kernel, from release to last store
  cohort = 1,      ///< work groups of a kernel placed together
  collective = 2,  ///< a collective on one GPU, from release to last byte
  channel = 3,     ///< channel work groups of a collective, while they hold CU slots
  transfer = 4,    ///< bytes on one edge
  command = 5,     ///< a DMA engine's command: schedule, copy, sync
  wait = 6,        ///< a stream that waits for an event
  range = 7,       ///< operations of a stream that have a name together, such as a layer's
};

/// Why an activity could not start before another ended. Values are part of the HDF5 format.
enum class DependencyKind : std::uint8_t {
  stream_order = 0,  ///< previous operation of the same stream
  event = 1,         ///< a recorded event
  slot = 2,          ///< CU slots released by the predecessor
  data = 3,          ///< bytes that arrived
  launch = 4,        ///< parent to child: the launch itself
};

struct ActivityInfo {
  std::string_view name;
  ActivityKind kind = ActivityKind::kernel;
  int gpu = -1;     ///< rank, -1 when on no GPU
  int stream = -1;  ///< index of the stream in the experiment, -1 when on none
  int engine = -1;  ///< copy engine of the GPU, -1 when on none
  ActivityId parent = kNoActivity;
  Bytes bytes = {};              ///< payload, 0 for compute
  Flops flops = {};              ///< work, 0 for copies
  std::int64_t work_groups = 0;  ///< of a kernel or cohort; channels of a collective
};

/// Which bytes of an activity are those that it takes of a resource.
enum class Counted : std::uint8_t {
  nothing,      ///< a limit that something else counts as well, or no bytes
  hbm,          ///< read from HBM, written to it, or lost there
  hbm_written,  ///< of hbm: written
  hbm_lost,     ///< of hbm: what it could have moved while an access pattern kept it busy
  l2,           ///< requested from an L2 or stored to it
  link,         ///< sent on a link of the node, by the GPU that it leaves
  nic,          ///< sent through a NIC, with the time that messages hold it as bytes at its rate
};

struct ResourceInfo {
  std::string_view name;  ///< unique in a simulation, e.g. "gpu0.hbm"
  std::string_view unit;  ///< of its capacity, e.g. "B/s"
  int gpu = -1;
  Counted counted = Counted::nothing;
  double of_gpu = 1.0;  ///< how many like it the GPU has, for which it stands
};

/// Dates are seconds since the start of the run and never decrease from call to call.
class Observer {
 public:
  Observer() = default;
  Observer(const Observer&) = delete;
  Observer& operator=(const Observer&) = delete;
  virtual ~Observer() = default;

  virtual void resource_added(ResourceId id, const ResourceInfo& info, double capacity) = 0;
  virtual void capacity_changed(ResourceId id, Seconds at, double capacity) = 0;
  virtual void activity_started(ActivityId id, const ActivityInfo& info, Seconds at) = 0;
  virtual void activity_finished(ActivityId id, Seconds at) = 0;
  /// \p successor waited for \p predecessor; called after the successor's start.
  virtual void depends(ActivityId successor, ActivityId predecessor, DependencyKind kind) = 0;
  /// The flow that carries \p activity now progresses at \p rate (fraction of itself per second).
  virtual void rate_changed(ActivityId activity, Seconds at, double rate) = 0;
  /// A flow of \p activity begins, while the activity is in flight. Until its end the flow takes \p amount of
  /// the resource: bytes of a bandwidth. Called for the activity itself, not again for those that it is a part
  /// of.
  virtual void takes(ActivityId /*activity*/, ResourceId /*resource*/, double /*amount*/) {}
  /// From \p at on, \p used of the resource's capacity is in use (a step function).
  virtual void utilisation(ResourceId id, Seconds at, double used) = 0;
};

}}  // namespace c3::engine
