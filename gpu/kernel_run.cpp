#include "gpu/kernel_run.hpp"

#include <algorithm>
#include <concepts>
#include <memory>

#include "gpu/cohort_run.hpp"
#include "gpu/fluid_run.hpp"
#include "gpu/kernel_clock.hpp"
#include "gpu/kernel_times.hpp"

namespace c3 { inline namespace gpu {
namespace {

constexpr int kWavesOfPhase = 8;  // 512 threads on a CU, as kernels of images have

template <class Run>
Task run_to_end(Gpu& gpu, Run& run, const KernelDescription& kernel, KernelLaunch launch) {
  Launch grid{&run,         kernel.needs, launched_work_groups(kernel), launch.range, launch.priority,
              launch.order, launch.draw};
  if constexpr (std::derived_from<Run, LoneClient>) grid.lone = &run;
  gpu.dispatcher(launch.stream).submit(grid);
  co_await run.done();
  if (launch.times != nullptr) launch.times->ended(gpu.simulation().now() - run.began());
}

Task run_as_flow(Gpu& gpu, const KernelDescription& kernel, KernelLaunch launch, ActivityId activity,
                 std::optional<Seconds> known) {
  FluidRun run(gpu, kernel, launch, activity, known);
  co_await run_to_end(gpu, run, kernel, launch);
}

Task run_as_cohorts(Gpu& gpu, const KernelDescription& kernel, KernelLaunch launch, ActivityId activity) {
  CohortRun run(gpu, kernel, launch, activity);
  co_await run_to_end(gpu, run, kernel, launch);
}

/// The same loads for every work group, whatever the caches hold.
class MovedBytes final : public TrafficModel {
 public:
  explicit MovedBytes(Bytes bytes) : traffic_{.l2 = bytes, .llc = bytes, .hbm = bytes} {}
  Traffic per_work_group(const CacheState&) const override { return traffic_; }

 private:
  Traffic traffic_;
};

/// A work group on each CU that the stream may use, with as many waves as hide what they wait for.
KernelDescription kernel_of(const KernelPhase& phase, const GpuSpec& gpu, CuRange range) {
  KernelDescription kernel;
  kernel.name = phase.name;
  kernel.work_groups = static_cast<std::int64_t>(range.size()) * gpu.compute.xcds;
  const auto each = 1.0 / static_cast<double>(kernel.work_groups);
  kernel.needs.waves = std::min(kWavesOfPhase, gpu.compute.wave_slots_per_cu);
  kernel.clock = gpu.compute.boost_clock;
  kernel.hbm_share = phase.hbm_share;
  kernel.outstanding = std::min(each * std::max(phase.read, phase.written), gpu.compute.lds_per_cu);
  kernel.output = each * phase.written;
  kernel.traffic = std::make_shared<MovedBytes>(each * phase.read);
  return kernel;
}

/// Tells memory where the bytes of each part of a call lie, as it begins.
class CallPlaces {
 public:
  CallPlaces(Gpu& gpu, const KernelLaunch& launch) : gpu_(gpu), launch_(launch) {}

  void begin_part() {
    if (next_ < launch_.places.size()) gpu_.memory().place(launch_.stream, &launch_.places[next_]);
    ++next_;
  }

 private:
  Gpu& gpu_;
  const KernelLaunch& launch_;
  std::size_t next_ = 0;
};

ActivityId begin_part(Gpu& gpu, const std::string& name, const KernelLaunch& launch, ActivityId call) {
  const ActivityId part = gpu.simulation().begin_activity(
      {.name = name, .kind = ActivityKind::cohort, .gpu = gpu.rank(), .stream = launch.stream, .parent = call});
  gpu.simulation().add_dependency(part, call, DependencyKind::launch);
  return part;
}

Task run_phases(Gpu& gpu, const std::vector<KernelPhase>& phases, const KernelLaunch& launch, ActivityId call,
                CallPlaces& places) {
  KernelLaunch of_phase = launch;
  of_phase.times = nullptr;
  of_phase.sink = nullptr;
  for (const KernelPhase& phase : phases) {
    places.begin_part();
    const ActivityId part = begin_part(gpu, phase.name, launch, call);
    const KernelDescription kernel = kernel_of(phase, gpu.spec(), launch.range);
    co_await run_as_flow(gpu, kernel, of_phase, part, phase.time);
    leave_clock(gpu, kernel, of_phase);
    gpu.simulation().end_activity(part);
  }
}

}  // namespace

Task run_kernel(Gpu& gpu, KernelDescription kernel, KernelLaunch launch) {
  Simulation& simulation = gpu.simulation();
  const ActivityId activity = simulation.begin_activity({.name = kernel.name,
                                                         .kind = ActivityKind::kernel,
                                                         .gpu = gpu.rank(),
                                                         .stream = launch.stream,
                                                         .parent = launch.parent,
                                                         .flops = kernel.useful_flops,
                                                         .work_groups = kernel.work_groups});
  if (launch.activity != nullptr) *launch.activity = activity;
  if (launch.sink != nullptr) kernel.persistent = {};  // who tracks its tiles needs them one by one
  co_await simulation.sleep(launch.delay);
  gpu.work().begin(kernel.name);
  CallPlaces places(gpu, launch);
  co_await run_phases(gpu, kernel.before, launch, activity, places);
  places.begin_part();
  std::optional<Seconds> known;
  if (launch.times != nullptr) known = launch.times->known(gpu.clock(launch.stream).speed_of_arithmetic());
  if (launch.grain == KernelGrain::fluid || known) {
    const bool has_phases = !kernel.before.empty() || !kernel.after.empty();
    const ActivityId part = has_phases ? begin_part(gpu, kernel.name, launch, activity) : activity;
    co_await run_as_flow(gpu, kernel, launch, part, known);
    if (has_phases) simulation.end_activity(part);
  } else {
    co_await run_as_cohorts(gpu, kernel, launch, activity);
  }
  co_await run_phases(gpu, kernel.after, launch, activity, places);
  if (kernel.overhead.value > 0.0) co_await simulation.sleep(kernel.overhead);
  gpu.work().end(kernel.name);
  leave_clock(gpu, kernel, launch);
  simulation.end_activity(activity);
}

}}  // namespace c3::gpu
