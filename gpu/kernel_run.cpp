#include "gpu/kernel_run.hpp"

#include "gpu/clock/governor.hpp"
#include "gpu/cohort_run.hpp"
#include "gpu/fluid_run.hpp"
#include "gpu/kernel_times.hpp"

namespace c3::inline gpu {
namespace {

template <class Run>
Task run_to_end(Gpu& gpu, Run& run, const KernelDescription& kernel, KernelLaunch launch) {
  gpu.dispatcher(launch.stream)
      .submit({&run, kernel.needs, launched_work_groups(kernel), launch.range, launch.priority, launch.order,
               launch.draw});
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
  CoreClock& clock = gpu.clock(launch.stream);
  const Watts power = power_on(gpu.spec(), kernel.power, launch.range.size() * gpu.spec().compute.xcds);
  clock.enter(kernel.clock, power);
  gpu.work().begin(kernel.name);
  std::optional<Seconds> known;
  if (launch.times != nullptr) known = launch.times->known(clock.speed_of_arithmetic());
  if (launch.grain == KernelGrain::fluid || known) {
    co_await run_as_flow(gpu, kernel, launch, activity, known);
  } else {
    co_await run_as_cohorts(gpu, kernel, launch, activity);
  }
  if (kernel.overhead.value > 0.0) co_await simulation.sleep(kernel.overhead);
  gpu.work().end(kernel.name);
  clock.leave(kernel.clock, power);
  simulation.end_activity(activity);
}

}  // namespace c3::gpu
