#include "app/bench/fluid_run.hpp"

#include "app/bench/program.hpp"
#include "base/cpu_clock.hpp"
#include "engine/simulation.hpp"

namespace c3::bench {
namespace {

/// Operations as flows whose weight shares resources by bytes, as SimGrid's network does.
class FluidRun final : public Launcher, public Completion {
 public:
  explicit FluidRun(const Load& load) : load_(load), program_(load, *this, load.events) {
    for (const double capacity : load.capacities)
      simulation_.fluid().add_resource({}, capacity);
  }

  void start(std::size_t lane, double size) override {
    const Lane& l = load_.lanes[lane];
    demands_ = l.demands;
    for (Demand& demand : demands_)
      demand.amount *= size;
    simulation_.fluid().start({.demands = demands_, .bound = l.bound / size, .weight = 1.0 / size}, this, lane);
  }

  void on_complete(std::uint64_t lane) override { program_.on_done(lane, simulation_.now().value); }

  Run timed(void (Simulation::*loop)()) {
    const CpuClock clock;
    program_.begin();
    (simulation_.*loop)();
    return {clock.seconds(), program_.take_dates()};
  }

 private:
  const Load& load_;
  Simulation simulation_;
  Program program_;
  std::vector<Demand> demands_;
};

}  // namespace

Run run_here(const Load& load) { return FluidRun(load).timed(&Simulation::run); }

Run run_without_simgrid(const Load& load) { return FluidRun(load).timed(&Simulation::run_without_simgrid); }

}  // namespace c3::bench
