// Ranks whose clock, links or NICs are not as good as others', and ranks that begin late.

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include "collectives/rank_conditions.hpp"
#include "gpu/kernels/gemm/gemm_shape.hpp"
#include "gpu/kernels/vector/vector_shape.hpp"
#include "tests/support/fabrics.hpp"
#include "tests/support/near.hpp"
#include "tests/support/random_programs.hpp"
#include "workloads/execute/run.hpp"

namespace c3::workloads_straggler_test {

using namespace literals;
using namespace test;

namespace {

const Strategy kStrategy{.name = "s", .order = {}, .streams = {}};

Seconds time_of(const ClusterSpec& cluster, std::vector<WrittenOperation> operations, Fold fold = Fold::mean) {
  Experiment experiment;
  experiment.name = "straggler";
  experiment.cluster = cluster;
  experiment.program = program_of({{"s", std::move(operations)}}, cluster.ranks());
  experiment.measure.fold = fold;
  return run_once(experiment, kStrategy, {}).time;
}

/// How many times as long \p operation takes where \p condition holds of \p ranks.
double slower(ClusterSpec cluster, const WrittenOperation& operation, RankCondition condition,
              std::vector<int> ranks = {3}) {
  const Seconds sound = time_of(cluster, {operation});
  cluster.stragglers = {{"hot", std::move(ranks), condition}};
  return time_of(cluster, {operation}) / sound;
}

WrittenOperation gemm(std::int64_t m, std::int64_t n, std::int64_t k) {
  return {"gemm", Operator(GemmShape{.m = m, .n = n, .k = k})};
}

}  // namespace

TEST_CASE("a slow GPU multiplies at its clock, kernels that HBM limits do not feel it") {
  ClusterSpec one = mi300x_like_cluster(8);
  one.gpu = mi300x_like_trainer();
  one.gpu.dispatch.launch_latency = {};
  const RankCondition hot{.factor = 1.5};
  CHECK(slower(one, gemm(8192, 8192, 8192), hot) == near(1.5, 0.02));
  CHECK(slower(one, gemm(8192, 8192, 8192), {}) == 1.0);
  const WrittenOperation copy{"copy", Operator(VectorShape{.rows = 65536, .cols = 8192, .dtype = DType::bf16})};
  const double copied = slower(one, copy, {.factor = 1.1});
  CHECK(copied >= 1.0);
  CHECK(copied < 1.05);  // the copy's own arithmetic is hidden in part
  CHECK(slower(one, {"timed", TimedKernel{.duration = 1.0_ms}}, hot) == near(1.5, 1e-3));
}

TEST_CASE("a collective waits for the GPU that comes last, and moves at the pace of the slowest channels") {
  ClusterSpec one = mi300x_like_cluster(8);
  one.library.clock_share = 1.0;
  one.library.channel_outstanding = 1.0_GiB;
  const CollectiveCall sum{.kind = CollectiveKind::all_reduce, .bytes = 1.0_GiB};
  const TimedKernel work{.duration = 1.0_ms};
  const RankCondition hot{.factor = 2.0};
  const Seconds sound = time_of(one, {{"work", work}, {"sum", sum}});
  const double paced = slower(one, {"sum", sum}, hot);
  CHECK(paced >= 1.0);
  CHECK(paced <= 2.0 + 1e-9);
  const Seconds alone = time_of(one, {{"sum", sum}});
  one.stragglers = {{"hot", {3}, hot}};
  const Seconds beside = time_of(one, {{"work", work}, {"sum", sum}});
  CHECK((beside - sound).value == near((1.0_ms + (paced - 1.0) * alone).value, 1e-3));
}

TEST_CASE("a ring told as edges takes as long as step by step, with a slow GPU as without") {
  for (const double slow : {1.0, 2.0}) {
    for (const Bytes bytes : {1.0_MiB, 64.0_MiB}) {
      CAPTURE(slow);
      CAPTURE(bytes);
      FabricSpec fabric = one_switch(8);
      fabric.nic.one_way = fabric.nic.both_ways = 4000.0_GBps;  // channels limit
      ClusterSpec two = nodes_of_eight(2, false, fabric);
      for (LinkSpec* link : {&two.node.link, &two.node.pcie})
        link->one_way = link->both_ways = 4000.0_GBps;
      two.library.link_payload = two.node.link.both_ways;
      two.library.clock_share = 1.0;
      two.stragglers = {{"hot", {3}, {.factor = slow}}};
      const CollectiveCall gather{.kind = CollectiveKind::all_gather, .bytes = bytes};
      const auto at_grain = [&](CollectiveGrain grain) {
        Experiment experiment;
        experiment.cluster = two;
        experiment.program = program_of({{"s", {{"gather", gather}}}}, 16);
        experiment.measure.collective_grain = grain;
        experiment.measure.fold = Fold::none;
        Strategy ring = kStrategy;
        ring.streams["s"].method.algorithm = Algorithm::ring;
        return run_once(experiment, ring, {}).time;
      };
      CHECK(at_grain(CollectiveGrain::edge) / at_grain(CollectiveGrain::step) == near(1.0, 0.02));
    }
  }
}

TEST_CASE("a rank with half of its links halves what a ring moves, whoever sends") {
  const CollectiveCall shift{.kind = CollectiveKind::send_receive, .bytes = 256.0_MiB};
  for (const bool mesh : {false, true}) {
    CAPTURE(mesh);
    ClusterSpec one = mi300x_like_cluster(8);
    one.node = mesh ? full_mesh(8) : switched(8);
    one.node.link.one_way = one.node.link.both_ways = 10.0_GBps;  // far below what channels move
    one.library.link_payload = one.node.link.both_ways;
    const double half = slower(one, {"shift", shift}, {.links = 0.5});
    CHECK(half == near(2.0, 0.02));
    CHECK(slower(one, {"shift", shift}, {.links = 0.25}) == near(4.0, 0.02));
  }
}

TEST_CASE("a rank with half of a NIC halves what crosses nodes, and what shares the NIC with it") {
  const CollectiveCall shift{
      .kind = CollectiveKind::send_receive, .bytes = 256.0_MiB, .groups = RankGroups{2, 8}};
  for (const int nics : {8, 4}) {
    CAPTURE(nics);
    ClusterSpec two = nodes_of_eight(2, false, one_switch(nics));
    two.library.simple.channel_rate = two.library.cu_rate = 20.0_GBps;  // four channels carry more than a NIC
    CHECK(slower(two, {"shift", shift}, {.nics = 0.5}) == near(2.0, 0.02));
    ClusterSpec cluster = two;
    cluster.stragglers = {{"cut", {3}, {.nics = 0.5}}};
    const std::vector<RankCondition> conditions = rank_conditions(cluster);
    CHECK(conditions[3].nics == 0.5);
    CHECK(conditions[2].nics == (nics == 8 ? 1.0 : 0.5));
    CHECK(conditions[4].nics == 1.0);
    CHECK(conditions[11].nics == 1.0);
  }
}

TEST_CASE("a rank that begins late delays those that it meets by as much, and nobody else") {
  ClusterSpec one = mi300x_like_cluster(8);
  const CollectiveCall sum{.kind = CollectiveKind::all_reduce, .bytes = 1.0_MiB, .groups = RankGroups{4, 1}};
  const Seconds sound = time_of(one, {{"sum", sum}});
  one.stragglers = {{"late", {5}, {.late = 2.0_ms}}};
  CHECK(time_of(one, {{"sum", sum}}).value == near((sound + 2.0_ms).value, 1e-6));
  Experiment experiment;
  experiment.cluster = one;
  experiment.program = program_of({{"s", {{"sum", sum}}}}, 8);
  const RunResult result = run_once(experiment, kStrategy, {});
  for (const CollectiveRecord& record : result.records) {
    CAPTURE(record.gpu);
    CHECK((record.end > 1.0_ms) == (record.gpu >= 4));
  }
  CHECK(result.classes[5].name == "late");
  CHECK(result.classes[4].name.empty());
}

TEST_CASE(
    "what is stated of a rank splits its class and those that share a group or a node, and nothing else does") {
  ClusterSpec cluster = nodes_of_eight(4, false, one_switch(8));
  const CollectiveCall within{.kind = CollectiveKind::all_reduce, .bytes = 1.0_MiB, .groups = RankGroups{8, 1}};
  const CollectiveCall between{
      .kind = CollectiveKind::all_reduce, .bytes = 1.0_MiB, .groups = RankGroups{4, 8}};
  const auto classes = [&](RankCondition condition) {
    Experiment experiment;
    experiment.cluster = cluster;
    experiment.cluster.stragglers = {{"hot", {13}, condition}};
    experiment.program = program_of({{"s", {{"within", within}, {"between", between}}}}, cluster.ranks());
    return simulated_ranks(experiment, kStrategy).classes();
  };
  CHECK(classes({}) == 1);
  CHECK(classes({.factor = 1.2}) == 4);  // itself, its node, its rail, all others
  CHECK(classes({.links = 0.9}) == 4);
  CHECK(classes({.nics = 0.9}) == 4);
  CHECK(classes({.late = 1.0_ms}) == 3);  // every rail waits for its node: the rest do all at the same dates
}

}  // namespace c3::workloads_straggler_test
