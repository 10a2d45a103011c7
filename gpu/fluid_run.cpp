#include "gpu/fluid_run.hpp"

#include <algorithm>
#include "gpu/kernel_time.hpp"
#include "gpu/waves.hpp"

namespace c3 {

FluidRun::FluidRun(Gpu& gpu, const KernelDescription& kernel, const KernelLaunch& launch, ActivityId activity)
    : gpu_(gpu),
      simulation_(gpu.simulation()),
      dispatcher_(gpu.dispatcher(launch.stream)),
      kernel_(kernel),
      launch_(launch),
      activity_(activity),
      slots_in_xcd_(static_cast<std::size_t>(gpu.spec().compute.xcds), 0),
      done_(simulation_, "work groups of " + kernel.name) {}

void FluidRun::on_placed(int xcd, std::span<const int> cus) {
  for (const int cu : cus)
    slots_.push_back({xcd, cu});
  slots_in_xcd_[static_cast<std::size_t>(xcd)] += static_cast<std::int64_t>(cus.size());
  if (!started_) {
    started_ = true;
    simulation_.spawn(kernel_.name, run());
  } else if (flow_) {
    simulation_.fluid().set_bound(*flow_, bound());
  }
}

Task FluidRun::run() {
  CacheState state =
      gpu_.memory().cache_state(launch_.stream, static_cast<std::int64_t>(slots_.size()), kernel_.compute_time);
  state.cus_taken = gpu_.cus_taken(launch_.stream, launch_.range);
  traffic_ = kernel_.traffic->per_work_group(state);
  RunningFlow flow(simulation_, whole_kernel());
  flow_ = flow.id();
  co_await flow;
  flow_.reset();
  dispatcher_.withdraw(*this);
  for (const Slot& slot : slots_)
    dispatcher_.release(slot.xcd, slot.cu, kernel_.needs, activity_);
  done_.set();
}

void FluidRun::on_overlap_change() {
  if (flow_) simulation_.fluid().set_bound(*flow_, bound());
}

int FluidRun::sharing() const {
  int sharing = 1;
  for (const Slot& slot : slots_)
    sharing = std::max(sharing, dispatcher_.units().computing(slot.xcd, slot.cu));
  return sharing;
}

double FluidRun::bound() const {
  const double slower =
      gpu_.slowdown(launch_.stream, kernel_.clock, gpu_.cus_taken(launch_.stream, launch_.range));
  const auto resident = static_cast<std::int64_t>(slots_.size());
  const std::int64_t waves = wave_count(kernel_.work_groups, slots_in_xcd_);
  const Seconds computing = time_of_waves(kernel_, gpu_.spec(), traffic_,
                                          occupancy(kernel_.work_groups, resident, waves, sharing()), slower);
  const Bytes in_flight_together =
      in_flight(gpu_.spec().compute, kernel_, sharing()) * static_cast<double>(resident);
  const Bytes loads = traffic_.hbm * static_cast<double>(kernel_.work_groups);
  const Seconds time =
      std::max(computing, gpu_.memory().least_loading_time(launch_.stream, loads, in_flight_together));
  return 1.0 / overlapped(time, Seconds{1.0 / hbm_rate_}, kernel_.overlap).value;
}

FlowSpec FluidRun::whole_kernel() {
  const auto work_groups = static_cast<double>(kernel_.work_groups);
  const auto xcds = static_cast<double>(slots_in_xcd_.size());
  const Bytes stored = kernel_.output * work_groups;
  const Bytes written = traffic_.stores_to_hbm * stored;
  const Bytes read = traffic_.hbm * work_groups;
  hbm_rate_ = gpu_.memory().alone_rate(read, written) * kernel_.hbm_share;
  demands_.clear();
  for (int xcd = 0; xcd < static_cast<int>(slots_in_xcd_.size()); ++xcd) {
    gpu_.memory().add_loads(demands_, launch_.stream, xcd, work_groups / xcds * traffic_, kernel_.hbm_share);
    gpu_.memory().add_stores(demands_, launch_.stream, xcd, stored / xcds, written / xcds, kernel_.hbm_share);
  }
  FlowSpec spec;
  spec.demands = demands_;
  spec.bound = bound();
  spec.weight = weight(spec.bound);
  spec.activity = activity_;
  return spec;
}

// A work group's loads hold up the next one; its stores are posted and hold up nobody.
double FluidRun::weight(double alone) {
  const auto requesters = static_cast<int>(slots_.size());
  const Bytes of_one = in_flight(gpu_.spec().compute, kernel_, sharing());
  const auto work_groups = static_cast<double>(kernel_.work_groups);
  if (traffic_.hbm.value <= 0.0) {
    return gpu_.memory().weight(of_one, requesters, kernel_.output * work_groups, alone);
  }
  const Bytes outstanding = of_one * (traffic_.hbm / traffic_.l2);
  return gpu_.memory().weight(outstanding, requesters, traffic_.hbm * work_groups, alone);
}

}  // namespace c3
