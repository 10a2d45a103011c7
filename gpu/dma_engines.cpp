#include "gpu/dma_engines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

namespace c3 { inline namespace gpu {

DmaEngines::DmaEngines(Simulation& simulation, const DmaSpec& spec, int rank)
    : spec_(spec), rank_(rank), host_(simulation) {
  for (int engine = 0; engine < spec.engines; ++engine) {
    queues_.emplace_back(simulation);
    const std::string name = fmt::format("gpu{}.dma{}", rank, engine);
    bandwidth_.push_back(simulation.fluid().add_resource({.name = name, .unit = "B/s", .gpu = rank},
                                                         spec.engine_bandwidth.value));
  }
}

namespace {

/// What a copy pays beside its bytes. A gang pays what its slowest engine would pay by itself.
struct Phases {
  Seconds control;  ///< until the last doorbell of the busiest host
  Seconds start;    ///< from then until bytes move for the last time
  Seconds gaps;     ///< in front of each stage but the first
  Seconds sync;
  Seconds observe;  ///< what is left of it when the last signal has come
};

/// From the doorbell or the trigger to the end of the signal, without bytes.
Seconds on_engine(const DmaSpec& dma, const DmaCopy& copy) {
  return (copy.prelaunched ? dma.trigger : dma.schedule) + copy.latency + dma.copy_latency + dma.sync;
}

/// How long a host is still busy with signals when the last one has come: it has made all its commands first,
/// and sees signals in the order in which engines by themselves would send them.
Seconds left_to_observe(const DmaCopy& copy, Seconds control, Seconds once) {
  const Seconds observe = copy.uses.front().engines->spec().observe;
  std::map<const FifoLock*, std::vector<Seconds>> signals;
  for (const EngineUse& use : copy.uses) {
    for (int i = 1; i <= use.submissions; ++i) {
      const Seconds in_turn = control * use.first + once * i;
      const Seconds at = i == use.submissions ? std::max(in_turn, control * use.last + once) : in_turn;
      signals[use.host].push_back(at + use.alone * (static_cast<double>(i) / use.submissions));
    }
  }
  Seconds last, seen;
  for (auto& [host, dates] : signals) {
    std::ranges::sort(dates);
    Seconds free = control * static_cast<double>(dates.size());
    for (const Seconds date : dates)
      free = std::max(free, date) + observe;
    seen = std::max(seen, free);
    last = std::max(last, dates.back());
  }
  return seen - last;
}

Phases phases_of(const DmaCopy& copy) {
  const DmaSpec& dma = copy.uses.front().engines->spec();
  const Seconds control = copy.prelaunched ? Seconds{} : dma.control;
  const Seconds once = on_engine(dma, copy);
  int submissions = 0;  // of the busiest host
  int most = 0;         // of one engine
  Seconds end;          // of the last engine, were there no bytes
  for (const EngineUse& use : copy.uses) {
    submissions = std::max(submissions, use.last);
    most = std::max(most, use.submissions);
    end = std::max({end, control * use.first + once * use.submissions, control * use.last + once});
  }
  const Seconds hop = control + once + (copy.prelaunched ? Seconds{} : dma.observe);
  const Seconds later_hops = hop * static_cast<double>((copy.hops - 1) * most);
  return {.control = control * submissions,
          .start = end - control * submissions - dma.sync + later_hops,
          .gaps = dma.next_copy,
          .sync = dma.sync,
          .observe = left_to_observe(copy, control, once)};
}

/// In an order that all copies keep, so that two that want the same engines never wait for each other.
void sort_for_acquisition(std::vector<EngineUse>& uses) {
  std::ranges::sort(uses, {}, [](const EngineUse& use) { return std::pair(use.engines->rank(), use.engine); });
}

FlowSpec flow_of(const DmaStage& stage, ActivityId activity) {
  FlowSpec flow;
  flow.demands = stage.demands;
  flow.weight = stage.weight;
  flow.priority = stage.priority;
  flow.activity = activity;
  return flow;
}

}  // namespace

Task run_copy(Simulation& simulation, DmaCopy copy, ActivityId* activity, Event* signalled) {
  const Phases phases = phases_of(copy);
  FifoLock& host = *copy.uses.front().host;
  if (phases.control > Seconds{}) {
    co_await host.acquire();
    co_await simulation.sleep(phases.control);
    host.release();
  }
  sort_for_acquisition(copy.uses);
  for (const EngineUse& use : copy.uses)
    co_await use.engines->queue(use.engine).acquire();

  *activity = simulation.begin_activity(copy.info);
  co_await simulation.sleep(phases.start);
  for (const DmaStage& stage : copy.stages) {
    if (&stage != &copy.stages.front()) co_await simulation.sleep(phases.gaps);
    const FlowSpec spec = flow_of(stage, *activity);
    RunningFlow flow(simulation, spec);
    co_await flow;
  }
  co_await simulation.sleep(phases.sync);
  simulation.end_activity(*activity);
  for (const EngineUse& use : copy.uses)
    use.engines->queue(use.engine).release();
  if (signalled != nullptr) signalled->set();
  if (phases.observe <= Seconds{}) co_return;
  co_await host.acquire();
  co_await simulation.sleep(phases.observe);
  host.release();
}

}}  // namespace c3::gpu
