// measure.estimate = "stem": kernels that are simulated until they are known in their company, and then
// replayed.

#include "workloads/execute/kernel_replay.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tests/support/near.hpp"
#include "tests/support/print_units.hpp"
#include "tests/unit/workloads_pair.hpp"
#include "workloads/execute/run.hpp"

namespace c3::sampling_kernel_replay_test {

using namespace literals;
using namespace test;

namespace {

constexpr double kAsked = 0.05;
constexpr std::size_t kCompute = 0, kOther = 1;

/// Launches of one kernel on stream kCompute of rank 0.
class Launches {
 public:
  std::optional<Seconds> run(Seconds takes, double speed = 1.0) {
    return run(takes, speed, [] {});
  }
  /// \param meanwhile what happens between its begin and its end
  template <class Meanwhile>
  std::optional<Seconds> run(Seconds takes, double speed, Meanwhile meanwhile) {
    const std::size_t number = replay.number_of(operation.name, *kernel_of(operation));
    replay.company(0).begin_kernel(kCompute, number);
    SampledKernel launch(replay, 0, kCompute, operation, number);
    const std::optional<Seconds> known = launch.known(speed);
    meanwhile();
    launch.ended(known.value_or(takes));
    replay.company(0).end(kCompute);
    return known;
  }
  void calm(int count, Seconds takes) {
    for (int i = 0; i < count; ++i)
      run(takes);
  }

  KernelReplay replay{kAsked, 2};
  Operation operation{.work = Operator(gemm_of_tiles(8, 8)), .name = 1};
};

TEST_CASE("a kernel is replayed from its fourth launch on, at another clock or beside another not yet") {
  Launches launches;
  for (int i = 0; i < 3; ++i)
    CHECK(!launches.run(10.0_us));
  CHECK(launches.run(99.0_us) == 10.0_us);
  CHECK(!launches.run(12.0_us, 0.8));
  launches.replay.company(0).begin_kernel(kOther, 7);
  CHECK(!launches.run(15.0_us));
  launches.replay.company(0).end(kOther);
  CHECK(launches.run(99.0_us) == 10.0_us);
  const KernelReplay::Summary summary = launches.replay.summary();
  CHECK(summary.simulated == 5);
  CHECK(summary.replayed == 2);
  CHECK(summary.time / 1.0_us == near(77.0));
  CHECK(summary.replayed_time / 1.0_us == near(20.0));
}

TEST_CASE("which of the simulated durations a replayed kernel takes is drawn by its launch") {
  Launches launches;
  std::set<double> taken;
  for (launches.operation.draw = 0; launches.operation.draw < 100; ++launches.operation.draw) {
    const Seconds takes = launches.operation.draw % 2 == 0 ? 10.0_us : 10.1_us;
    if (const std::optional<Seconds> known = launches.run(takes)) taken.insert(known->value);
  }
  CHECK(taken == std::set<double>{(10.0_us).value, (10.1_us).value});
}

TEST_CASE("a kernel whose company comes or goes meanwhile teaches nothing, and the next is simulated") {
  Launches launches;
  launches.calm(3, 10.0_us);
  const auto comes_and_goes = [&] {
    launches.replay.company(0).begin_kernel(kOther, 7);
    launches.replay.company(0).end(kOther);
  };
  CHECK(launches.run(99.0_us, 1.0, comes_and_goes) == 10.0_us);  // replayed: nobody could know
  CHECK(launches.replay.summary().surprised == 1);
  CHECK(launches.replay.summary().surprised_time / 1.0_us == near(10.0));
  CHECK(!launches.run(30.0_us, 1.0, comes_and_goes));
  CHECK(!launches.run(10.0_us));  // calm again, and counted
  CHECK(launches.run(99.0_us) == 10.0_us);
}

TEST_CASE("kernels of one shape share durations, and a name that is new is as calm as its shape was last") {
  Launches launches;
  const auto comes_and_goes = [&] {
    launches.replay.company(0).begin_kernel(kOther, 7);
    launches.replay.company(0).end(kOther);
  };
  launches.calm(3, 10.0_us);
  launches.operation.name = 2;
  CHECK(launches.run(99.0_us) == 10.0_us);
  CHECK(launches.run(99.0_us, 1.0, comes_and_goes) == 10.0_us);
  launches.operation.name = 3;
  CHECK(!launches.run(10.0_us));
  launches.operation.work = Operator(gemm_of_tiles(4, 4));
  CHECK(!launches.run(5.0_us));
}

TEST_CASE("kernels beside which something ends are replayed, and those beside which something begins are not") {
  Launches launches;
  Company& company = launches.replay.company(0);
  const auto run_beside = [&](Seconds takes) {
    company.begin_kernel(kOther, 7);
    return launches.run(takes, 1.0, [&] { company.end(kOther); });
  };
  for (int i = 0; i < 3; ++i)
    CHECK(!run_beside(14.0_us));
  CHECK(run_beside(99.0_us) == 14.0_us);
  CHECK(launches.replay.summary().surprised == 0);
  for (int i = 0; i < 6; ++i) {
    CHECK(!launches.run(17.0_us, 1.0, [&] { company.begin_kernel(kOther, 7); }));
    company.end(kOther);
  }
}

TEST_CASE("within a step of the clock a replayed kernel follows it") {
  Launches launches;
  launches.calm(3, 10.0_us);
  CHECK(launches.run(99.0_us, 0.995).value() / 10.0_us == near(1.0 / 0.995));
}

/// Layers of two products each on eight GPUs; gathers run beside the first of them, one after another, and
/// memory that both want makes products slower beside them.
WrittenExperiment layers(int count, int gathers, Estimator estimate) {
  WrittenExperiment experiment = pair();
  experiment.cluster.gpu.dispatch.work_group_spread = 0.05;
  experiment.cluster.gpu.hbm.read = experiment.cluster.gpu.hbm.write = experiment.cluster.gpu.hbm.copy =
      2.0_TBps;
  WrittenStream compute{"compute", {}}, fsdp{"fsdp", {}};
  for (int i = 0; i < count; ++i) {
    compute.operations.push_back({"up", gemm_of_tiles(12, 13, 256)});
    compute.operations.push_back({"down", gemm_of_tiles(9, 7, 256)});
  }
  for (int i = 0; i < gathers; ++i)
    fsdp.operations.push_back({"gather", gather(Bytes{4e6})});
  experiment.streams = {compute, fsdp};
  experiment.measure.estimate = estimate;
  return experiment;
}

RunResult simulated(const Experiment& experiment, std::uint64_t seed = 1) {
  return run_once(experiment, {.name = "default", .order = {}, .streams = {}}, {.seed = seed});
}

TEST_CASE("where nothing repeats often enough, a run is the whole simulation, bit for bit") {
  const RunResult whole = simulated(layers(1, 1, Estimator::none)),
                  stem = simulated(layers(1, 1, Estimator::stem));
  CHECK(stem.time.value == whole.time.value);
  CHECK(!stem.estimate);
  CHECK(stem.notes == whole.notes);
}

TEST_CASE("an estimate by stem says its method, its bound, the share simulated and the kernels replayed") {
  const RunResult whole = simulated(layers(40, 10, Estimator::none)),
                  stem = simulated(layers(40, 10, Estimator::stem));
  CHECK(!whole.estimate);
  REQUIRE(stem.estimate);
  CHECK(stem.estimate->method == "stem");
  REQUIRE(stem.estimate->bound);
  CHECK(*stem.estimate->bound >= kAsked);
  CHECK(stem.estimate->simulated > 0.0);
  CHECK(stem.estimate->simulated < 0.5);
  CHECK(stem.estimate->low < whole.time);
  CHECK(stem.estimate->high > whole.time);
  CHECK(stem.flows < whole.flows / 2);
  CHECK(std::ranges::any_of(stem.notes, [](const std::string& note) {
    return note.find("stem: ") == 0 && note.find(" of 80 kernels were simulated") != std::string::npos;
  }));
}

TEST_CASE("contract: the time by stem is within its bound of the whole simulation in 95 % of 200 seeds") {
  int within = 0;
  double worst = 0.0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const int gathers = static_cast<int>(seed % 5) * 6;  // none, some, and beside all of them
    const RunResult whole = simulated(layers(20, gathers, Estimator::none), seed),
                    stem = simulated(layers(20, gathers, Estimator::stem), seed);
    REQUIRE(stem.estimate);
    const double off = std::abs(stem.time / whole.time - 1.0);
    worst = std::max(worst, off);
    if (off <= *stem.estimate->bound) ++within;
  }
  CAPTURE(worst);
  CHECK(within >= 190);
}

}  // namespace

}  // namespace c3::sampling_kernel_replay_test
