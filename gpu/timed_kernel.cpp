#include "gpu/timed_kernel.hpp"

#include "gpu/gpu.hpp"
#include "gpu/kernel_launch.hpp"

namespace c3 { inline namespace gpu {

Task run_timed_kernel(Gpu& gpu, std::string name, TimedKernel kernel, KernelLaunch launch) {
  Simulation& simulation = gpu.simulation();
  const ActivityId activity = simulation.begin_activity({.name = name,
                                                         .kind = ActivityKind::kernel,
                                                         .gpu = gpu.rank(),
                                                         .stream = launch.stream,
                                                         .parent = launch.parent});
  if (launch.activity != nullptr) *launch.activity = activity;
  co_await simulation.sleep(launch.delay);
  const Seconds duration = kernel.duration * gpu.slower();
  if (kernel.timing == Timing::in_situ) {
    co_await simulation.sleep(duration);
    simulation.end_activity(activity);
    co_return;
  }
  const Memory& memory = gpu.memory();
  const Bytes bytes = kernel.read + kernel.written;
  std::vector<Demand> demands;
  if (kernel.place == Place::pim) {
    memory.add_inside(demands, launch.stream, kernel.read, kernel.written);
  } else {
    memory.add_hbm_read(demands, launch.stream, kernel.read);
    memory.add_hbm_write(demands, launch.stream, kernel.written);
  }
  FlowSpec spec;
  spec.demands = demands;
  spec.bound = 1.0 / duration.value;
  // What its rate keeps in flight, by Little's law.
  const Bytes outstanding = bytes * (gpu.spec().hbm.latency / duration);
  if (bytes.value > 0.0) spec.weight = memory.weight(outstanding, 1, bytes, spec.bound);
  spec.activity = activity;
  RunningFlow flow(simulation, spec);
  co_await flow;
  simulation.end_activity(activity);
}

}}  // namespace c3::gpu
