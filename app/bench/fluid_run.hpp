#pragma once
/// A load on c3sim's engine.

#include <vector>

#include "app/bench/load.hpp"

namespace c3::bench {

/// One timed run.
struct Run {
  double cpu_seconds = 0.0;  ///< CPU time of this process between the first start and the last completion
  std::vector<double> dates;
};

Run run_here(const Load& load);             ///< runs in SimGrid's loop, like every simulation
Run run_without_simgrid(const Load& load);  ///< the same solver in a plain loop

}  // namespace c3::bench
