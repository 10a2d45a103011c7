#include "gpu/core_clock.hpp"

#include <stdexcept>

namespace c3 {

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

}  // namespace c3
