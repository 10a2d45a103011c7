#include "studies/conccl/collectives_alone.hpp"

#include <stdexcept>

#include "collectives/library/tuner.hpp"
#include "collectives/measure.hpp"
#include "workloads/execute/run.hpp"
#include "workloads/program/written_streams.hpp"

namespace c3 { inline namespace studies {

Seconds time_on_cus(const Experiment& experiment, const CollectiveCall& call, Algorithm algorithm, int cus) {
  Experiment alone = experiment;
  alone.cluster.gpu.host.launch_skew = Seconds{};
  const std::string stream = "collective";
  alone.program = program_of({{stream, {{std::string(name_of(call.kind)), call}}}}, alone.cluster.ranks());
  StreamPolicy policy;
  policy.method.algorithm = algorithm;
  const Strategy strategy{.name = "alone", .order = {}, .streams = {{stream, policy}}};
  return run_once(alone, strategy, {.cus = {cus}}).time;
}

CopyTimes copy_times(const ClusterSpec& cluster, const CollectiveCall& call, const DmaOptions& dma) {
  const auto on_channels = [&](const MethodWish& wish) {
    return measure_collective(cluster, call, {.method = choose_method(call, cluster, wish)}).time;
  };
  CopyTimes times;
  times.library = on_channels({});
  const bool has_ring = call.kind == CollectiveKind::all_gather;
  times.ring = has_ring ? on_channels({.algorithm = Algorithm::ring}) : times.library;
  times.engines = measure_collective(cluster, call, {.backend = Backend::dma, .dma = dma}).time;
  return times;
}

DmaOptions dma_options(const Experiment& experiment) {
  for (const Strategy& strategy : experiment.strategies) {
    for (const auto& [stream, policy] : strategy.streams) {
      if (policy.backend == Backend::dma) return policy.dma;
    }
  }
  throw std::logic_error("dma_options: no strategy of '" + experiment.name + "' uses copy engines");
}

}}  // namespace c3::studies
