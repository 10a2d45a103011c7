#pragma once
/// SimGrid's engine as the loop, clock and platform of this process.

namespace simgrid::s4u {
class Engine;
}

namespace c3 { inline namespace engine {

class Driven;

/// The process's only SimGrid engine, made at the first call: CM02 network without TCP artefacts, precision
/// 1e-12 s, own argv (SimGrid would eat the command's). SimGrid cannot have a second one. Its root zone is an
/// empty star; hosts and links may be added until the first run.
simgrid::s4u::Engine& prepare_simgrid();

/// Runs \p simulation in SimGrid's loop until nothing is left to happen. The simulation's time starts at 0
/// whatever SimGrid's clock says, so a result does not depend on what ran before. Exceptions of tasks pass
/// through. While SimGrid has no activity, timer or actor of its own, its clock lags by a few events; to start
/// SimGrid's activities from completions, have one alive from before, else std::logic_error is thrown.
void run_in_simgrid(Driven& simulation);

}}  // namespace c3::engine
