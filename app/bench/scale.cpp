#include "app/bench/scale.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "app/bench/in_child.hpp"
#include "base/cpu_clock.hpp"
#include "collectives/backends/entry.hpp"
#include "collectives/measure.hpp"
#include "configs/jobs/experiment_reader.hpp"

namespace c3::bench {
namespace {

constexpr const char* kSystem = "h100-sxm-8";
constexpr Bytes kRingBytes{1024.0 * 1024.0};
constexpr Bytes kHierarchyBytes{1024.0 * 1024.0 * 1024.0};
constexpr int kChunks = 4;  // chunks of a step of a ring, in flight one after another

struct TimedRun {
  double cpu_seconds = 0.0;
  double simulated_seconds = 0.0;
  std::uint64_t flows = 0;
};

struct ScaleReport {
  TimedRun here, limit;
  std::uint64_t peak_rss = 0;
};

/// One switch with a port for each GPU.
ClusterSpec one_switch(int gpus) {
  ClusterSpec cluster = load_cluster(kSystem);
  cluster.node.gpus = gpus;
  return cluster;
}

ClusterSpec nodes_of_eight(int gpus) {
  return load_cluster(SystemChoice{.system = kSystem, .nodes = gpus / 8});
}

TimedRun run_ring(const ScaleCase& work, CollectiveGrain grain, void (Simulation::*loop)()) {
  const ClusterSpec spec = one_switch(work.gpus);
  Simulation simulation;
  ClusterSetup setup;
  setup.gpu.streams = {work.name};
  setup.folded = false;  // every rank for itself
  Cluster cluster(simulation, spec, setup);
  CollectivePlan plan;
  plan.name = work.name;
  plan.call = {.kind = CollectiveKind::all_reduce, .bytes = kRingBytes};
  plan.method.algorithm = Algorithm::ring;
  plan.grain = grain;
  plan.ring_chunks = grain == CollectiveGrain::step ? kChunks : 1;
  plan.range = {0, spec.gpu.compute.cus_per_xcd};
  const CpuClock clock;
  const auto run = make_collective(cluster, plan);
  for (int rank = 0; rank < work.gpus; ++rank)
    simulation.spawn(work.name, run->join(rank, Seconds{}, nullptr));
  (simulation.*loop)();
  return {clock.seconds(), simulation.now().value, simulation.fluid().completed_flows()};
}

TimedRun run_hierarchy(const ScaleCase& work) {
  const CpuClock clock;
  const ClusterSpec spec = nodes_of_eight(work.gpus);
  MeasuredMethod how;
  how.method.algorithm = Algorithm::hierarchical;
  how.grain = CollectiveGrain::automatic;
  const auto measured =
      measure_collective(spec, {.kind = CollectiveKind::all_reduce, .bytes = kHierarchyBytes}, how);
  return {clock.seconds(), measured.time.value, 0};
}

TimedRun build_platform(const ScaleCase& work) {
  const CpuClock clock;
  const ClusterSpec spec = nodes_of_eight(work.gpus);
  Simulation simulation;
  const Interconnect interconnect(simulation.fluid(), spec.network(), {.streams = {work.name}});
  return {clock.seconds(), 0.0, 0};
}

/// The faster of two runs of the same.
void keep_best(TimedRun& best, const TimedRun& run) {
  if (best.cpu_seconds > 0.0 && (best.simulated_seconds != run.simulated_seconds || best.flows != run.flows))
    throw std::logic_error("two runs of one benchmark differ");
  if (best.cpu_seconds == 0.0 || run.cpu_seconds < best.cpu_seconds) best = run;
}

ScaleReport repeat(const ScaleCase& work, int repeats) {
  ScaleReport report;
  for (int i = 0; i < repeats; ++i) {
    switch (work.work) {
      case ScaleWork::ring:
        keep_best(report.here, run_ring(work, CollectiveGrain::step, &Simulation::run));
        keep_best(report.limit, run_ring(work, CollectiveGrain::step, &Simulation::run_without_simgrid));
        break;
      case ScaleWork::hierarchy:
        keep_best(report.here, run_hierarchy(work));
        break;
      case ScaleWork::platform:
        keep_best(report.here, build_platform(work));
        break;
    }
  }
  report.peak_rss = peak_rss();
  return report;
}

TimedRun repeat_gang(const ScaleCase& work, int repeats) {
  TimedRun best;
  for (int i = 0; i < repeats; ++i)
    keep_best(best, run_ring(work, CollectiveGrain::gang, &Simulation::run));
  return best;
}

}  // namespace

std::vector<ScaleCase> all_scale_cases() {
  const auto ring = [](const char* name, int gpus, int most_repeats) {
    const double sends = 2.0 * (gpus - 1) * gpus * kChunks;
    return ScaleCase{name,
                     fmt::format("ring all-reduce of 1 MiB, {} GPUs on one switch, {} chunks in flight: {:.1f} "
                                 "million sends",
                                 gpus, kChunks, sends / 1e6),
                     ScaleWork::ring, gpus, most_repeats};
  };
  return {ring("allreduce-512", 512, 100),
          ring("allreduce-1024", 1'024, 3),
          ring("allreduce-4096", 4'096, 1),
          {"hierarchy-16384", "hierarchical all-reduce of 1 GiB, 2,048 nodes of 8 GPUs, from nothing",
           ScaleWork::hierarchy, 16'384},
          {"platform-100000", "interconnect of 12,500 nodes of 8 GPUs, built", ScaleWork::platform, 100'000}};
}

ScaleMeasurement measure(const ScaleCase& work, int repeats) {
  const int times = std::min(repeats, work.most_repeats);
  const auto report = report_of_child<ScaleReport>([&] { return repeat(work, times); });
  ScaleMeasurement measured{.cpu_seconds = report.here.cpu_seconds,
                            .flows = report.here.flows,
                            .simulated_seconds = report.here.simulated_seconds,
                            .peak_rss_bytes = report.peak_rss};
  if (work.work != ScaleWork::ring) return measured;
  if (report.limit.simulated_seconds != report.here.simulated_seconds ||
      report.limit.flows != report.here.flows)
    throw std::logic_error("a ring's end differs with and without SimGrid's loop");
  measured.limit_cpu_seconds = report.limit.cpu_seconds;
  const auto gang = report_of_child<TimedRun>([&] { return repeat_gang(work, repeats); });
  measured.gang = GangMeasurement{gang.cpu_seconds, gang.simulated_seconds};
  return measured;
}

}  // namespace c3::bench
