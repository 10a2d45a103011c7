// A recorded run replayed by the model: what is modelled takes the model's time, starts as recorded, and the
// rest is as it was. Dates by hand.

#include <doctest/doctest.h>

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "collectives/measure.hpp"
#include "gpu/kernels/describe.hpp"
#include "gpu/kernels/vector/vector_shape.hpp"
#include "tests/support/near.hpp"
#include "tests/unit/workloads_pair.hpp"
#include "workloads/traces/replay/data_parallel.hpp"
#include "workloads/traces/replay/replay_program.hpp"

namespace c3::workloads_replay_model_test {

using namespace literals;
using namespace test;

namespace {

constexpr Picoseconds us(std::int64_t count) { return {count * 1'000'000}; }

/// Texts of the runs below.
enum Text : TextRow { nothing, kernel, thread, all_reduce, half, send, rule, uneven };

/// Ranks with one thread and one stream. Each piece of work starts 5 us behind its launch, which is at the
/// first date, and 3 us behind the work before it.
RecordedRun run_of(int ranks) {
  RecordedRun run;
  run.names = {"", "kernel", "thread", "all_reduce", "c10::Half", "send_recv", "rule", "all_to_all_v"};
  run.streams = {"stream7"};
  for (int number = 0; number < ranks; ++number) {
    RecordedRank& rank = run.ranks.emplace_back();
    rank.number = number;
    rank.threads = {thread};
    rank.points = {{.thread = 0, .date = {}, .cost = {}}};
  }
  return run;
}

RecordedWork work_of(WorkClass work_class, Picoseconds duration) {
  return {.name = kernel,
          .work_class = work_class,
          .duration = duration,
          .launch = 0,
          .after_launch = us(5),
          .after_stream = us(3)};
}

std::uint32_t add_operator(RecordedRun& run, RecordedOperator recorded) {
  recorded.note = rule;
  run.operators.push_back(std::move(recorded));
  return static_cast<std::uint32_t>(run.operators.size() - 1);
}

/// On rank 0: a product of 100 us, one that reduces its parts in 20 us, an addition of 40 us, and a copy of 7.
RecordedRun kernels() {
  RecordedRun run = run_of(1);
  std::vector<RecordedWork>& work = run.ranks[0].work;
  work.push_back(work_of(WorkClass::gemm, us(100)));
  work.back().op = add_operator(run, {.op = gemm_of_tiles(24, 19)});
  work.push_back(work_of(WorkClass::gemm, us(20)));
  work.back().op = add_operator(run, {.op = gemm_of_tiles(24, 19), .in_another = true});
  work.push_back(work_of(WorkClass::vector, us(40)));
  work.back().op = add_operator(run, {.op = VectorShape{VectorOp::add, 4096, 4096, DType::bf16}});
  work.push_back(work_of(WorkClass::copy, us(7)));
  work.back().op = add_operator(run, {});
  return run;
}

Experiment experiment_of(const RecordedRun& run, std::vector<WorkClass> classes, int gpus = 1) {
  Experiment experiment;
  experiment.cluster = mi300x_like_cluster();
  experiment.cluster.gpu = mi300x_like_trainer();
  experiment.program = replay_program(run, gpus == 1 ? experiment.cluster.ranks() : gpus,
                                      {std::move(classes), &experiment.cluster.gpu});
  return experiment;
}

double end_of(const Experiment& experiment) {
  return run_once(experiment, in_order(), {}).streams[0].end.value;
}

double alone(const Operator& op) {
  return time_of(op, mi300x_like_trainer(), {.launch = LaunchCost::device}).time.value;
}

/// The first lag, and one between each of four.
constexpr double kLags = (5 + 3 * 3) * 1e-6;

/// All ranks but the first two do nothing. Rank 1 comes 30 us late.
RecordedRun collective(TextRow kind, std::int64_t bytes) {
  RecordedRun run = run_of(2);
  run.collectives.push_back({.name = kernel, .kind = kind, .dtype = half, .bytes = bytes, .members = {0, 1}});
  for (RecordedRank& rank : run.ranks) {
    rank.work.push_back(work_of(WorkClass::collective, us(600)));
    rank.work.back().collective = 0;
  }
  run.ranks[1].points[0].cost = us(30);
  return run;
}

}  // namespace

TEST_CASE("as recorded, nothing is modelled") {
  CHECK(end_of(experiment_of(kernels(), {})) == near(kLags + 167e-6, 1e-9));
}

TEST_CASE("modelled kernels take what the model says of them alone, launch on the device included") {
  const RecordedRun run = kernels();
  const double product = alone(*run.operators[0].op), addition = alone(*run.operators[2].op);
  CHECK(product != near(100e-6, 1e-2));
  // The work inside the product takes none, and the copy what it took.
  CHECK(end_of(experiment_of(run, all_work_classes())) == near(kLags + product + addition + 7e-6, 1e-6));
  CHECK(end_of(experiment_of(run, {WorkClass::gemm})) == near(kLags + product + 40e-6 + 7e-6, 1e-6));
  CHECK(end_of(experiment_of(run, {WorkClass::vector})) == near(kLags + 120e-6 + addition + 7e-6, 1e-6));
}

TEST_CASE("a modelled collective takes what it takes alone, from the arrival of its last member") {
  const RecordedRun run = collective(all_reduce, 64 << 20);
  const Experiment experiment = experiment_of(run, {WorkClass::collective}, 8);
  const CollectiveCall call = *specified_call(run, run.collectives[0]);
  CHECK(call == CollectiveCall{.kind = CollectiveKind::all_reduce,
                               .bytes = Bytes{64.0 * 1024 * 1024},
                               .dtype = DType::fp16,
                               .ranks = {0, 1}});
  const double measured = measure_collective(experiment.cluster, call, {.gap = Seconds{}}).time.value;
  CHECK(end_of(experiment) == near(35e-6 + measured, 1e-6));
  CHECK(end_of(experiment_of(run, {WorkClass::gemm}, 8)) == near(635e-6, 1e-9));
}

TEST_CASE("an all-to-all with known sizes of pairs takes what those take, and without them keeps its time") {
  RecordedRun run = collective(uneven, 96 << 20);
  CHECK(!specified_call(run, run.collectives[0]));
  CHECK(end_of(experiment_of(run, {WorkClass::collective}, 8)) == near(635e-6, 1e-9));
  run.collectives[0].sends = {0, 96 << 20, 8 << 20, 0};
  const Experiment experiment = experiment_of(run, {WorkClass::collective}, 8);
  const CollectiveCall call{.kind = CollectiveKind::all_to_all_v,
                            .ranks = {0, 1},
                            .sends = {{}, Bytes{96.0 * 1024 * 1024}, Bytes{8.0 * 1024 * 1024}, {}}};
  const double measured = measure_collective(experiment.cluster, call, {.gap = Seconds{}}).time.value;
  CHECK(end_of(experiment) == near(35e-6 + measured, 1e-6));
  CHECK_THROWS_WITH_AS(with_data_parallel(run, 4), doctest::Contains("cannot be modelled among more ranks"),
                       std::invalid_argument);
}

TEST_CASE(
    "a collective that one rank recorded alone takes what alike ranks take without waiting, or keeps all") {
  // Recorded as 600 and 900 us: at least 300 of them were waiting.
  const auto recorded = [](int ranks, std::int64_t group) {
    RecordedRun run = run_of(ranks);
    for (std::uint32_t i = 0; i < 2; ++i) {
      run.collectives.push_back({.name = kernel,
                                 .kind = all_reduce,
                                 .dtype = half,
                                 .bytes = 64 << 20,
                                 .group_size = group,
                                 .members = {}});
      for (RecordedRank& rank : run.ranks) {
        rank.work.push_back(work_of(WorkClass::collective, us(600 + 300 * i)));
        rank.work.back().collective = i;
        run.collectives[i].members.push_back(rank.number);
      }
    }
    return run;
  };
  const RecordedRun alone_one = recorded(1, 8);
  const AloneCollectives sum = alone_collectives(alone_one);
  CHECK((sum.count == 2 && sum.time == us(1500) && sum.waiting_at_least == us(300)));
  CHECK(alone_collectives(recorded(2, 2)).count == 0);
  const std::vector<WorkClass> modelled{WorkClass::collective};
  CHECK(end_of(experiment_of(alone_one, {}, 8)) == near(1508e-6, 1e-9));
  CHECK(end_of(experiment_of(alone_one, modelled, 8)) ==
        near(end_of(experiment_of(recorded(8, 8), modelled, 8)), 1e-9));
  // Groups of two are of neighbours; nine ranks are not there, and keep their time.
  const CollectiveCall pairs = *specified_call(recorded(1, 2), recorded(1, 2).collectives[0], 8);
  CHECK((pairs.groups == RankGroups{.size = 2} && pairs.ranks.empty()));
  CHECK(end_of(experiment_of(recorded(1, 2), modelled, 8)) ==
        near(end_of(experiment_of(recorded(2, 2), modelled, 8)), 0.02));
  CHECK(end_of(experiment_of(recorded(1, 9), modelled, 8)) == near(1508e-6, 1e-9));
}

TEST_CASE("a collective that is not specified keeps its time") {
  for (const RecordedRun& run :
       {collective(send, 1 << 20), collective(nothing, 1 << 20), collective(all_reduce, 0)}) {
    CHECK(!specified_call(run, run.collectives[0]));
    CHECK(end_of(experiment_of(run, all_work_classes(), 8)) == near(635e-6, 1e-9));
  }
}

TEST_CASE("what the GPU cannot run keeps its time") {
  RecordedRun run = kernels();
  run.operators[0].op = GemmShape{4096, 4096, 4096, DType::fp8};  // has no fp8
  const double addition = alone(*run.operators[2].op);
  CHECK(end_of(experiment_of(run, all_work_classes())) == near(kLags + 100e-6 + addition + 7e-6, 1e-6));
}

TEST_CASE("shares say where the recorded time goes") {
  const RecordedRun run = kernels();
  const GpuSpec gpu = mi300x_like_trainer();
  const ReplayShares all = shares_of(run, {all_work_classes(), &gpu});
  CHECK((all.model.count == 2 && all.model.time == us(140)));
  CHECK((all.another.count == 1 && all.another.time == us(20)));
  CHECK((all.recording.count == 1 && all.recording.time == us(7)));
  CHECK(all.choice.count == 0);
  const ReplayShares some = shares_of(run, {{WorkClass::vector}, &gpu});
  CHECK((some.model.time == us(40) && some.choice.time == us(127)));
  CHECK((some.all().count == 4 && some.all().time == us(167)));
}

TEST_CASE("a stream's priority changes modelled collectives beside modelled kernels, and nothing recorded") {
  // On both ranks a long product, and 20 us later a collective on another stream.
  RecordedRun run = run_of(2);
  run.streams.emplace_back("stream20");
  run.collectives.push_back(
      {.name = kernel, .kind = all_reduce, .dtype = half, .bytes = 1 << 20, .members = {0, 1}});
  const std::uint32_t product = add_operator(run, {.op = gemm_of_tiles(38 * 8, 8)});
  for (RecordedRank& rank : run.ranks) {
    rank.work = {work_of(WorkClass::gemm, us(500)), work_of(WorkClass::collective, us(60))};
    rank.work[0].op = product;
    rank.work[1].stream = 1;
    rank.work[1].after_launch = us(20);
    rank.work[1].collective = 0;
  }
  const auto ends = [&run](std::vector<WorkClass> classes, int priority) {
    const Experiment experiment = experiment_of(run, std::move(classes), 8);
    Strategy strategy = in_order();
    strategy.streams["stream20"].priority = priority;
    const RunResult result = run_once(experiment, strategy, {});
    return std::pair(result.streams[0].end.value, result.streams[1].end.value);
  };
  const auto [low_product, low_sum] = ends(all_work_classes(), 0);
  const auto [high_product, high_sum] = ends(all_work_classes(), 5);
  CHECK(high_sum < 0.9 * low_sum);
  CHECK(high_product >= low_product);
  for (const std::vector<WorkClass>& classes :
       {std::vector<WorkClass>{}, {WorkClass::gemm}, {WorkClass::collective}})
    CHECK(ends(classes, 0) == ends(classes, 5));
  CHECK(ends({WorkClass::gemm}, 0).second == near(80e-6, 1e-9));
}

}  // namespace c3::workloads_replay_model_test
