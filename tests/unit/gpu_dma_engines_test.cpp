// Phases of DMA commands, by hand: control 1 us (host), schedule 2 us, copy at 50 GB/s (1 MB in 20 us), sync 3
// us.

#include "gpu/dma_engines.hpp"

#include <doctest/doctest.h>

#include <deque>

#include "tests/support/gpu_bench.hpp"
#include "tests/support/near.hpp"
#include "tests/support/recording.hpp"

using namespace c3;
using namespace c3::literals;
using namespace c3::test;

namespace {

struct CopyBench {
  explicit CopyBench(Observer* observer = nullptr) : simulation(observer) {
    for (int rank = 0; rank < 2; ++rank)
      gpus.emplace_back(simulation, spec.dma, rank);
  }
  /// 1 MB by each engine of GPU 0 in \p engines.
  DmaCopy copy(const std::vector<int>& engines) {
    DmaCopy copy;
    for (const int engine : engines)
      copy.uses.push_back({&gpus[0], engine, 1.0_MB});
    return copy;
  }
  /// Starts \p copy now. \returns its end, known after run().
  const double& start(DmaCopy copy) {
    double& end = ends.emplace_back(-1.0);
    simulation.spawn("copy", timed(simulation, std::move(copy), &activities.emplace_back(), &end));
    return end;
  }
  static Task timed(Simulation& simulation, DmaCopy copy, ActivityId* activity, double* end) {
    co_await run_copy(simulation, std::move(copy), activity);
    *end = simulation.now().value;
  }

  const GpuSpec spec = round_gpu();
  Simulation simulation;
  std::deque<DmaEngines> gpus;
  std::deque<ActivityId> activities;
  std::deque<double> ends;
};

}  // namespace

TEST_CASE("a DMA copy is control, schedule, copy and sync") {
  CopyBench bench;
  const double& end = bench.start(bench.copy({0}));
  bench.simulation.run_without_simgrid();
  CHECK(end == near(26e-6));
}

TEST_CASE("every further command of a DMA copy costs its phases again") {
  CopyBench bench;
  DmaCopy copy = bench.copy({0});
  copy.commands = 3;
  const double& end = bench.start(std::move(copy));
  bench.simulation.run_without_simgrid();
  CHECK(end == near(26e-6 + 2 * 6e-6));
}

TEST_CASE("a DMA copy is as slow as the narrowest part of its path") {
  CopyBench bench;
  DmaCopy copy = bench.copy({0});
  const ResourceId link = bench.simulation.fluid().add_resource({.name = "link", .unit = "B/s"}, 10e9);
  copy.path = {{link, 1e6}};
  const double& end = bench.start(std::move(copy));
  bench.simulation.run_without_simgrid();
  CHECK(end == near(106e-6));
}

TEST_CASE("commands of one host are created one at a time, and run at once on different engines") {
  CopyBench bench;
  const double& first = bench.start(bench.copy({0}));
  const double& second = bench.start(bench.copy({1}));
  bench.simulation.run_without_simgrid();
  CHECK(first == near(26e-6));
  CHECK(second == near(27e-6));
}

TEST_CASE("an engine serves one command at a time, and observers see it when its turn has come") {
  Recording seen;
  CopyBench bench(&seen);
  const double& first = bench.start(bench.copy({0}));
  const double& second = bench.start(bench.copy({0}));
  bench.simulation.run_without_simgrid();
  CHECK(first == near(26e-6));
  CHECK(second == near(26e-6 + 25e-6));  // its control was hidden
  CHECK(seen.activity(bench.activities[0]).start.value == near(1e-6));
  CHECK(seen.activity(bench.activities[1]).start.value == near(26e-6));
  CHECK(seen.activity(bench.activities[1]).end.value == near(51e-6));
  CHECK(seen.total("gpu0.dma0") == near(2e6));
  CHECK(seen.total("gpu1.dma0") == 0.0);
}

TEST_CASE("a gang holds all its engines, and waits for the host with the most commands") {
  CopyBench bench;
  const double& gang = bench.start(bench.copy({0, 1, 2}));
  const double& behind = bench.start(bench.copy({2}));
  bench.simulation.run_without_simgrid();
  CHECK(gang == near(3e-6 + 25e-6));
  CHECK(behind == near(28e-6 + 25e-6));
}

TEST_CASE("a gang of engines of two GPUs has one command a host") {
  CopyBench bench;
  DmaCopy copy = bench.copy({0});
  copy.uses.push_back({&bench.gpus[1], 0, 1.0_MB});
  const double& end = bench.start(std::move(copy));
  bench.simulation.run_without_simgrid();
  CHECK(end == near(26e-6));
}
