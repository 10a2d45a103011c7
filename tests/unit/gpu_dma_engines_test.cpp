// Phases of DMA commands, by hand: control 1 us (host), schedule 2 us, copy at 50 GB/s (1 MB in 20 us), sync 3
// us.

#include "gpu/dma_engines.hpp"

#include <doctest/doctest.h>

#include <deque>

#include "tests/support/gpu_bench.hpp"
#include "tests/support/near.hpp"
#include "tests/support/recording.hpp"

namespace c3::gpu_dma_engines_test {

using namespace literals;
using namespace test;

namespace {

struct CopyBench {
  explicit CopyBench(Observer* observer = nullptr) : simulation(observer) {
    for (int rank = 0; rank < 2; ++rank)
      gpus.emplace_back(simulation, spec.dma, rank);
  }
  /// 1 MB by each engine of GPU 0 in \p engines, in one go.
  DmaCopy copy(const std::vector<int>& engines) {
    DmaCopy copy;
    copy.stages.emplace_back();
    for (const int engine : engines)
      add(copy, 0, engine);
    return copy;
  }
  void add(DmaCopy& copy, std::size_t gpu, int engine) {
    DmaEngines& engines = gpus[gpu];
    int place = 1;
    for (const EngineUse& use : copy.uses)
      place += use.engines == &engines ? 1 : 0;
    copy.uses.push_back({&engines, engine, &engines.host(), 1, place, place, 20.0_us});
    copy.stages.front().demands.push_back({engines.bandwidth(engine), 1e6});
  }
  /// Starts \p copy now. \returns its end, known after run().
  const double& start(DmaCopy copy) {
    double& end = ends.emplace_back(-1.0);
    simulation.spawn("copy", timed(simulation, std::move(copy), &activities.emplace_back(), &end));
    return end;
  }
  static Task timed(Simulation& simulation, DmaCopy copy, ActivityId* activity, double* end) {
    co_await run_copy(simulation, std::move(copy), activity, nullptr);
    *end = simulation.now().value;
  }

  GpuSpec spec = round_gpu();
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

TEST_CASE("every further hop of a DMA copy costs its phases again") {
  CopyBench bench;
  DmaCopy copy = bench.copy({0});
  copy.hops = 3;
  const double& end = bench.start(std::move(copy));
  bench.simulation.run_without_simgrid();
  CHECK(end == near(26e-6 + 2 * 6e-6));
}

TEST_CASE("a DMA copy is as slow as the narrowest part of its path") {
  CopyBench bench;
  DmaCopy copy = bench.copy({0});
  const ResourceId link = bench.simulation.fluid().add_resource({.name = "link", .unit = "B/s"}, 10e9);
  copy.stages.front().demands.push_back({link, 1e6});
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
  bench.add(copy, 1, 0);
  const double& end = bench.start(std::move(copy));
  bench.simulation.run_without_simgrid();
  CHECK(end == near(26e-6));
}

TEST_CASE("prelaunched, a trigger stands in place of control and schedule") {
  CopyBench bench;
  bench.spec.dma.trigger = 0.5_us;
  DmaCopy copy = bench.copy({0});
  copy.prelaunched = true;
  const double& end = bench.start(std::move(copy));
  bench.simulation.run_without_simgrid();
  CHECK(end == near(0.5e-6 + 20e-6 + 3e-6));
}

TEST_CASE("a copy has a latency of its own, once for copies that follow one another, which cost less each") {
  CopyBench bench;
  bench.spec.dma.copy_latency = 2.0_us;
  bench.spec.dma.next_copy = 0.25_us;
  DmaCopy copy = bench.copy({0});
  copy.stages.push_back(copy.stages.front());
  copy.stages.push_back(copy.stages.front());
  const double& end = bench.start(std::move(copy));
  bench.simulation.run_without_simgrid();
  CHECK(end == near(1e-6 + 2e-6 + 2e-6 + 3 * 20e-6 + 2 * 0.25e-6 + 3e-6));
}

TEST_CASE("a host sees one signal at a time, and makes commands first") {
  // Both end 26 and 27 us after the start; seeing one takes 4 us.
  CopyBench bench;
  bench.spec.dma.observe = 4.0_us;
  const double& first = bench.start(bench.copy({0}));
  const double& second = bench.start(bench.copy({1}));
  bench.simulation.run_without_simgrid();
  CHECK(first == near(30e-6));
  CHECK(second == near(34e-6));
}

TEST_CASE("a gang's host falls behind by what seeing a signal takes longer than making a command") {
  // Alone, engine k is heard of at 25 + k us, and seen 4 us later or 4 us after the one before it.
  for (const double observe : {0.5e-6, 4e-6}) {
    CopyBench bench;
    bench.spec.dma.observe = Seconds{observe};
    const double& gang = bench.start(bench.copy({0, 1, 2}));
    bench.simulation.run_without_simgrid();
    CopyBench apart;
    apart.spec.dma.observe = Seconds{observe};
    const double& last =
        (apart.start(apart.copy({0})), apart.start(apart.copy({1})), apart.start(apart.copy({2})));
    apart.simulation.run_without_simgrid();
    CHECK(gang == near(last));
  }
}

TEST_CASE("a gang with a shared engine ends when that engine would by itself") {
  // Six of seven submissions have an engine each, the seventh shares the first's: 1 us + 2 (5 us + 20 us).
  CopyBench bench;
  DmaCopy copy = bench.copy({0, 1, 2});
  copy.uses.front().submissions = 2;
  copy.uses.front().last = 4;
  copy.stages.front().demands.front().amount = 2e6;
  const double& end = bench.start(std::move(copy));
  bench.simulation.run_without_simgrid();
  CHECK(end == near(1e-6 + 2 * 25e-6));
}

TEST_CASE("two gangs that name their engines in opposite orders do not wait for each other") {
  // Each finds its first engine busy until 26 us, and would get it then.
  CopyBench bench;
  bench.start(bench.copy({0}));
  DmaCopy busy;
  busy.stages.emplace_back();
  bench.add(busy, 1, 0);
  bench.start(std::move(busy));
  DmaCopy one = bench.copy({0});
  bench.add(one, 1, 0);
  DmaCopy other;
  other.stages.emplace_back();
  bench.add(other, 1, 0);
  bench.add(other, 0, 0);
  const double& first = bench.start(std::move(one));
  const double& second = bench.start(std::move(other));
  bench.simulation.run_without_simgrid();
  CHECK(first == near(26e-6 + 25e-6));
  CHECK(second == near(26e-6 + 2 * 25e-6));
}

}  // namespace c3::gpu_dma_engines_test
