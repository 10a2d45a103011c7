#include "gpu/clock/core_clock.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace c3 { inline namespace gpu {

CoreClock::CoreClock(FluidSystem& fluid, const GpuSpec& gpu, GpuPace pace, PowerGovernor* governor)
    : fluid_(fluid),
      boost_(gpu.compute.boost_clock),
      pace_(pace),
      beside_collectives_(1.0 - gpu.hypotheses.overlap_loss),
      arithmetic_(fluid.add_domain(1.0 / pace.arithmetic())),
      channels_(fluid.add_domain(1.0 / pace.stated)),
      governor_(governor) {
  if (governor_ != nullptr) governor_->drive(*this);
}

Hertz CoreClock::current() const {
  const Hertz lowest = resident_.empty() ? boost_ : *std::ranges::min_element(resident_);
  return lowest * (governor_ == nullptr ? 1.0 : governor_->throttle()) / pace_.arithmetic();
}

void CoreClock::enter(Hertz sustained, Watts power) {
  resident_.push_back(sustained);
  if (governor_ != nullptr) governor_->enter(power);
  set_speeds();
}

void CoreClock::leave(Hertz sustained, Watts power) {
  const auto found = std::ranges::find(resident_, sustained);
  if (found == resident_.end()) throw std::logic_error("CoreClock::leave: no kernel at this clock");
  *found = resident_.back();
  resident_.pop_back();
  if (governor_ != nullptr) governor_->leave(power);
  set_speeds();
}

void CoreClock::begin_collective() {
  ++collectives_;
  set_speeds();
}

void CoreClock::end_collective() {
  --collectives_;
  set_speeds();
}

void CoreClock::set_speeds() {
  const double speed = current() / boost_;
  fluid_.set_speed(channels_, speed * pace_.drawn);
  fluid_.set_speed(arithmetic_, collectives_ > 0 ? speed * beside_collectives_ : speed);
}

double speed_under_power_limit(const GpuSpec& gpu, Hertz sustained, BytesPerSecond others, double cus_taken) {
  constexpr double kExponent = 0.63;
  constexpr double kLeast = 0.1;  // of power, and of CUs: the law says nothing of less
  if (sustained >= gpu.compute.boost_clock) return 1.0;
  const double left = std::max(1.0 - others / gpu.hypotheses.power.as_traffic, kLeast);
  const double active = std::max(1.0 - cus_taken, kLeast);
  const double speed = 1.0 + gpu.hypotheses.power.coupling * (std::pow(left / active, kExponent) - 1.0);
  return std::min(speed, gpu.compute.boost_clock / sustained);
}

}}  // namespace c3::gpu
