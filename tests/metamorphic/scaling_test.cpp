// A change of units must not change the physics.

#include <doctest/doctest.h>

#include "tests/support/main_job.hpp"
#include "tests/support/near.hpp"

namespace c3::test {
namespace {

/// Every rate times \p factor, every duration divided by it; sizes stay.
Experiment faster(Experiment job, double factor) {
  const auto speed = [&](auto&... rates) { ((rates.value *= factor), ...); };
  const auto shorten = [&](auto&... durations) { ((durations.value /= factor), ...); };
  GpuSpec& gpu = job.cluster.gpu;
  speed(gpu.compute.boost_clock, gpu.cache.l2_bandwidth, gpu.cache.xcd_port_bandwidth, gpu.cache.llc_bandwidth);
  for (MatrixRate& rate : gpu.compute.matrix)
    speed(rate.peak, rate.sustained, rate.clock);
  speed(gpu.hbm.peak, gpu.hbm.read, gpu.hbm.write, gpu.hbm.copy, gpu.dma.engine_bandwidth);
  shorten(gpu.hbm.latency, gpu.dispatch.launch_latency, gpu.dispatch.dependent_gap);
  DmaSpec& dma = gpu.dma;
  shorten(dma.control, dma.schedule, dma.sync, dma.copy_latency, dma.next_copy, dma.trigger, dma.observe);
  LinkSpec& link = job.cluster.node.link;
  speed(link.raw, link.one_way, link.both_ways);
  shorten(link.latency);
  CollectiveLibrarySpec& library = job.cluster.library;
  speed(library.simple.channel_rate, library.cu_rate, library.link_payload);
  if (library.pair_cu_rate) speed(*library.pair_cu_rate);
  shorten(library.simple.base_latency, library.simple.hop_latency);
  return job;
}

void check_scaling(const Experiment& job, double factor) {
  const Experiment scaled = faster(job, factor);
  for (std::size_t i = 0; i < job.strategies.size(); ++i) {
    CAPTURE(job.name);
    CAPTURE(job.strategies[i].name);
    const Seconds before = run_strategy(job, job.strategies[i]).time;
    const Seconds after = run_strategy(scaled, scaled.strategies[i]).time;
    CHECK(after.value * factor == near(before.value, 1e-9));
  }
}

TEST_CASE("all rates times lambda and latencies by lambda give all times by lambda: main job") {
  for (const double factor : {0.25, 3.7})
    check_scaling(main_job(), factor);
}

TEST_CASE("all rates times lambda and latencies by lambda give all times by lambda: random jobs") {
  for (std::uint64_t number = 1; number <= 20; ++number)
    check_scaling(random_job(number), 2.0);
}

}  // namespace
}  // namespace c3::test
