#include "gpu/fluid_run.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "gpu/waves.hpp"

namespace c3 {
namespace {

/// Most likely largest of \p n standard normal draws.
/// Source: Cramer, "Mathematical Methods of Statistics", 1946, section 28.6.
double likely_largest(double n) {
  if (n < 2.0) return 0.0;
  const double leading = std::sqrt(2.0 * std::log(n));
  return leading - std::log(4.0 * std::numbers::pi * std::log(n)) / (2.0 * leading);
}

}  // namespace

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
  const CacheState state =
      gpu_.memory().cache_state(launch_.stream, static_cast<std::int64_t>(slots_.size()), kernel_.compute_time);
  traffic_ = kernel_.traffic->per_work_group(state);
  RunningFlow flow(simulation_, whole_kernel());
  flow_ = flow.id();
  co_await flow;
  dispatcher_.withdraw(*this);
  for (const Slot& slot : slots_)
    dispatcher_.release(slot.xcd, slot.cu, kernel_.needs, activity_);
  done_.set();
}

// The first loads of all resident work groups come at once, and nothing hides them. The last wave ends with its
// slowest work group; the stores of the others are over by then, unless all stop together and their stores come
// at once too.
double FluidRun::bound() const {
  const GpuSpec& spec = gpu_.spec();
  const Seconds latency = spec.hbm.latency;
  int sharing = 1;
  for (const Slot& slot : slots_)
    sharing = std::max(sharing, dispatcher_.units().computing(slot.xcd, slot.cu));
  const double slower = kernel_.clock / gpu_.clock(launch_.stream).current();
  const Seconds compute = kernel_.compute_time * (sharing * slower);

  const auto resident = static_cast<double>(slots_.size());
  const auto full_waves = static_cast<double>(wave_count(kernel_.work_groups, slots_in_xcd_) - 1);
  const double in_last_wave =
      std::clamp(static_cast<double>(kernel_.work_groups) - full_waves * resident, 1.0, resident);
  const Seconds first_loads = std::max(latency, traffic_.hbm * (kernel_.prologue * resident) / spec.hbm.read);
  const Seconds last_stores = std::max(latency, kernel_.output * in_last_wave / spec.hbm.write);
  const Seconds slowest = compute * (spec.dispatch.work_group_spread * likely_largest(in_last_wave));

  const Seconds time =
      first_loads + compute + full_waves * (latency + compute) + std::max(last_stores, slowest);
  return std::min(hbm_rate_, 1.0 / time.value);
}

FlowSpec FluidRun::whole_kernel() {
  const auto work_groups = static_cast<double>(kernel_.work_groups);
  const auto xcds = static_cast<double>(slots_in_xcd_.size());
  const Bytes written = kernel_.output * work_groups;
  const Bytes read = traffic_.hbm * work_groups;
  hbm_rate_ = gpu_.memory().alone_rate(read, written);
  demands_.clear();
  for (int xcd = 0; xcd < static_cast<int>(slots_in_xcd_.size()); ++xcd) {
    gpu_.memory().add_l2(demands_, launch_.stream, xcd, (traffic_.l2 * work_groups + written) / xcds,
                         (traffic_.llc * work_groups + written) / xcds);
  }
  gpu_.memory().add_hbm_read(demands_, launch_.stream, read);
  gpu_.memory().add_hbm_write(demands_, launch_.stream, written);
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
  const auto work_groups = static_cast<double>(kernel_.work_groups);
  if (traffic_.hbm.value <= 0.0) {
    return gpu_.memory().weight(kernel_.outstanding, requesters, kernel_.output * work_groups, alone);
  }
  const Bytes outstanding = kernel_.outstanding * (traffic_.hbm / traffic_.l2);
  return gpu_.memory().weight(outstanding, requesters, traffic_.hbm * work_groups, alone);
}

}  // namespace c3
