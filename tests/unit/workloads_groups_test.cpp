// Operations in groups of ranks: one rank stands for all, each group goes on by itself.

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "configs/jobs/experiment_reader.hpp"
#include "engine/errors.hpp"
#include "results/trace_labels.hpp"
#include "tests/support/near.hpp"
#include "tests/unit/workloads_pair.hpp"
#include "workloads/analysis/lower_bound.hpp"
#include "workloads/execute/collective_choice.hpp"
#include "workloads/execute/folding.hpp"

namespace c3::workloads_groups_test {

using namespace literals;
using namespace test;

namespace {

CollectiveCall call_in(RankGroups groups, CollectiveKind kind = CollectiveKind::all_reduce,
                       Bytes bytes = 64.0_MiB) {
  CollectiveCall call{.kind = kind, .bytes = bytes};
  call.groups = groups;
  return call;
}

WrittenExperiment on(const ClusterSpec& cluster, std::vector<WrittenStream> streams) {
  WrittenExperiment experiment = pair();
  experiment.cluster = cluster;
  experiment.streams = std::move(streams);
  return experiment;
}

WrittenExperiment alone(const WrittenOperation& operation, const ClusterSpec& cluster = mi300x_like_cluster()) {
  return on(cluster, {{"comm", {operation}}});
}

/// Checks that \p experiment folds, and takes as long without.
void check_fold(Experiment experiment, const Strategy& strategy, double tolerance = 2e-3) {
  experiment.cluster.gpu.compute.speed_spread = 0;  // ranks that differ by chance
  CHECK(folds(experiment, strategy));
  const RunResult folded = run_once(experiment, strategy, {});
  experiment.measure.fold = Fold::none;
  const RunResult whole = run_once(experiment, strategy, {});
  CHECK(whole.time.value == near(folded.time.value, tolerance));
  CHECK(whole.records.size() == folded.records.size() * static_cast<std::size_t>(experiment.cluster.ranks()));
}

}  // namespace

TEST_CASE("groups on MI300X and H100 nodes take as long folded as explicit, on channels and copy engines") {
  for (const char* system : {"mi300x-8", "h100-sxm-8"}) {
    const ClusterSpec cluster = load_cluster(system);
    for (const RankGroups groups : {RankGroups{2, 1}, RankGroups{2, 4}, RankGroups{4, 1}, RankGroups{4, 2}}) {
      for (const CollectiveKind kind :
           {CollectiveKind::all_reduce, CollectiveKind::all_gather, CollectiveKind::reduce_scatter}) {
        for (const Bytes bytes : {256.0_kB, 64.0_MiB}) {
          CAPTURE(system);
          CAPTURE(groups.size);
          CAPTURE(groups.stride);
          CAPTURE(name_of(kind));
          Strategy strategy = in_order();
          check_fold(alone({"sum", call_in(groups, kind, bytes)}, cluster), strategy);
          if (reduces(kind)) continue;
          strategy.streams["comm"].backend = Backend::dma;
          check_fold(alone({"gather", call_in(groups, kind, bytes)}, cluster), strategy);
        }
      }
    }
  }
}

TEST_CASE("a step of two neighbours that split a layer, in four copies, folded as explicit") {
  const WrittenOperation gemm{"gemm", gemm_of_tiles(24, 19)};
  const WrittenOperation inner{"inner", call_in({2, 1})};
  const WrittenOperation record{"record made", WrittenRecord{"made"}};
  const WrittenOperation wait{"wait made", WrittenWait{"made"}};
  const WrittenOperation outer{"outer", call_in({4, 2}, CollectiveKind::reduce_scatter, 512.0_MiB)};
  for (const char* system : {"mi300x-8", "h100-sxm-8"}) {
    Experiment step =
        on(load_cluster(system), {{"compute", {gemm, record, inner, gemm, inner}}, {"data", {wait, outer}}});
    check_fold(step, in_order());
  }
}

TEST_CASE("two groups of four on a mesh take as long as one of them alone") {
  const ClusterSpec cluster = load_cluster("mi300x-8");
  CollectiveCall one = call_in({4, 1});
  one.groups.reset();
  one.ranks = {4, 5, 6, 7};
  const double time = run_once(alone({"one", one}, cluster), in_order(), {}).time.value;
  WrittenExperiment both = alone({"both", call_in({4, 1})}, cluster);
  CHECK(run_once(both, in_order(), {}).time.value == near(time));
  both.measure.fold = Fold::none;
  CHECK(run_once(both, in_order(), {}).time.value == near(time));
}

TEST_CASE("a late rank delays its own group and no other") {
  // The kernel on rank 6 alone keeps 4, 5 and 7 waiting.
  const Experiment experiment =
      on(mi300x_like_cluster(), {{"s",
                                  {{"kernel", gemm_of_tiles(24, 19), {6}},
                                   {"sum", call_in({4, 1}, CollectiveKind::all_reduce, 1.0_MiB)}}}});
  CHECK_FALSE(folds(experiment, in_order()));
  const RunResult result = run_once(experiment, in_order(), {});
  REQUIRE(result.records.size() == 8);
  for (const CollectiveRecord& record : result.records) {
    CHECK(record.bytes == 1.0_MiB);
    CHECK((record.end < result.kernels.end) == (record.gpu < 4));
  }
}

TEST_CASE("groups of which no rank is named do not run, and do not count in the bound") {
  const WrittenOperation sum{"sum", call_in({4, 1}), {4, 5, 6, 7}};
  std::vector<int> ranks;
  const RunResult result = run_once(alone(sum), in_order(), {});
  for (const CollectiveRecord& record : result.records)
    ranks.push_back(record.gpu);
  CHECK(ranks == std::vector<int>{4, 5, 6, 7});
  // 64 MiB in and out of each of four ranks, of what seven links carry; all eight: 2 x 3/4 each in the mean
  const double egress = 7 * 64e9;
  CHECK(lower_bound(alone(sum)).collectives.value == near(64.0_MiB .value / egress));
  CHECK(lower_bound(alone({"sum", call_in({4, 1})})).collectives.value == near(1.5 * 64.0_MiB .value / egress));
  CHECK_THROWS_WITH_AS(run_once(alone({"sum", call_in({4, 1}), {0, 1}}), in_order(), {}),
                       "deadlock: nothing is in flight that could end these waits: "
                       "stream 'comm' of rank 0 waits for ranks 2, 3 to join sum; "
                       "stream 'comm' of rank 1 waits for ranks 2, 3 to join sum",
                       DeadlockError);
}

TEST_CASE("groups that do not divide the ranks are refused") {
  CHECK_THROWS_WITH_AS(run_once(alone({"sum", call_in({3, 1})}), in_order(), {}),
                       "all_reduce: groups of 3 ranks that are 1 apart do not divide 8 ranks", InfeasibleError);
}

TEST_CASE("wired GPUs in groups are all simulated, and so are those that one host thread feeds") {
  const ClusterSpec cluster = load_cluster("v100-sxm2-8");
  const Experiment experiment = alone({"sum", call_in({4, 1})}, cluster);
  CHECK_FALSE(folds(experiment, in_order()));
  CHECK(run_once(experiment, in_order(), {}).records.size() == 8);
  Strategy strategy = in_order();
  strategy.streams["comm"].backend = Backend::dma;
  const Experiment gathering = alone({"gather", call_in({4, 1}, CollectiveKind::all_gather)});
  CHECK(folds(gathering, strategy));
  strategy.streams["comm"].dma.host = DmaHost::node;
  CHECK_FALSE(folds(gathering, strategy));
}

TEST_CASE("a trace names each rank's own group") {
  const CollectiveCall call = call_in({4, 2});
  const Experiment experiment =
      on(mi300x_like_cluster(), {{"comm", {{"sum", call}, {"again", call}, {"all", gather()}}}});
  const ProcessGroups groups(experiment);
  CHECK(groups.all() == std::vector<std::vector<int>>{{0, 1, 2, 3, 4, 5, 6, 7}, {0, 2, 4, 6}, {1, 3, 5, 7}});
  const CollectiveLabels labels(call, {}, experiment, groups, /*folded=*/false);
  for (int rank = 0; rank < 8; ++rank) {
    const std::string name = R"("Process Group Name":")" + std::to_string(1 + rank % 2) + "\"";
    CHECK(labels.of(rank).args.find(name) != std::string::npos);
    CHECK(labels.of(rank).args.find(R"("Group size":4)") != std::string::npos);
  }
}

}  // namespace c3::workloads_groups_test
