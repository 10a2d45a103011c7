// Hosts that launch ahead of their GPUs: dates by hand on the round-number cluster.

#include "gpu/kernels/gemm/gemm_shape.hpp"
#include "workloads/execute/host_threads.hpp"

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/support/near.hpp"
#include "tests/unit/workloads_pair.hpp"

namespace c3::workloads_host_test {

using namespace literals;
using namespace test;

namespace {

constexpr Seconds kCost{50e-6};
/// A full wave from its first load to its last store; a wave of one tile and 64 deep is far shorter than a
/// launch.
const double kLong = wave_seconds() + kStores;
const GemmShape kLongGemm = gemm_of_tiles(19, 16);
const GemmShape kTinyGemm = gemm_of_tiles(1, 1, 64);

/// Streams of \p experiment launched in the order of \p launches, each at \p cost.
HostProgram host_of(const std::vector<OperationPlace>& launches, Seconds cost = kCost) {
  HostProgram host{.threads = {{}}};
  for (const OperationPlace& place : launches)
    host.threads[0].steps.push_back({.launches = place, .cost = cost});
  return host;
}

WrittenExperiment of_kernels(int count, const GemmShape& gemm, Seconds cost = kCost) {
  WrittenExperiment experiment = pair();
  experiment.streams = {{"compute", {}}};
  std::vector<OperationPlace> launches;
  for (int i = 0; i < count; ++i) {
    experiment.streams[0].operations.push_back({"gemm", gemm});
    launches.push_back({0, static_cast<std::size_t>(i)});
  }
  experiment.host = host_of(launches, cost);
  return experiment;
}

double time_of(const Experiment& experiment, bool serial = false) {
  Strategy strategy = in_order();
  strategy.serial = serial;
  return run_once(experiment, strategy, {}).time.value;
}

/// A GEMM and its event on "compute"; "late" waits for that, "early" for nothing. Streams 0 late, 1 early, 2
/// compute.
WrittenExperiment with_waiting_stream(int hardware_queues) {
  WrittenExperiment experiment = pair();
  experiment.streams = {{"late", {{"wait", WrittenWait{"done"}}, {"tiny", kTinyGemm}}},
                        {"early", {{"tiny", kTinyGemm}}},
                        {"compute", {{"gemm", kLongGemm}, {"record", WrittenRecord{"done"}}}}};
  experiment.host = host_of({{2, 0}, {2, 1}, {0, 0}, {0, 1}, {1, 0}});
  experiment.host->hardware_queues = hardware_queues;
  return experiment;
}

}  // namespace

TEST_CASE("kernels shorter than their launch take the host's time: one cost each, then the last one's") {
  const double one = time_of(of_kernels(1, kTinyGemm, {}));  // launch latency and the kernel
  CHECK(one < kCost.value);
  CHECK(time_of(of_kernels(20, kTinyGemm)) == near(20 * kCost.value + one));
}

TEST_CASE("a host that runs ahead is hidden behind long kernels, but for the first launch") {
  CHECK(time_of(of_kernels(5, kLongGemm)) == near(kCost.value + kLaunch + 5 * kLong + 4 * kGap, 1e-6));
  // Ten times dearer than a kernel: hidden no longer.
  const Seconds dear{10 * kLong};
  CHECK(time_of(of_kernels(5, kLongGemm, dear)) == near(5 * dear.value + kLaunch + kLong, 1e-6));
}

TEST_CASE("a full launch queue stops the host until the oldest of its operations has ended") {
  // Two fit: the third is launched when the first has ended, at 50 + 2 + kLong us, and the other stream's
  // after that.
  WrittenExperiment experiment = of_kernels(3, kLongGemm);
  experiment.streams.push_back({"other", {{"tiny", kTinyGemm}}});
  experiment.host->threads[0].steps.push_back({.launches = OperationPlace{1, 0}, .cost = kCost});
  const auto launched = [&](int queue) {
    experiment.host->launch_queue = queue;
    return run_once(experiment, in_order(), {}).streams[1].release.value;
  };
  CHECK(launched(2) == near(kCost.value + kLaunch + kLong + kCost.value, 1e-6));
  CHECK(launched(1) == near(kCost.value + 2 * (kLaunch + kLong) + kCost.value, 1e-6));
  CHECK(launched(3) == near(4 * kCost.value, 1e-6));
}

TEST_CASE("with one hardware queue a stream that waits keeps others waiting, with two it does not") {
  const auto released = [](int queues) {
    return run_once(with_waiting_stream(queues), in_order(), {}).streams[1].release.value;
  };
  CHECK(released(1) == near(kCost.value + kLaunch + kLong, 1e-6));
  CHECK(released(2) == near(5 * kCost.value, 1e-6));
  CHECK(released(0) == near(5 * kCost.value, 1e-6));  // one for each stream
}

TEST_CASE("a kernel pays the gap after what another stream recorded, too") {
  // All is launched before the GEMM has ended: the tiny one begins a gap after that.
  WrittenExperiment experiment = pair();
  experiment.streams = {{"compute", {{"gemm", kLongGemm}, {"record", WrittenRecord{"done"}}}},
                        {"late", {{"wait", WrittenWait{"done"}}, {"tiny", kTinyGemm}}}};
  experiment.host = host_of({{0, 0}, {0, 1}, {1, 0}, {1, 1}}, {});
  const double tiny = time_of(of_kernels(1, kTinyGemm, {})) - kLaunch;
  CHECK(time_of(experiment) == near(kLaunch + kLong + kGap + tiny, 1e-6));
}

TEST_CASE("a serial strategy runs everything one by one in the order of launch, whatever the streams") {
  // compute: GEMM, GEMM; fsdp: an all-gather launched between them.
  WrittenExperiment experiment = pair(kLongGemm);
  experiment.streams[0].operations.push_back({"gemm", kLongGemm});
  experiment.host = host_of({{0, 0}, {1, 0}, {0, 1}}, Seconds{});
  CHECK(time_of(experiment, true) == near(kLaunch + kLong + kGather + kLong, 1e-4));
  CHECK(time_of(experiment, false) < kLaunch + 0.99 * (2 * kLong + kGather));
  // The other order: all-gather first, and then both GEMMs, with the gap of a stream.
  experiment.host = host_of({{1, 0}, {0, 0}, {0, 1}}, Seconds{});
  CHECK(time_of(experiment, true) == near(kLaunch + kGather + 2 * kLong + kGap, 1e-4));
}

TEST_CASE("the host waits for an event before it goes on") {
  WrittenExperiment experiment = pair(kLongGemm);
  experiment.streams = {{"compute", {{"gemm", kLongGemm}, {"record", WrittenRecord{"done"}}}},
                        {"other", {{"tiny", kTinyGemm}}}};
  experiment.host = host_of({{0, 0}, {0, 1}});
  experiment.host->threads[0].steps.push_back({.waits_for = 0});
  experiment.host->threads[0].steps.push_back({.cost = kCost});  // work of its own
  experiment.host->threads[0].steps.push_back({.launches = OperationPlace{1, 0}, .cost = kCost});
  const double gemm = kCost.value + kLaunch + kLong;
  CHECK(run_once(experiment, in_order(), {}).streams[1].release.value == near(gemm + 2 * kCost.value, 1e-6));
}

TEST_CASE("every rank has a host of its own: one that is late launches late") {
  WrittenExperiment experiment = of_kernels(1, kTinyGemm);
  experiment.cluster.gpu.host.launch_skew = 20.0_us;
  const double together = time_of(of_kernels(1, kTinyGemm));
  CHECK(time_of(experiment) > together + 1e-6);
  CHECK(time_of(experiment) < together + 60e-6);
}

TEST_CASE("a host that waits for ever is named, and so is what waits behind an operation in its queue") {
  WrittenExperiment experiment = of_kernels(1, kTinyGemm);
  experiment.streams.push_back({"idle", {{"wait", WrittenWait{"never"}}}});
  experiment.host->threads[0].steps.insert(experiment.host->threads[0].steps.begin(), HostStep{.waits_for = 0});
  const std::string host = deadlock_of(experiment);
  INFO(host);
  CHECK(host.find("the host of rank 0 waits for event 'never' of rank 0") != std::string::npos);
  CHECK(host.find("stream 'compute' waits for a launch by the host of rank 0") != std::string::npos);
  // The event is recorded behind the wait for it.
  experiment = with_waiting_stream(1);
  experiment.host = host_of({{0, 0}, {0, 1}, {1, 0}, {2, 0}, {2, 1}});
  experiment.host->hardware_queues = 1;
  const std::string queue = deadlock_of(experiment);
  INFO(queue);
  CHECK(queue.find("(gemm), waits in hardware queue 0 behind stream 'late' of rank 0") != std::string::npos);
  CHECK(queue.find("launch") == std::string::npos);  // all is launched
  experiment.host->hardware_queues = 2;              // early alone in one of them
  CHECK(!deadlock_of(experiment).empty());
  experiment.host->hardware_queues = 3;
  CHECK(deadlock_of(experiment).empty());
}

}  // namespace c3::workloads_host_test
