#pragma once
/// A load on SimGrid's own activities: what c3sim_bench.so does, which links SimGrid
/// (engine/simgrid_module.hpp).

#include "app/bench/fluid_run.hpp"
#include "app/bench/load.hpp"

namespace simgrid::s4u {
class Engine;
}

namespace c3::bench {

class NativeRuns {
 public:
  virtual ~NativeRuns() = default;
  virtual Run run() = 0;  ///< again and again; dates count from the start of the run
};

/// The only function that the module exports. \p engine and \p load must outlive what it makes.
extern "C" NativeRuns* c3_native_runs(simgrid::s4u::Engine& engine, const Load& load);

}  // namespace c3::bench
