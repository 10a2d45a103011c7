// Copies between GPUs and the memory of their hosts, in a run.

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "engine/errors.hpp"
#include "tests/support/clusters.hpp"
#include "tests/support/near.hpp"
#include "tests/support/print_units.hpp"
#include "tests/unit/workloads_pair.hpp"
#include "workloads/execute/run.hpp"

namespace c3::workloads_host_copies_test {

using namespace literals;
using namespace test;

namespace {

/// Eight GPUs with PCIe links of 60 GB/s one way, 55 each way; hosts' memory carries 320 GB/s, 40 for each GPU.
Experiment of(std::vector<WrittenStream> streams, Fold fold = Fold::mean, BytesPerSecond memory = {}) {
  Experiment experiment;
  experiment.name = "copies";
  experiment.cluster = mi300x_like_cluster();
  experiment.cluster.node.pcie = {
      .raw = 64.0_GBps, .one_way = 60.0_GBps, .both_ways = 55.0_GBps, .latency = 0.5_us};
  experiment.cluster.node.host.memory = memory;
  experiment.program = program_of(streams, experiment.cluster.ranks());
  experiment.measure.fold = fold;
  experiment.measure.loss_split = false;
  return experiment;
}

WrittenOperation copy(Bytes bytes, HostWay way = HostWay::to_host) { return {"copy", HostCopy{bytes, way}}; }

RunResult ran(const Experiment& experiment, OperationFilter filter = OperationFilter::all) {
  RunSetup setup;
  setup.filter = filter;
  return run_once(experiment, in_order(), setup);
}

constexpr Bytes kCopied{6e9};

}  // namespace

TEST_CASE("a copy takes its launch, the phases of a command, the way and its bytes over the link") {
  const Experiment experiment = of({{"s", {copy(kCopied)}}});
  const DmaSpec& engine = experiment.cluster.gpu.dma;
  const Seconds before = Seconds{kLaunch} + engine.schedule + engine.copy_latency + engine.sync + 0.5_us;
  CHECK(ran(experiment).time.value == near(before.value + 0.1, 1e-9));
}

TEST_CASE("a copy of less than the link's rate takes its own, and one of more the link's") {
  const auto time_at = [](BytesPerSecond most) {
    return ran(of({{"s", {{"copy", HostCopy{kCopied, HostWay::from_host, most}}}}})).time.value;
  };
  CHECK(time_at(12.0_GBps) - time_at({}) == near(0.4, 1e-6));  // 6 GB at 12 GB/s, not at 60
  CHECK(time_at(90.0_GBps) == near(time_at({}), 1e-9));
}

TEST_CASE("GPUs divide the memory of their host, folded or not") {
  for (const Fold fold : {Fold::none, Fold::mean, Fold::exact}) {
    CAPTURE(name_of(fold));
    const double time = ran(of({{"s", {copy(kCopied)}}}, fold, 320.0_GBps)).time.value;
    CHECK(time == near(0.15, 1e-3));
  }
}

TEST_CASE("what the host does itself takes its memory alone") {
  const Experiment experiment = of({{"s", {copy(kCopied, HostWay::within)}}}, Fold::mean, 320.0_GBps);
  CHECK(ran(experiment).time.value == near(kLaunch + 0.15, 1e-9));
  CHECK(ran(experiment).classes.front().times.classes.front().name == "host");
}

TEST_CASE("a host whose memory is not known does nothing itself") {
  CHECK_THROWS_WITH_AS(ran(of({{"s", {copy(kCopied, HostWay::within)}}})),
                       doctest::Contains("host_memory), which 'copy' needs"), InfeasibleError);
}

TEST_CASE("copies count as communication: beside kernels hidden, alone exposed") {
  const Experiment experiment =
      of({{"compute", {{"gemm", gemm_of_tiles(24, 19)}}}, {"copies", {copy(kCopied)}}});
  const StepBreakdown times = ran(experiment).classes.front().times;
  CHECK(times.communication.value == near(0.1, 1e-3));
  CHECK(times.exposed < times.communication);
  CHECK(times.exposed / (times.communication - times.kernels) == near(1.0, 1e-3));
  CHECK(ran(experiment, OperationFilter::collectives).time.value == near(0.1, 1e-3));
  CHECK(ran(experiment, OperationFilter::kernels).time < 0.01_s);
}

TEST_CASE("a copy slows down a kernel that HBM limits, by what it takes of it") {
  Experiment experiment = of({{"compute", {{"timed", TimedKernel{.duration = 10.0_ms, .read = Bytes{4e10}}}}},
                              {"copies", {copy(kCopied)}}});
  experiment.cluster.gpu.hbm.read = 4.0_TBps;
  const RunResult alone = ran(experiment, OperationFilter::kernels), beside = ran(experiment);
  const double slower = beside.streams.front().end / alone.streams.front().end;
  CHECK(slower > 1.005);
  CHECK(slower < 1.03);  // 60 of 4,000 GB/s are 1.5 %
}

TEST_CASE("copies and messages of several nodes share PCIe links, in classes as rank by rank") {
  std::vector<double> times;
  for (const Fold fold : {Fold::none, Fold::mean, Fold::exact}) {
    Experiment experiment;
    experiment.name = "nodes";
    experiment.cluster = nodes_of(NodeTopology::switched, 2, 4, 4);
    experiment.cluster.node.host.memory = 100.0_GBps;  // of a node
    experiment.measure.fold = fold;
    experiment.measure.loss_split = false;
    // Ranks of two kinds, so that no one rank stands for all.
    WrittenOperation some = copy(Bytes{3e9});
    some.on = {0, 1, 4, 5};
    experiment.program =
        program_of({{"ring", {{"reduce", CollectiveCall{CollectiveKind::all_reduce, Bytes{1e9}}}}},
                    {"copies", {copy(kCopied), some}}},
                   experiment.cluster.ranks());
    times.push_back(run_once(experiment, in_order(), {}).time.value);
  }
  CHECK(times[1] == near(times[0], 2e-3));
  CHECK(times[2] == near(times[0], 2e-3));
  CHECK(times[0] > (4 * 6e9 + 2 * 3e9) / 100e9);  // all copies of a node
}

}  // namespace c3::workloads_host_copies_test
