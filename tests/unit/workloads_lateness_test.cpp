// Hosts that stall and GPUs that are not alike: one by one, and as the rank that stands for all.

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "engine/extremes.hpp"
#include "gpu/kernels/gemm/gemm_shape.hpp"
#include "tests/support/near.hpp"
#include "tests/unit/workloads_pair.hpp"
#include "workloads/execute/gpu_speeds.hpp"
#include "workloads/execute/host_lateness.hpp"

namespace c3::workloads_lateness_test {

using namespace literals;
using namespace test;

namespace {

constexpr HostStalls kStalls{.every = Seconds{10e-3}, .lasts = Seconds{2e-3}};
const double kLong = wave_seconds() + kStores;

/// \p count GEMMs, each launched at \p cost.
WrittenExperiment of_kernels(int count, Seconds cost, HostStalls stalls) {
  WrittenExperiment experiment = pair();
  experiment.streams = {{"compute", {}}};
  HostProgram host{.threads = {{}}};
  host.stalls = stalls;
  for (int i = 0; i < count; ++i) {
    experiment.streams[0].operations.push_back({"gemm", gemm_of_tiles(19, 16)});
    host.threads[0].steps.push_back({.launches = OperationPlace{0, static_cast<std::size_t>(i)}, .cost = cost});
  }
  experiment.host = host;
  return experiment;
}

double time_of(const Experiment& experiment, std::uint64_t seed = 0) {
  return run_once(experiment, in_order(), {.seed = seed}).time.value;
}

}  // namespace

TEST_CASE("a host without stalls is never late") {
  HostLateness drawn({}, RandomStream(1, "host")), expected({}, 8);
  CHECK(drawn.after(1.0_s) == 0.0_s);
  CHECK(expected.after(1.0_s) == 0.0_s);
}

TEST_CASE("a host loses a stall for each interval of work in the mean, in steps of whatever size") {
  // 100 s of work have 10,000 stalls of 2 ms: 20 s, within 3 x 2 % / sqrt(2) of that.
  HostLateness host(kStalls, RandomStream(1, "host"));
  double late = 0.0;
  for (int i = 0; i < 1'000'000; ++i)
    late += host.after(Seconds{100e-6}).value;
  CHECK(late == near(20.0, 0.05));
  HostLateness one(kStalls, 1);
  CHECK(one.after(1.0_s).value == near(0.2, 1e-3));
}

TEST_CASE("the latest of eight hosts is as late as the latest of eight that draw, in the mean") {
  constexpr int kTrials = 2000;
  for (const double work : {5e-3, 50e-3}) {
    double total = 0.0;
    for (int trial = 0; trial < kTrials; ++trial) {
      double latest = 0.0;
      for (std::uint64_t host = 0; host < 8; ++host) {
        HostLateness lateness(kStalls, RandomStream(static_cast<std::uint64_t>(trial), host));
        latest = std::max(latest, lateness.after(Seconds{work}).value);
      }
      total += latest;
    }
    HostLateness together(kStalls, 8);
    double late = 0.0;
    for (int i = 0; i < 50; ++i)
      late += together.after(Seconds{work / 50}).value;
    CHECK(late == near(total / kTrials, 0.05));
  }
}

TEST_CASE("hosts that have waited for one another are late from the beginning") {
  // Rare stalls add up: 8 x 0.1 interval each time; without meeting, later ones hide behind the latest.
  HostLateness meets(kStalls, 8), goes_on(kStalls, 8);
  double met = 0.0, on = 0.0;
  for (int i = 0; i < 10; ++i) {
    met += meets.after(1.0_ms).value;
    meets.meet();
    on += goes_on.after(1.0_ms).value;
  }
  CHECK(met == near(10 * 2e-3 * expected_largest_stall_sum(0.1, 8), 0.02));
  CHECK(on == near(2e-3 * expected_largest_stall_sum(1.0, 8), 0.02));
  CHECK(on < 0.6 * met);
}

TEST_CASE("stalls lengthen what waits for the host, and a host that is ahead of its GPU hides them") {
  const Seconds dear{10 * kLong}, cheap{0.1 * kLong};
  const HostStalls stalls{.every = Seconds{5 * kLong}, .lasts = Seconds{0.4 * kLong}};  // 8 % of its time
  const auto longer = [&](Seconds cost) {
    return time_of(of_kernels(20, cost, stalls)) / time_of(of_kernels(20, cost, {})) - 1.0;
  };
  CHECK(longer(dear) > 0.08);  // the later of two: more than one host's 8 %
  CHECK(longer(dear) < 0.16);
  CHECK(longer(cheap) < 0.02);  // but for the first launch
}

TEST_CASE("GPUs without a spread are alike, those with one are drawn, and one for all is the slowest") {
  CHECK(slower_gpus(0.0, 8, true, 1).empty());
  const std::vector<double> all = slower_gpus(0.005, 8, true, 1);
  CHECK(all.size() == 8);
  CHECK(all.front() == near(1.0 + 0.005 * expected_largest_normal(8)));
  CHECK(slower_gpus(0.005, 1, true, 1).front() == near(1.0, 1e-6));
  double sum = 0.0, slowest = 0.0;
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    const std::vector<double> drawn = slower_gpus(0.005, 8, false, seed);
    for (const double slower : drawn)
      sum += slower - 1.0;
    slowest += std::ranges::max(drawn) - 1.0;
  }
  CHECK(std::abs(sum / 8000) < 2e-4);
  CHECK(slowest / 1000 == near(all.front() - 1.0, 0.05));
}

TEST_CASE("a rank that stands for unlike GPUs computes as the slowest, and waits of others follow it") {
  WrittenExperiment experiment = of_kernels(5, {}, {});
  const double alike = time_of(experiment);
  experiment.cluster.gpu.compute.speed_spread = 0.01;
  // The slowest of eight: 1.4 % slower where arithmetic decides, which is most of these kernels.
  const double slowest = 0.01 * expected_largest_normal(experiment.cluster.ranks());
  const double folded = time_of(experiment) / alike - 1.0;
  CHECK(folded > 0.8 * slowest);
  CHECK(folded < 1.001 * slowest);
}

}  // namespace c3::workloads_lateness_test
