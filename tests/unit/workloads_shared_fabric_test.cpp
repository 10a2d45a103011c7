// Jobs on different nodes that share a fabric: by how much they slow each other, by hand.

#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "collectives/measure.hpp"
#include "gpu/kernels/gemm/gemm_shape.hpp"
#include "tests/support/fabrics.hpp"
#include "tests/support/near.hpp"
#include "tests/support/recording.hpp"
#include "tests/support/written_experiment.hpp"
#include "workloads/analysis/study.hpp"
#include "workloads/execute/run.hpp"

namespace c3::workloads_shared_fabric_test {

using namespace literals;
using namespace test;

namespace {

/// Four nodes of four GPUs, two nodes a leaf. Eight NICs of 50 GB/s over 16: 25 GB/s out of a leaf. The four
/// channels of a send between nodes carry more than a NIC.
ClusterSpec cluster() {
  ClusterSpec cluster = test::mi300x_like_cluster(4);
  cluster.node = test::node_of_four();
  cluster.nodes = 4;
  cluster.fabric = test::tree_of(FabricTopology::fat_tree, 8, 16.0);
  cluster.library.simple.channel_rate = cluster.library.cu_rate = 20.0_GBps;
  return cluster;
}

/// Every job swaps 1 GB between two ranks.
WrittenExperiment jobs(const std::vector<std::pair<int, int>>& pairs) {
  WrittenExperiment experiment;
  experiment.name = "jobs";
  experiment.cluster = cluster();
  for (const auto& [a, b] : pairs) {
    CollectiveCall call{.kind = CollectiveKind::send_receive, .bytes = 1.0_GB, .ranks = {a, b}};
    const std::string name = "job" + std::to_string(experiment.streams.size());
    experiment.streams.push_back({name, {{.name = name, .work = std::move(call)}}});
  }
  return experiment;
}

double seconds(const std::vector<std::pair<int, int>>& pairs, Observer* observer = nullptr) {
  RunSetup setup;
  setup.observer = observer;
  return run_once(jobs(pairs), {.name = "together", .order = {}, .streams = {}}, setup).time.value;
}

}  // namespace

TEST_CASE("two jobs that cross one uplink take twice as long for their bytes") {
  // Alone 1 GB at 25 GB/s takes 40 ms each way; together 80 ms. Latencies stay.
  test::Recording recording;
  const double alone = seconds({{0, 8}});
  const double together = seconds({{0, 8}, {4, 12}}, &recording);
  CHECK(alone > 40e-3);
  CHECK(alone < 40.2e-3);
  CHECK(together - alone == near(40e-3));
  // The leaves are alike, as are the ranks of a job: the first one stands for both.
  for (const char* link : {"leaf0.up", "leaf0.down"})
    CHECK(recording.total(link) == near(2e9));
  CHECK(recording.total("node0.nic0.out") == near(1e9));
  CHECK(recording.total("node0.nic1.out") == 0.0);
}

TEST_CASE("a study of jobs says what each takes alone, and that shared links cost the rest") {
  WrittenExperiment experiment = jobs({{0, 8}, {4, 12}, {1, 5}});
  experiment.strategies = {{.name = "together", .order = {}, .streams = {}}};
  std::size_t runs = 0;
  const StudyResult study = run_study([&](std::optional<std::uint64_t>) { return experiment; },
                                      {.progress = [&](const StudyCost& cost) { runs = cost.done(); }});
  const StrategyResult& together = study.strategies.front();
  REQUIRE(together.streams.size() == 3);
  const Seconds alone = together.streams[0].times.alone;
  CHECK(together.streams[0].name == "job0");
  CHECK(alone.value == near(seconds({{0, 8}})));
  CHECK((together.streams[0].times.together - alone).value == near(40e-3));
  CHECK((together.streams[1].times.together - alone).value == near(40e-3));
  // Below its leaf the third job is alone on its links, however full the uplinks are.
  CHECK(together.streams[2].times.together == together.streams[2].times.alone);
  const Seconds sum = alone + together.streams[1].times.alone + together.streams[2].times.alone;
  CHECK(*together.ideal_speedup == near(sum / alone));
  CHECK(*together.speedup == near(sum / together.time));
  REQUIRE(together.loss);
  CHECK(together.loss->links.value == near(40e-3));
  CHECK(std::abs(together.loss->interaction.value) < 1e-9);
  CHECK(runs == 2 + 3 + 1 + 31);  // sides, streams, the strategy, subsets of five resources that are not empty
}

TEST_CASE("a kernel beside a collective is no comparison of streams") {
  WrittenExperiment experiment = jobs({{0, 8}});
  experiment.strategies = {{.name = "alone", .order = {}, .streams = {}}};
  const auto streams = [&] {
    return run_study([&](std::optional<std::uint64_t>) { return experiment; })
        .strategies.front()
        .streams.size();
  };
  CHECK(streams() == 0);
  experiment.streams.push_back(
      {"compute", {{.name = "gemm", .work = GemmShape{.m = 256, .n = 256, .k = 256}}}});
  CHECK(streams() == 0);
}

TEST_CASE("jobs below one leaf, or on NICs and leaves of their own, do not notice each other") {
  const double crossing = seconds({{0, 8}});
  CHECK(seconds({{0, 8}, {1, 5}}) == near(crossing));  // the second stays below leaf 0: 1 GB at 45 GB/s
  const double below = seconds({{1, 5}});
  CHECK(below < 23e-3);
  CHECK(seconds({{1, 5}, {2, 6}}) == near(below));
}

TEST_CASE("the link that limits a collective is named") {
  MeasuredMethod how;
  how.method.algorithm = Algorithm::direct;
  CollectiveCall call{.kind = CollectiveKind::all_to_all, .bytes = 1.0_GB};
  CHECK(measure_collective(cluster(), call, how).limit == "leaf.up");
  ClusterSpec unblocked = cluster();
  unblocked.fabric = test::one_switch(4);
  CHECK(measure_collective(unblocked, call, how).limit == "nic0.duplex");
  unblocked.fabric->nic.both_ways = unblocked.fabric->nic.one_way;
  CHECK(measure_collective(unblocked, call, how).limit == "nic0.out");
  call.kind = CollectiveKind::send_receive;
  call.ranks = {1, 6};
  CHECK(measure_collective(unblocked, call, how).limit == "node0.nic1.out");
}

}  // namespace c3::workloads_shared_fabric_test
