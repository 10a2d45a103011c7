#pragma once
/// \file
/// Which calls of the host returned only after GPU work had ended, so that their length is a result and no
/// input.

#include <cstdint>
#include <vector>

#include "workloads/traces/launch_order.hpp"

namespace c3 { inline namespace traces {

constexpr std::size_t kWaitReasons = 6;

enum class WaitReason : std::uint8_t {
  device,      ///< cudaDeviceSynchronize: every stream
  stream,      ///< cudaStreamSynchronize
  event,       ///< cudaEventSynchronize
  copy,        ///< a copy that was over when its call returned
  allocation,  ///< cudaMalloc, cudaFree and HIP's, which may wait for the device
  full_queue   ///< a launch that waited for a place in the queue
};

struct HostWait {
  std::uint32_t call = kNoIndex;      ///< the outermost one
  std::uint32_t activity = kNoIndex;  ///< that had to end before the call returned
  WaitReason reason = WaitReason::device;
  bool is_recorded = false;  ///< a `cuda_sync` record says which stream or event
};

/// Whether \p call, which launched \p work, did something else first, such as loading a module, waiting for a
/// lock or staging pageable memory: it takes longer than the longest latency of a launch, and the work
/// starts as it returns.
bool launches_at_its_end(const TraceEvent& call, const TraceEvent& work);

/// Sorted by call. A synchronisation of the device waits for the last work launched before on each queue; of a
/// stream or event that was not recorded, for the work with the latest end among those. A copy counts if its
/// transfer ended before its call did, unless the call launched it only at its end; an allocation if the call
/// returned within 100 us of the end of the last of all work launched before; a launch if it took 10 times the
/// median launch and returned within 11 us of the end of earlier work on its queue. Wrong when: a launch is
/// slow for another reason and returns at such an end by chance.
std::vector<HostWait> host_waits(const Trace& trace, const TraceJoin& join, const LaunchOrder& order);

}}  // namespace c3::traces
