#pragma once
/// Running a compute kernel on a GPU, at three grains.

#include <string>

#include "gpu/gpu.hpp"
#include "gpu/kernel.hpp"
#include "gpu/output_sink.hpp"

namespace c3 {

/// Grain of compute kernels.
enum class KernelGrain {
  cohort,      ///< work groups placed together are three flows: prologue, steady, stores
  work_group,  ///< the same with one work group a cohort
  fluid,       ///< one flow a kernel, bound by its wave count
};

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
};

/// Runs \p kernel from its release to its last store.
///
/// Cohorts: the work groups of a kernel that are placed on an XCD at one instant are split so that a full XCD
/// holds `cohorts_per_placement` of them. A cohort is a prologue (its first loads: memory latency, no compute),
/// a steady flow (bound by its compute time, which is drawn once per cohort, and by the bytes left to load)
/// and, when it has left its CUs, its stores. Bytes are fixed at dispatch, from the cache state found then.
/// Wrong when: work groups of a kernel differ (ragged tiles are padded), or synchronise with one another.
Task run_kernel(Gpu& gpu, KernelDescription kernel, KernelLaunch launch);

}  // namespace c3
