#pragma once
/// A load on SimGrid's own activities, as far as they can express it.

#include <memory>

#include "app/bench/native_module.hpp"

namespace c3::bench {

/// Every lane is a pair of hosts and its operations are `Comm`s with a completion callback, without actors.
/// SimGrid takes one unit from a link per byte, so demands in other units (SMs) are left out; a lane's bound is
/// a link of its own. Only once per process: the platform belongs to SimGrid's only engine. \p load must
/// outlive it.
std::unique_ptr<NativeRuns> native_runs(const Load& load);

}  // namespace c3::bench
