#include "gpu/dma_engines.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace c3 {

DmaEngines::DmaEngines(Simulation& simulation, const DmaSpec& spec, int rank) : spec_(spec), host_(simulation) {
  for (int engine = 0; engine < spec.engines; ++engine) {
    queues_.emplace_back(simulation);
    const std::string name = fmt::format("gpu{}.dma{}", rank, engine);
    bandwidth_.push_back(simulation.fluid().add_resource({.name = name, .unit = "B/s", .gpu = rank},
                                                         spec.engine_bandwidth.value));
  }
}

namespace {

/// Commands that the busiest of the hosts involved has to create before all engines can start.
int commands_of_one_host(const DmaCopy& copy) {
  int most = 0;
  for (const EngineUse& use : copy.uses) {
    int commands = 0;
    for (const EngineUse& other : copy.uses)
      commands += other.engines == use.engines ? other.legs : 0;
    most = std::max(most, commands);
  }
  return most;
}

}  // namespace

Task run_copy(Simulation& simulation, DmaCopy copy, ActivityId* activity) {
  DmaEngines& first = *copy.uses.front().engines;
  const DmaSpec& spec = first.spec();
  co_await first.host().acquire();
  co_await simulation.sleep(spec.control * static_cast<double>(commands_of_one_host(copy)));
  first.host().release();
  for (const EngineUse& use : copy.uses)
    co_await use.engines->queue(use.engine).acquire();

  *activity = simulation.begin_activity(copy.info);
  const Seconds later_commands =
      (spec.control + spec.schedule + copy.latency + spec.sync) * static_cast<double>(copy.commands - 1);
  co_await simulation.sleep(spec.schedule + copy.latency + later_commands);
  for (const EngineUse& use : copy.uses) {
    add_demand(copy.path, use.engines->bandwidth(use.engine), use.bytes.value);
  }
  FlowSpec flow_spec;
  flow_spec.demands = copy.path;
  flow_spec.weight = copy.weight;
  flow_spec.activity = *activity;
  RunningFlow flow(simulation, flow_spec);
  co_await flow;
  co_await simulation.sleep(spec.sync);
  simulation.end_activity(*activity);
  for (const EngineUse& use : copy.uses)
    use.engines->queue(use.engine).release();
}

}  // namespace c3
