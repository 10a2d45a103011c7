#include "app/bench/native_run.hpp"

#include <dlfcn.h>

#include "base/module.hpp"
#include "engine/simgrid_loop.hpp"

namespace c3::bench {

std::unique_ptr<NativeRuns> native_runs(const Load& load) {
  static const Module module("c3sim_bench.so", RTLD_LAZY | RTLD_LOCAL);
  auto* const make = module.function<decltype(c3_native_runs)>("c3_native_runs");
  return std::unique_ptr<NativeRuns>(make(prepare_simgrid(), load));
}

}  // namespace c3::bench
