#include "gpu/core_clock.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace c3::inline gpu {

void CoreClock::enter(Hertz sustained) {
  const Hertz before = current();
  ++resident_[sustained.value];
  notify_if_changed(before);
}

void CoreClock::leave(Hertz sustained) {
  const Hertz before = current();
  const auto found = resident_.find(sustained.value);
  if (found == resident_.end()) throw std::logic_error("CoreClock::leave: no kernel at this clock");
  if (--found->second == 0) resident_.erase(found);
  notify_if_changed(before);
}

void CoreClock::notify_if_changed(Hertz before) const {
  if (current() == before) return;
  for (const auto& listener : listeners_)
    listener();
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

}  // namespace c3::gpu
