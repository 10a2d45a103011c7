#pragma once
/// How a kernel is launched: where, in which queue, and how finely it is simulated.

#include <cstdint>
#include <span>

#include "base/enum_names.hpp"
#include "engine/observer.hpp"
#include "gpu/compute_units.hpp"
#include "gpu/memory.hpp"
#include "gpu/output_sink.hpp"

namespace c3 { inline namespace gpu {

/// Grain of compute kernels.
enum class KernelGrain {
  cohort,      ///< work groups placed together are three flows: prologue, steady, stores
  work_group,  ///< the same with one work group a cohort
  fluid,       ///< one flow a kernel, bound by its wave count
  automatic,   ///< cohorts; a caller that knows the correction of a flow asks for fluid
};
constexpr auto enum_names(KernelGrain) {
  return std::to_array<EnumName<KernelGrain>>({{"cohort", KernelGrain::cohort},
                                               {"work_group", KernelGrain::work_group},
                                               {"fluid", KernelGrain::fluid},
                                               {"auto", KernelGrain::automatic}});
}

class KernelTimes;

struct KernelLaunch {
  int stream = 0;
  int priority = 0;  ///< of the queue; larger first
  int order = 0;     ///< of the queue, see Launch::order
  CuRange range;     ///< CUs of each XCD that the stream may use
  KernelGrain grain = KernelGrain::cohort;
  Seconds delay;               ///< from release to the queue: launch latency, or the gap after a dependency
  std::uint64_t draw = 0;      ///< key of its random draws: different for each kernel of a run
  OutputSink* sink = nullptr;  ///< takes its stores, past the caches; not at grain fluid
  ActivityId parent = kNoActivity;  ///< activity that the kernel is a part of
  ActivityId* activity = nullptr;   ///< receives the kernel's activity when it starts
  /// Where its bytes lie at memory_grain "channels": of each phase before, the main kernel, and each phase
  /// after. Must outlive it. Empty: as its stream's were placed.
  std::span<const ChannelShares> places = {};
  double correction = 1.0;       ///< at grain fluid: how many times as long its flow takes (cohorts_over_flow)
  KernelTimes* times = nullptr;  ///< asked when it is submitted; not with a sink, nor at grain fluid
};

}}  // namespace c3::gpu
