#include "gpu/fluid_run.hpp"

#include <algorithm>

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
  for (const int cu : cus) slots_.push_back({xcd, cu});
  slots_in_xcd_[static_cast<std::size_t>(xcd)] += static_cast<std::int64_t>(cus.size());
  if (!started_) {
    started_ = true;
    simulation_.spawn(kernel_.name, run());
  } else if (flow_) {
    simulation_.fluid().set_bound(*flow_, bound());
  }
}

Task FluidRun::run() {
  RunningFlow flow(simulation_, whole_kernel());
  flow_ = flow.id();
  co_await flow;
  dispatcher_.withdraw(*this);
  for (const Slot& slot : slots_) dispatcher_.release(slot.xcd, slot.cu, kernel_.needs, activity_);
  done_.set();
}

double FluidRun::bound() const {
  const auto xcds = static_cast<std::int64_t>(slots_in_xcd_.size());
  std::int64_t waves = 1;
  for (std::int64_t xcd = 0; xcd < xcds; ++xcd) {
    const std::int64_t share = kernel_.work_groups / xcds + (xcd < kernel_.work_groups % xcds ? 1 : 0);
    const std::int64_t slots = std::max<std::int64_t>(1, slots_in_xcd_[static_cast<std::size_t>(xcd)]);
    waves = std::max(waves, (share + slots - 1) / slots);
  }
  int sharing = 1;
  for (const Slot& slot : slots_) sharing = std::max(sharing, dispatcher_.units().computing(slot.xcd, slot.cu));
  const double slower = kernel_.clock / gpu_.clock(launch_.stream).current();
  const Seconds work_group = kernel_.compute_time * (sharing * slower) + gpu_.spec().hbm.latency;
  return std::min(hbm_rate_, 1.0 / (static_cast<double>(waves) * work_group.value));
}

FlowSpec FluidRun::whole_kernel() {
  const auto resident = static_cast<std::int64_t>(slots_.size());
  const CacheState state = gpu_.memory().cache_state(launch_.stream, resident, kernel_.compute_time);
  const Traffic traffic = kernel_.traffic->per_work_group(state);
  const auto work_groups = static_cast<double>(kernel_.work_groups);
  const auto xcds = static_cast<double>(slots_in_xcd_.size());
  const Bytes written = kernel_.output * work_groups;
  const Bytes read = traffic.hbm * work_groups;
  hbm_rate_ = gpu_.memory().alone_rate(read, written);
  demands_.clear();
  for (int xcd = 0; xcd < static_cast<int>(slots_in_xcd_.size()); ++xcd) {
    gpu_.memory().add_l2(demands_, launch_.stream, xcd, (traffic.l2 * work_groups + written) / xcds,
                         (traffic.llc * work_groups + written) / xcds);
  }
  gpu_.memory().add_hbm_read(demands_, launch_.stream, read);
  gpu_.memory().add_hbm_write(demands_, launch_.stream, written);
  FlowSpec spec;
  spec.demands = demands_;
  spec.bound = bound();
  const Bytes outstanding = kernel_.outstanding * (traffic.hbm / traffic.l2);
  spec.weight = gpu_.memory().weight(outstanding, static_cast<int>(resident), read + written, spec.bound);
  spec.activity = activity_;
  return spec;
}

}  // namespace c3
