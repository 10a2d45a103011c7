// Recorded ranks that are repeated on more ranks: who does what, what collectives then move, how long that
// takes. Dates by hand.

#include "workloads/traces/replay/data_parallel.hpp"

#include <doctest/doctest.h>

#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "collectives/measure.hpp"
#include "tests/support/clusters.hpp"
#include "tests/support/folded_runs.hpp"
#include "tests/support/near.hpp"
#include "workloads/traces/replay/replay_program.hpp"

namespace c3::workloads_data_parallel_test {

using namespace literals;
using namespace test;

namespace {

constexpr Picoseconds us(std::int64_t count) { return {count * 1'000'000}; }
constexpr std::int64_t kBytes = 64'000'000;

enum Text : TextRow { nothing, kernel, thread, sum, half };

/// Each rank runs a kernel of 100 us, 10 us later for each rank, and then a collective of all that took 600 us.
RecordedRun run_of(int ranks, const std::string& kind = "all_reduce") {
  RecordedRun run;
  run.names = {"", "kernel", "thread", kind, "c10::Half"};
  run.streams = {"stream7"};
  run.world_size = ranks;
  run.collectives.push_back({.name = kernel,
                             .kind = sum,
                             .dtype = half,
                             .bytes = kBytes,
                             .group_size = ranks,
                             .members = std::vector<std::int32_t>(static_cast<std::size_t>(ranks))});
  std::iota(run.collectives[0].members.begin(), run.collectives[0].members.end(), 0);
  for (int number = 0; number < ranks; ++number) {
    RecordedRank& rank = run.ranks.emplace_back();
    rank.number = number;
    rank.threads = {thread};
    rank.points = {{.thread = 0, .date = {}, .cost = us(10 * number)}};
    rank.work = {{.name = kernel, .work_class = WorkClass::vector, .duration = us(100), .launch = 0},
                 {.name = kernel,
                  .work_class = WorkClass::collective,
                  .duration = us(600),
                  .launch = 0,
                  .collective = 0}};
  }
  return run;
}

/// A rank that was recorded alone, of \p job.
RecordedRun lone(int job) {
  RecordedRun run = run_of(1);
  run.world_size = job;
  run.collectives[0].group_size = job;
  return run;
}

std::string refusal(const RecordedRun& run, int ranks) {
  try {
    with_data_parallel(run, ranks);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

std::int64_t bytes_of(const std::string& kind) {
  return with_data_parallel(run_of(2, kind), 16).collectives[0].bytes;
}

/// One GPU a node, on NICs of 45 GB/s both ways, and channels that are faster.
ClusterSpec nics(int nodes) {
  ClusterSpec cluster = nodes_of(NodeTopology::switched, nodes, 1);
  cluster.library.cu_rate = cluster.library.simple.channel_rate = 100.0_GBps;
  return cluster;
}

Experiment scaled(const RecordedRun& run, const ClusterSpec& cluster) {
  const int ranks = cluster.ranks();
  return experiment_of(cluster, replay_program(with_data_parallel(run, ranks), repeated_roles(run, ranks),
                                               {{WorkClass::collective}, &cluster.gpu}));
}

}  // namespace

TEST_CASE("as many ranks as were recorded are the recorded ones, with any replay") {
  const RecordedRun run = run_of(8);
  CHECK(with_data_parallel(run, 8) == run);
  CHECK(repeated_roles(run, 8) == recorded_roles(run, 8));
  CHECK(replay_program(run, repeated_roles(run, 8)) == replay_program(run, 8));
  CHECK(with_data_parallel(lone(8), 8) == lone(8));
}

TEST_CASE("rank r repeats recorded rank r mod their number, in a collective of all") {
  const RecordedRun run = with_data_parallel(run_of(2), 6);
  CHECK(repeated_roles(run, 6) == RankRoles{0, 1, 0, 1, 0, 1});
  CHECK(run.collectives[0].members == std::vector<std::int32_t>{0, 1, 2, 3, 4, 5});
  CHECK(run.collectives[0].group_size == 6);
  const Program program = replay_program(run, repeated_roles(run, 6), {{WorkClass::collective}, nullptr});
  CHECK(program.scripts.size() == 2);
  CHECK(program.names[program.script_of(5).name] == "rank1");
  CHECK(program.script_number(4) == program.script_number(0));
}

TEST_CASE("gradients and whole tensors keep their bytes, parts of each rank add up") {
  for (const char* const kind : {"all_reduce", "broadcast", "all_gather", "reduce_scatter", "all_to_all"}) {
    CAPTURE(kind);
    CHECK(bytes_of(kind) == kBytes);
  }
  for (const char* const kind : {"gather", "scatter"}) {
    CAPTURE(kind);
    CHECK(bytes_of(kind) == 8 * kBytes);
  }
}

TEST_CASE("groups that are not all recorded ranks are refused by name, and so is what nobody knows") {
  CHECK(refusal(run_of(8), 12) == "12 is not a multiple of the 8 recorded ranks, which are repeated");
  RecordedRun part = run_of(4);
  part.collectives[0].members = {0, 2};
  CHECK(refusal(part, 8) == "the collective 'kernel' of ranks 0, 2 has not all of the 4 recorded ranks");
  RecordedRun cut = run_of(4);
  cut.collectives[0].group_size = 8;
  CHECK(refusal(cut, 8) ==
        "the collective 'kernel' of ranks 0, 1, 2, 3 has a group of 8 ranks, of which 4 were recorded");
  RecordedRun missing = run_of(2);
  missing.ranks[1].number = 5;
  CHECK(refusal(missing, 8) == "rank 1 was not recorded");
  RecordedRun half_a_job = run_of(4);
  half_a_job.world_size = 8;
  CHECK(refusal(half_a_job, 16) == "4 of the job's 8 ranks were recorded");
  RecordedRun unmatched = run_of(2);
  unmatched.ranks[1].work[1].collective = kNoIndex;
  unmatched.ranks[1].work[1].start = us(1500);
  CHECK(refusal(unmatched, 8) ==
        "it is not known which ranks join the collective 'kernel' of rank 1, at 1.500 ms");
  CHECK(
      refusal(run_of(2, "all_to_all_v"), 8).find("the collective 'kernel' of ranks 0, 1 cannot be modelled") ==
      0);
  RecordedRun groups = lone(8);
  groups.collectives.push_back(groups.collectives[0]);
  groups.collectives[1].group_size = 4;
  CHECK(refusal(groups, 64) == "the collective 'kernel' of rank 0 has a group of 4 ranks, the job 8");
}

TEST_CASE("a ring among n ranks moves 2 (n - 1) / n of the bytes behind the last rank's kernel") {
  for (const int ranks : {2, 4, 16}) {
    CAPTURE(ranks);
    const Experiment experiment = scaled(run_of(2), nics(ranks));
    Strategy ring = kStrategy;
    ring.streams["stream7"].method.algorithm = Algorithm::ring;
    const RunResult result = run(experiment, Fold::mean, ring);
    const double bytes = 2.0 * (ranks - 1) / ranks * static_cast<double>(kBytes);
    // Beside the wire: a launch of 17 us, and 2 (n - 1) steps.
    const double steps = 2.0 * (ranks - 1) * experiment.cluster.library.simple.network_latency.value;
    CHECK(result.time.value == near(110e-6 + 17e-6 + bytes / 45e9 + steps, 0.03));
    const MeasuredMethod alone{.method = {Algorithm::ring, Protocol::simple}, .gap = Seconds{}};
    const CollectiveCall call{.kind = CollectiveKind::all_reduce, .bytes = Bytes{kBytes}, .dtype = DType::fp16};
    CHECK(result.time.value ==
          near(110e-6 + measure_collective(experiment.cluster, call, alone).time.value, 1e-3));
  }
}

TEST_CASE("copies of a rank are a class, of which one is simulated, as long as all of them take") {
  const Experiment experiment = scaled(run_of(4), nodes_of(NodeTopology::switched, 4, 4));
  const RunResult folded = run(experiment, Fold::mean), all = run(experiment, Fold::none);
  REQUIRE(folded.classes.size() == 4);
  CHECK(all.classes.size() == 16);
  CHECK(folded.classes[3].name == "rank3");
  CHECK(text_of(folded.classes[3].ranks) == "3, 7, 11, 15");
  CHECK(folded.time.value == near(all.time.value, tolerance(experiment, all, folded)));
  check_activity(all, folded, all.time * tolerance(experiment, all, folded));
}

TEST_CASE("1,024 copies of a rank cost as many flows, to a third, as 16 do") {
  const RunResult few = run(scaled(lone(8), nodes_of(NodeTopology::switched, 4, 4)), Fold::mean);
  const RunResult many = run(scaled(lone(8), nodes_of(NodeTopology::switched, 256, 4)), Fold::mean);
  CHECK(few.classes.size() == 1);
  REQUIRE(many.classes.size() == 1);
  CHECK(many.classes[0].multiplicity() == 1024);
  CHECK(static_cast<double>(many.flows) <= 1.34 * static_cast<double>(few.flows));
}

TEST_CASE("recorded ranks that did the same at the same dates share a script, and are one class") {
  RecordedRun alike = run_of(2);
  alike.ranks[1].points = alike.ranks[0].points;
  CHECK(replay_program(alike, 2).scripts.size() == 1);
  CHECK(run(scaled(alike, nodes_of(NodeTopology::switched, 4, 4)), Fold::mean).classes.size() == 1);
}

TEST_CASE("classes of ranks meet in timed calls as their members do") {
  // Recorded ranks A and B come 0 and 10 us late to a call that takes 600 us.
  const ClusterSpec cluster = nodes_of(NodeTopology::switched, 4, 4);
  const auto in_groups = [&](RankGroups groups, const RankRoles& roles) {
    Program program = replay_program(run_of(2), roles);
    program.calls[0].what = {.kind = CollectiveKind::barrier, .groups = groups};
    return experiment_of(cluster, program);
  };
  // Groups of neighbours, ABAB: four members, of which two are simulated.
  const Experiment neighbours = in_groups({.size = 4}, repeated_roles(run_of(2), 16));
  // Groups of a rank and the eighth behind it, AB and BA: A is simulated in the first, B in the second.
  const Experiment across =
      in_groups({.size = 2, .stride = 8}, {0, 1, 0, 1, 0, 1, 0, 1, 1, 0, 1, 0, 1, 0, 1, 0});
  for (const Experiment* experiment : {&neighbours, &across}) {
    const RunResult folded = run(*experiment, Fold::mean), all = run(*experiment, Fold::none);
    CHECK((folded.classes.size() == 2 && all.classes.size() == 16));
    CHECK(all.time.value == near(110e-6 + 600e-6, 1e-9));
    CHECK(folded.time.value == near(all.time.value, 1e-12));
    check_activity(all, folded, Seconds{1e-12});
  }
}

}  // namespace c3::workloads_data_parallel_test
