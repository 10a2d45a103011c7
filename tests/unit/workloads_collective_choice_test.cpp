// Which algorithm a strategy runs, when one rank stands for all, and who takes part in what.

#include "workloads/execute/collective_choice.hpp"
#include "workloads/execute/folding.hpp"

#include <doctest/doctest.h>

#include "collectives/backends/entry.hpp"
#include "engine/errors.hpp"
#include "tests/support/near.hpp"
#include "tests/unit/workloads_pair.hpp"

namespace c3::workloads_collective_choice_test {

using namespace literals;
using namespace test;

namespace {

WrittenExperiment alone(const WrittenOperation& operation) {
  WrittenExperiment experiment = pair();
  experiment.streams = {{"comm", {operation}}};
  return experiment;
}

CollectiveCall call_on(CollectiveKind kind, std::vector<int> ranks = {}) {
  CollectiveCall call{.kind = kind, .bytes = 1.0_GB};
  call.ranks = std::move(ranks);
  return call;
}

Strategy with_algorithm(Algorithm algorithm) {
  Strategy strategy = in_order();
  strategy.streams["comm"].method.algorithm = algorithm;
  return strategy;
}

}  // namespace

TEST_CASE("defaults: the switch adds where it can, rings otherwise, pairs where each has a link of its own") {
  ClusterSpec cluster = mi300x_like_cluster();
  const auto chosen = [&](CollectiveKind kind, Backend backend = Backend::cu) {
    return default_algorithm(call_on(kind), backend, cluster);
  };
  CHECK(chosen(CollectiveKind::all_gather) == Algorithm::direct);
  CHECK(chosen(CollectiveKind::all_reduce) == Algorithm::ring);
  CHECK(chosen(CollectiveKind::barrier) == Algorithm::direct);
  CHECK(chosen(CollectiveKind::broadcast, Backend::dma) == Algorithm::direct);
  cluster.node = switched(8);
  CHECK(chosen(CollectiveKind::all_gather) == Algorithm::ring);
  CHECK(chosen(CollectiveKind::all_gather, Backend::dma) == Algorithm::direct);
  cluster.node.switch_reduces = true;
  CHECK(chosen(CollectiveKind::all_reduce) == Algorithm::ring);  // the library has no channels for it
  cluster.library.nvls_channels = 16;
  cluster.library.nvls_payload = cluster.library.link_payload;
  CHECK(chosen(CollectiveKind::all_reduce) == Algorithm::nvls);
}

TEST_CASE("an all-reduce goes through the switch only where that is faster: S (1 + 1/n) against 2S (n-1)/n") {
  ClusterSpec cluster = mi300x_like_cluster();
  cluster.node = switched(8);
  cluster.node.switch_reduces = true;
  cluster.library.nvls_channels = 16;
  const auto chosen = [&](std::vector<int> ranks, double payload_share) {
    cluster.library.nvls_payload = cluster.library.link_payload * payload_share;
    return default_algorithm(call_on(CollectiveKind::all_reduce, std::move(ranks)), Backend::cu, cluster);
  };
  CHECK(chosen({0, 1}, 10.0) == Algorithm::ring);     // libraries never do it with two
  CHECK(chosen({0, 1, 2}, 1.01) == Algorithm::nvls);  // 4/3 each: the rate decides
  CHECK(chosen({0, 1, 2}, 0.99) == Algorithm::ring);
  CHECK(chosen({0, 1, 2, 3}, 0.84) == Algorithm::nvls);  // 5/4 against 6/4
  CHECK(chosen({0, 1, 2, 3}, 0.83) == Algorithm::ring);
  CHECK(chosen({}, 0.65) == Algorithm::nvls);  // 9/8 against 14/8
  CHECK(chosen({}, 0.64) == Algorithm::ring);
}

TEST_CASE("a strategy's algorithm is for collectives that have several") {
  const ClusterSpec cluster = mi300x_like_cluster();
  StreamPolicy policy;
  policy.method.algorithm = Algorithm::ring;
  CHECK(method_of(call_on(CollectiveKind::all_gather), policy, cluster).algorithm == Algorithm::ring);
  CHECK(method_of(call_on(CollectiveKind::barrier), policy, cluster).algorithm == Algorithm::direct);
}

TEST_CASE("one rank stands for all unless they differ, their links do, or it is not wanted") {
  const WrittenOperation sum{"sum", call_on(CollectiveKind::all_reduce)};
  CHECK(folds(alone(sum), in_order()));
  CHECK(folds(alone(sum), with_algorithm(Algorithm::direct)));
  CHECK_FALSE(folds(alone(sum), with_algorithm(Algorithm::tree)));
  CHECK_FALSE(folds(alone({"group", call_on(CollectiveKind::all_reduce, {0, 1})}), in_order()));
  CHECK_FALSE(folds(alone({"root", call_on(CollectiveKind::broadcast)}), in_order()));
  CHECK_FALSE(folds(alone({"some", call_on(CollectiveKind::all_reduce), {0, 1}}), in_order()));
  CHECK_FALSE(folds(alone({"kernel", gemm_of_tiles(24, 19), {3}}), in_order()));
  WrittenExperiment wired = alone(sum);
  wired.cluster.node.topology = NodeTopology::wired;
  CHECK_FALSE(folds(wired, in_order()));
  WrittenExperiment every_rank = alone(sum);
  every_rank.measure.fold = Fold::none;
  CHECK_FALSE(folds(every_rank, in_order()));
}

TEST_CASE("a rank stands for all that one host thread feeds, beside a kernel and alone") {
  Strategy strategy = in_order();
  StreamPolicy& policy = strategy.streams["fsdp"];
  policy.backend = Backend::dma;
  policy.dma.host = DmaHost::node;
  for (const CollectiveKind kind : {CollectiveKind::all_gather, CollectiveKind::all_to_all}) {
    for (const Bytes bytes : {64.0_MiB, 1.0_GB}) {
      WrittenExperiment folded = pair(gemm_of_tiles(24, 19), {kind, bytes});
      CHECK(folds(folded, strategy));
      WrittenExperiment whole = folded;
      whole.measure.fold = Fold::none;
      for (const OperationFilter filter : {OperationFilter::all, OperationFilter::collectives}) {
        const RunSetup setup{.filter = filter};
        CHECK(run_once(folded, strategy, setup).time.value ==
              near(run_once(whole, strategy, setup).time.value, 1e-3));
      }
    }
  }
  policy.dma.prelaunch = true;
  CHECK_FALSE(folds(pair(), strategy));
}

TEST_CASE("groups on links of their own run at once, each as if it were alone") {
  const auto time_of = [](std::vector<WrittenStream> streams) {
    WrittenExperiment experiment = pair();
    experiment.streams = std::move(streams);
    return run_once(experiment, in_order(), {}).time.value;
  };
  const WrittenOperation left{"left", call_on(CollectiveKind::all_reduce, {0, 1, 2, 3})};
  const WrittenOperation right{"right", call_on(CollectiveKind::all_reduce, {4, 5, 6, 7})};
  const double one = time_of({{"left", {left}}});
  CHECK(time_of({{"left", {left}}, {"right", {right}}}) == near(one));
  CHECK(time_of({{"both", {left, right}}}) == near(one));  // no rank is in both: each goes on at once
}

TEST_CASE("two collectives of one group in flight share its links") {
  const auto time_of = [](std::vector<WrittenStream> streams) {
    WrittenExperiment experiment = pair();
    experiment.streams = std::move(streams);
    return run_once(experiment, in_order(), {}).time.value;
  };
  const WrittenOperation gathering{"gather", call_on(CollectiveKind::all_gather)};
  const double one = time_of({{"a", {gathering}}});
  CHECK(time_of({{"a", {gathering}}, {"b", {gathering}}}) == near(2 * one, 0.02));
}

TEST_CASE("an operation runs on the ranks that are named, and nowhere else") {
  WrittenExperiment experiment = alone({"kernel", gemm_of_tiles(24, 19), {2, 5}});
  Recording recording;
  run_recorded(experiment, in_order(), recording);
  std::vector<int> gpus;
  for (const auto* kernel : recording.of_kind(ActivityKind::kernel))
    gpus.push_back(kernel->gpu);
  CHECK(gpus == std::vector<int>{2, 5});
}

TEST_CASE("a rank that is kept away from a collective of its group is a deadlock that names it") {
  const Experiment experiment = alone({"sum", call_on(CollectiveKind::all_reduce, {1, 4, 6}), {1, 4}});
  CHECK_THROWS_WITH_AS(run_once(experiment, in_order(), {}),
                       "deadlock: nothing is in flight that could end these waits: "
                       "stream 'comm' of rank 1 waits for rank 6 to join sum; "
                       "stream 'comm' of rank 4 waits for rank 6 to join sum",
                       DeadlockError);
}

}  // namespace c3::workloads_collective_choice_test
