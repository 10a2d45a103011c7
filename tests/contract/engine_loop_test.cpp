// Whatever drives a simulation, and whatever this process ran before, its dates are the same to the last bit.

#include <doctest/doctest.h>

#include <array>

#include <cstdint>
#include <functional>
#include <random>
#include <stdexcept>
#include <vector>

#include "engine/errors.hpp"
#include "engine/event.hpp"
#include "engine/simulation.hpp"

namespace c3::engine_loop_test {

using namespace literals;

namespace {

constexpr std::uint32_t kGpus = 8;

/// Eight tasks that sleep, copy and meet at events, on shared memories and links.
struct Scenario {
  Simulation simulation;
  std::vector<ResourceId> hbm, link;
  std::vector<double> dates;

  Task gpu_program(std::uint32_t gpu, Event& start, Event& half_way) {
    std::mt19937 random(gpu + 1);
    co_await start;
    for (int step = 0; step < 200; ++step) {
      if (step == 100 && gpu == 0) half_way.set();
      if (step == 100) co_await half_way;
      const double size = 1e6 + static_cast<double>(random() % 1'000'000);
      const auto demands =
          std::to_array<Demand>({{hbm[gpu], size}, {link[gpu], size}, {hbm[(gpu + 1) % kGpus], size}});
      RunningFlow copy(
          simulation,
          {.demands = demands, .weight = 1.0 / size, .priority = static_cast<PriorityClass>(gpu / 6)});
      if (step % 7 == 0) co_await simulation.sleep(0.3_us);
      co_await copy;
      dates.push_back(simulation.now().value);
    }
  }

  Task starter(Event& start) {
    co_await simulation.sleep(1.0_us);
    start.set();
  }

  std::vector<double> run(const std::function<void(Simulation&)>& loop) {
    for (std::uint32_t gpu = 0; gpu < kGpus; ++gpu) {
      hbm.push_back(simulation.fluid().add_resource({}, 700e9));
      link.push_back(simulation.fluid().add_resource({}, 450e9));
    }
    Event start(simulation, "start"), half_way(simulation, "half way");
    for (std::uint32_t gpu = 0; gpu < kGpus; ++gpu)
      simulation.spawn("gpu", gpu_program(gpu, start, half_way));
    simulation.spawn("starter", starter(start));
    loop(simulation);
    return dates;
  }
};

std::vector<double> run_here() {
  return Scenario().run([](Simulation& simulation) { simulation.run(); });
}

Task fails_later(Simulation& simulation) {
  co_await simulation.sleep(0.1_s);
  throw std::runtime_error("meant to");
}

Task waits_for_ever(Event& event) { co_await event; }

}  // namespace

TEST_CASE("SimGrid's loop and a plain loop give bit-identical dates") {
  const auto plain = Scenario().run([](Simulation& simulation) { simulation.run_without_simgrid(); });
  CHECK(plain.size() == 200 * kGpus);
  CHECK(run_here() == plain);
}

TEST_CASE("a simulation gives bit-identical dates whatever ran before it, even what failed or dead-locked") {
  const auto first = run_here();
  CHECK(run_here() == first);
  {
    Simulation other;
    other.spawn("fails", fails_later(other));
    CHECK_THROWS_AS(other.run(), std::runtime_error);
  }
  CHECK(run_here() == first);
  {
    Simulation other;
    Event never(other, "never");
    other.spawn("waits", waits_for_ever(never));
    other.spawn("fails", fails_later(other));
    CHECK_THROWS_AS(other.run(), std::runtime_error);
  }
  CHECK(run_here() == first);
  {
    Simulation other;
    Event never(other, "never");
    other.spawn("waits", waits_for_ever(never));
    CHECK_THROWS_AS(other.run(), DeadlockError);
  }
  CHECK(run_here() == first);
}

TEST_CASE("a simulation that goes on after its end gives the dates of one run in a piece") {
  // 1 us, then 2 us more, from the same clock.
  Simulation simulation;
  std::vector<double> dates;
  const auto sleep = [](Simulation& s, std::vector<double>& log, Seconds duration) -> Task {
    co_await s.sleep(duration);
    log.push_back(s.now().value);
  };
  simulation.spawn("first", sleep(simulation, dates, 1.0_us));
  simulation.run();
  simulation.spawn("second", sleep(simulation, dates, 2.0_us));
  simulation.run();
  CHECK(dates == std::vector<double>{1e-6, 1e-6 + 2e-6});
}

}  // namespace c3::engine_loop_test
