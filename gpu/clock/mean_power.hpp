#pragma once
/// Power averaged over a time constant.

#include "engine/units.hpp"

namespace c3 { inline namespace gpu {

/// The mean P of what is drawn obeys dP/dt = (drawn - P) / averaging, which is solved exactly while what is
/// drawn is constant. Wrong when: a board averages over a window with an edge.
class MeanPower {
 public:
  /// \p averaging > 0
  MeanPower(Seconds averaging, Watts mean) : averaging_(averaging), mean_(mean) {}

  Watts value() const { return mean_; }
  void set(Watts mean) { mean_ = mean; }
  /// \p drawn for \p time (>= 0).
  void pass(Seconds time, Watts drawn);
  /// Until the mean is \p edge while \p drawn lasts; infinite where it goes elsewhere, 0 where it is there.
  Seconds time_to(Watts edge, Watts drawn) const;

 private:
  Seconds averaging_;
  Watts mean_;
};

}}  // namespace c3::gpu
