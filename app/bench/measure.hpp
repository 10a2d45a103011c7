#pragma once
/// Measures one load in every way of running it, each in a process of its own.

#include <cstdint>
#include <string>

#include "app/bench/load.hpp"

namespace c3::bench {

/// Medians over the repeats; an event is the completion of one operation.
struct Measurement {
  double events_per_s = 0.0;         ///< CPU time, in SimGrid's loop
  double limit_events_per_s = 0.0;   ///< the same solver without SimGrid
  double native_events_per_s = 0.0;  ///< SimGrid's own activities
  /// Peak of the process that runs the first two, SimGrid's library included.
  std::uint64_t peak_rss_bytes = 0;
  std::string dates_sha256;  ///< hash of all completion dates (doubles, in order)
};

/// Repeats of "here" and "limit" alternate, so that both see the same machine.
/// \throws std::logic_error when two runs differ in any date; std::system_error when a process cannot be made.
Measurement measure(const Load& load, int repeats);

}  // namespace c3::bench
