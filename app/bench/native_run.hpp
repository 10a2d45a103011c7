#pragma once
/// A load on SimGrid's own activities, as far as they can express it.

#include <memory>

#include "app/bench/fluid_run.hpp"
#include "app/bench/load.hpp"

namespace c3::bench {

/// Every lane is a pair of hosts and its operations are `Comm`s with a completion callback, without actors.
/// SimGrid takes one unit from a link per byte, so demands in other units (SMs) are left out; a lane's bound is
/// a link of its own. Only one per process: the platform belongs to SimGrid's only engine.
class NativeRunner {
 public:
  explicit NativeRunner(const Load& load);
  ~NativeRunner();
  Run run();  ///< again and again; dates count from the start of the run

 private:
  struct Platform;
  std::unique_ptr<Platform> platform_;
};

}  // namespace c3::bench
