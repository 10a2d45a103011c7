// What runs of one study take over of each other's collectives.

#include "workloads/execute/shared_schedules.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <vector>

#include "tests/support/clusters.hpp"
#include "tests/support/folded_runs.hpp"
#include "tests/support/random_programs.hpp"
#include "workloads/execute/run.hpp"

namespace c3::workloads_shared_schedules_test {

using namespace test;

namespace {

const SharedSchedules::Kind kKind{
    .strategy = "s", .filter = OperationFilter::all, .grain = Measure{}.collective_grain, .only_stream = {}};

/// What is kept for the experiment, and stays; nullptr: nothing.
std::shared_ptr<const FoldedSchedules> kept_for(const Experiment& experiment, const RunSetup& setup) {
  auto kept = setup.schedules->take(kKind, experiment.cluster, simulated_ranks(experiment, kStrategy));
  if (kept) setup.schedules->keep(kKind, experiment.cluster, kept);
  return kept;
}

void check_equal(const RunResult& a, const RunResult& b) {
  CHECK(a.time.value == b.time.value);
  CHECK(a.flows == b.flows);
  CHECK(a.inequity == b.inequity);
  CHECK(a.classes.size() == b.classes.size());
}

/// Two stages on four nodes of four GPUs, whose ranks reduce \p sizes one after another.
Experiment reducing(const std::vector<Bytes>& sizes) {
  WrittenStream stream{"s", {}};
  for (const Bytes bytes : sizes) {
    CollectiveCall call{CollectiveKind::all_reduce, bytes};
    call.groups = RankGroups{.size = 8, .stride = 1};
    stream.operations.push_back({"reduce", std::move(call)});
  }
  WrittenStream longer = stream;
  longer.operations.push_back({"more", TimedKernel{.duration = Seconds{1e-3}}});
  std::vector<int> first, second;
  for (int rank = 0; rank < 8; ++rank) {
    first.push_back(rank);
    second.push_back(rank + 8);
  }
  Experiment experiment;
  experiment.name = "reducing";
  experiment.cluster = nodes_of(NodeTopology::switched, 4, 4, 4);
  experiment.program = program_of({{"a", first, {stream}}, {"b", second, {longer}}}, {}, 16);
  return experiment;
}

}  // namespace

TEST_CASE("a run that takes over another's schedules has its times to the last bit") {
  int kept = 0;
  for (std::uint32_t seed = 0; seed < 12; ++seed) {
    CAPTURE(seed);
    RandomPrograms random(seed);
    const ClusterSpec cluster = random.cluster();
    const Experiment experiment = experiment_of(cluster, random.stages(cluster));
    RunSetup shared;
    shared.schedules = std::make_shared<SharedSchedules>();
    const RunResult alone = run_once(experiment, kStrategy, {});
    check_equal(run_once(experiment, kStrategy, shared), alone);
    kept += kept_for(experiment, shared) ? 1 : 0;
    check_equal(run_once(experiment, kStrategy, shared), alone);
  }
  CHECK(kept >= 6);
}

TEST_CASE("fewer of the same collectives are taken over, others are made anew and kept in their place") {
  const Bytes small{1e6}, large{1e8};
  RunSetup shared;
  shared.schedules = std::make_shared<SharedSchedules>();
  const Experiment long_one = reducing({small, large, small, large}), short_one = reducing({small, large}),
                   other = reducing({small, Bytes{3e8}}), less = reducing({small});
  for (const Experiment* experiment : {&long_one, &short_one, &other, &short_one, &less, &long_one}) {
    check_equal(run_once(*experiment, kStrategy, shared), run_once(*experiment, kStrategy, {}));
    const auto kept = kept_for(*experiment, shared);
    REQUIRE(kept != nullptr);
    CHECK(kept->in_order.size() == (experiment == &less ? 2U : 4U));  // its own, and no others
  }
}

TEST_CASE("what was made for another cluster, or other classes of ranks, is not taken over") {
  RunSetup shared;
  shared.schedules = std::make_shared<SharedSchedules>();
  Experiment experiment = reducing({Bytes{1e7}});
  run_once(experiment, kStrategy, shared);
  REQUIRE(kept_for(experiment, shared));
  CHECK(shared.schedules->take(kKind, experiment.cluster, RankPartition::each(16)) == nullptr);
  CHECK(!kept_for(experiment, shared));  // what does not fit is let go of
  run_once(experiment, kStrategy, shared);
  SharedSchedules::Kind of_collectives = kKind;
  of_collectives.filter = OperationFilter::collectives;
  CHECK(shared.schedules->take(of_collectives, experiment.cluster, simulated_ranks(experiment, kStrategy)) ==
        nullptr);
  run_once(experiment, kStrategy, shared);
  experiment.cluster.node.link.one_way = experiment.cluster.node.link.one_way * 0.5;
  CHECK(!kept_for(experiment, shared));
  check_equal(run_once(experiment, kStrategy, shared), run_once(experiment, kStrategy, {}));
}

}  // namespace c3::workloads_shared_schedules_test
