#include "gpu/kernel_run.hpp"

#include "gpu/clock/governor.hpp"
#include "gpu/cohort_run.hpp"
#include "gpu/fluid_run.hpp"

namespace c3::inline gpu {
namespace {

template <class Run>
Task run_to_end(Gpu& gpu, const KernelDescription& kernel, KernelLaunch launch, ActivityId activity) {
  Run run(gpu, kernel, launch, activity);
  gpu.dispatcher(launch.stream)
      .submit({&run, kernel.needs, launched_work_groups(kernel), launch.range, launch.priority, launch.order,
               launch.draw});
  co_await run.done();
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
  if (launch.grain == KernelGrain::fluid) {
    co_await run_to_end<FluidRun>(gpu, kernel, launch, activity);
  } else {
    co_await run_to_end<CohortRun>(gpu, kernel, launch, activity);
  }
  if (kernel.overhead.value > 0.0) co_await simulation.sleep(kernel.overhead);
  gpu.work().end(kernel.name);
  clock.leave(kernel.clock, power);
  simulation.end_activity(activity);
}

}  // namespace c3::gpu
