#pragma once

#include <ctime>
#include <utility>

namespace c3 { inline namespace base {

/// CPU time of this process since the clock was made: other work on the machine does not count.
class CpuClock {
 public:
  double seconds() const { return now() - start_; }
  /// The same, and starts anew.
  double lap() {
    const double end = now();
    return end - std::exchange(start_, end);
  }

 private:
  static double now() {
    timespec time{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
  }
  double start_ = now();
};

}}  // namespace c3::base
