#pragma once
/// A load on c3sim's engine.

#include <vector>

#include "app/bench/load.hpp"

namespace c3::bench {

/// One timed run.
struct Run {
  double cpu_seconds = 0.0;  ///< of this process, from the first start to the last completion
  std::vector<double> dates;
};

Run run_here(const Load& load);             ///< in SimGrid's loop, as every simulation
Run run_without_simgrid(const Load& load);  ///< the same solver in a plain loop

}  // namespace c3::bench
