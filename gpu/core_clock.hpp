#pragma once
/// Core clock of one GPU: the lowest sustained clock of what is resident.

#include <functional>
#include <map>
#include <vector>

#include "engine/units.hpp"

namespace c3 {

/// A kernel that computes on matrix units pulls the clock of the whole GPU down to what its power allows;
/// everything beside it runs at that clock. With nothing resident the clock is the boost clock. Wrong when:
/// light co-runners would let the clock rise between the two.
class CoreClock {
 public:
  explicit CoreClock(Hertz boost) : boost_(boost) {}

  Hertz current() const { return resident_.empty() ? boost_ : Hertz{resident_.begin()->first}; }
  Hertz boost() const { return boost_; }

  void enter(Hertz sustained);
  void leave(Hertz sustained);
  /// \p listener is called after each change, for the rest of the run.
  void on_change(std::function<void()> listener) { listeners_.push_back(std::move(listener)); }

 private:
  void notify_if_changed(Hertz before) const;

  Hertz boost_;
  std::map<double, int> resident_;  ///< kernels by sustained clock [Hz]
  std::vector<std::function<void()>> listeners_;
};

}  // namespace c3
