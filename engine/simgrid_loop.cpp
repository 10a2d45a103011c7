#include "engine/simgrid_loop.hpp"

#include <dlfcn.h>

#include "base/module.hpp"
#include "engine/simgrid_module.hpp"

namespace c3 { inline namespace engine {
namespace {

const SimGridModule& simgrid() {
  static const Module module("c3sim_simgrid.so", RTLD_LAZY | RTLD_LOCAL);
  static const SimGridModule& functions = *module.function<decltype(c3_simgrid_module)>("c3_simgrid_module")();
  return functions;
}

}  // namespace

simgrid::s4u::Engine& prepare_simgrid() { return simgrid().prepare(); }

void run_in_simgrid(Driven& simulation) { simgrid().run(simulation); }

}}  // namespace c3::engine
