#pragma once
/// What the engine calls of SimGrid, from c3sim_simgrid.so: SimGrid brings libraries that take 50 ms to load,
/// and most invocations simulate nothing.

namespace simgrid::s4u {
class Engine;
}

namespace c3 { inline namespace engine {

class Driven;

/// The functions of the module, as simgrid_loop.hpp declares them.
struct SimGridModule {
  simgrid::s4u::Engine& (*prepare)();
  void (*run)(Driven& simulation);
};

/// The only function that the module exports.
extern "C" const SimGridModule* c3_simgrid_module();

}}  // namespace c3::engine
