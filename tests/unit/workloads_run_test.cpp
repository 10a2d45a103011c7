// One run of an experiment: what starts when, by hand.

#include "gpu/kernels/gemm/gemm_shape.hpp"
#include "workloads/execute/run.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>

#include "engine/errors.hpp"
#include "tests/support/near.hpp"
#include "tests/support/print_units.hpp"
#include "tests/unit/workloads_pair.hpp"

namespace c3::workloads_run_test {

using namespace literals;
using namespace test;

namespace {

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

void check_sides_run_as_if_alone(const Experiment& experiment) {
  const RunResult kernels = run_side(experiment, OperationFilter::kernels, 3);
  const RunResult collectives = run_side(experiment, OperationFilter::collectives, 3);
  RunSetup setup;
  setup.seed = 3;
  setup.isolation = Isolation::from_bits((1U << kSharedResources) - 1);
  const RunResult both = run_once(experiment, in_order(), setup);
  CHECK(both.kernels.end.value == near(kernels.time.value));
  CHECK(both.collectives.end.value == near(collectives.time.value));
  CHECK(both.time.value == near(std::max(kernels.time, collectives.time).value));
}

}  // namespace

TEST_CASE("a GEMM alone: launch, its waves, its stores") {
  // 456 tiles are 57 an XCD: waves of 38 and 19.
  const RunResult run = run_side(pair(), OperationFilter::kernels);
  CHECK(run.time.value == near(kLaunch + 2 * wave_seconds() + kStores));
  CHECK(run.kernels.duration() == run.time);
  CHECK_FALSE(run.collectives.any);
  CHECK(run.records.empty());
}

TEST_CASE("an all-gather alone: launch, latencies, S/N at the payload rate") {
  const RunResult run = run_side(pair(), OperationFilter::collectives);
  CHECK(run.time.value == near(kLaunch + kGather));
  CHECK_FALSE(run.kernels.any);
  REQUIRE(run.records.size() == 1);
  const CollectiveRecord& record = run.records.front();
  CHECK(record.name == "gather");
  CHECK(record.op == CollectiveKind::all_gather);
  CHECK(record.method.algorithm == Algorithm::direct);
  CHECK(record.backend == Backend::cu);
  CHECK(record.channels == 56);
  CHECK(record.bytes == 1.0_GB);
  CHECK(record.start == 0.0_s);
  CHECK(record.end == run.time);
  CHECK(record.algbw.value == near(1e9 / run.time.value));
  CHECK(record.busbw.value == near(1e9 / run.time.value * 7 / 8));
}

TEST_CASE("a GEMM enqueued first keeps the all-gather out until a wave leaves room") {
  // The GEMM fills LDS and registers of its CUs. With 304 tiles more, all CUs are taken for another wave.
  for (const int full_waves : {1, 2}) {
    Recording recording;
    const Experiment experiment = pair(gemm_of_tiles(8, 38 * full_waves + 19));
    run_recorded(experiment, in_order({"compute", "fsdp"}), recording);
    CHECK(first_start(recording, ActivityKind::channel) == near(kLaunch + full_waves * wave_seconds()));
    CHECK(first_start(recording, ActivityKind::cohort) == near(kLaunch));
  }
}

TEST_CASE("a note says for how much of their time channels waited for slots, and how many then share a CU") {
  // 576 tiles are 72 an XCD: after a full wave 34 leave 4 CUs for 7 channels. Six of them are two on a
  // CU, where each has half of 12 GB/s, three quarters of the 8 GB/s of a channel alone.
  RunResult run = run_once(pair(gemm_of_tiles(24, 24), gather(Bytes{5e7})), in_order({"compute", "fsdp"}), {});
  const double waited = wave_seconds() / (run.collectives.end.value - kLaunch);
  REQUIRE(run.notes.size() == 1);
  CHECK(run.notes.front() ==
        fmt::format(
            "channels waited for free slots {:.1f}% of the time from launch to end; 86% of them were placed "
            "beside another channel on one CU, because few CUs were free, and ran at 75% of the rate of a "
            "channel with a CU to itself",
            100.0 * waited));
  // 19 tiles leave a CU for each.
  run = run_once(pair(gemm_of_tiles(24, 19), gather(Bytes{5e7})), in_order({"compute", "fsdp"}), {});
  REQUIRE(run.notes.size() == 1);
  CHECK_FALSE(contains(run.notes.front(), "on one CU"));
  CHECK(run_once(pair(), in_order({"fsdp", "compute"}), {}).notes.empty());
}

TEST_CASE("an all-gather enqueued first, or of higher priority, starts at once") {
  Strategy first = in_order({"fsdp", "compute"});
  Strategy priority = in_order({"compute", "fsdp"});
  priority.streams["fsdp"].priority = 1;
  for (const Strategy& strategy : {first, priority}) {
    Recording recording;
    run_recorded(pair(), strategy, recording);
    CHECK(first_start(recording, ActivityKind::channel) == near(kLaunch));
    CHECK(first_start(recording, ActivityKind::cohort) == near(kLaunch));
  }
}

TEST_CASE("an all-gather enqueued first costs the GEMM the CUs of its channels") {
  // 7 channels an XCD leave 31 CUs; 62 tiles an XCD are two waves on 31, and would be on 38. The gather lasts
  // longer.
  const Experiment experiment = pair(gemm_of_tiles(16, 31), gather(Bytes{4e9}));
  const RunResult run = run_once(experiment, in_order({"fsdp", "compute"}), {});
  CHECK(run.kernels.end.value == near(kLaunch + 2 * wave_seconds() + kStores));
  const Experiment wider = pair(gemm_of_tiles(16, 32), gather(Bytes{4e9}));
  CHECK(run_once(wider, in_order({"fsdp", "compute"}), {}).kernels.end.value ==
        near(kLaunch + 3 * wave_seconds() + kStores));
}

TEST_CASE("channels slow down with the clock while a GEMM runs, and speed up when it has ended") {
  // Channels of 4 GB/s make 32 GB/s a lane, below the link. Half of a channel's time scales with the clock: at
  // 1200 of 2100 MHz it takes 0.5 + 0.5 x 2100/1200 = 1.375 times as long. 456 tiles: two waves on 31 CUs each.
  const auto gather_end = [](const GemmShape& gemm) {
    WrittenExperiment experiment = pair(gemm);
    experiment.cluster.library.simple.channel_rate = 4.0_GBps;
    return run_once(experiment, in_order({"fsdp", "compute"}), {}).collectives.end.value;
  };
  const double start = kLaunch + 17e-6 + 2.2e-6;
  CHECK(gather_end(gemm_of_tiles(48, 152)) == near(start + 125e6 / (32e9 / 1.375)));
  const double gemm_end = kLaunch + 2 * wave_seconds() + kStores;
  const double left = 125e6 - (gemm_end - start) * 32e9 / 1.375;
  CHECK(gather_end(gemm_of_tiles(24, 19)) == near(gemm_end + left / 32e9));
}

TEST_CASE("streams of a serial strategy run one after another, in its order") {
  Strategy serial = in_order();
  serial.serial = true;
  const double gemm = 2 * wave_seconds() + kStores;
  RunResult run = run_once(pair(), serial, {});
  CHECK(run.collectives.release.value == near(kLaunch + gemm));
  CHECK(run.time.value == near(kLaunch + gemm + kGap + kGather));
  serial.order = {"fsdp", "compute"};
  run = run_once(pair(), serial, {});
  CHECK(run.kernels.release.value == near(kLaunch + kGather));
  CHECK(run.time.value == near(kLaunch + kGather + kGap + gemm));
}

TEST_CASE("a stream that does nothing leaves the time of a serial strategy as it is, wherever it stands") {
  WrittenExperiment experiment = pair();
  experiment.streams.push_back({"idle", {}});
  Strategy serial = in_order();
  serial.serial = true;
  const std::vector<std::string> orders[] = {
      {"idle", "compute", "fsdp"}, {"compute", "idle", "fsdp"}, {"compute", "fsdp", "idle"}};
  for (const std::vector<std::string>& order : orders) {
    serial.order = order;
    CHECK(run_once(experiment, serial, {}).time.value ==
          near(kLaunch + 2 * wave_seconds() + kStores + kGap + kGather));
  }
}

TEST_CASE("operations of a stream follow one another after the dependent gap") {
  WrittenExperiment experiment = pair();
  experiment.streams = {{"compute", {{"first", gemm_of_tiles(8, 38)}, {"second", gemm_of_tiles(8, 38)}}}};
  Recording recording;
  const RunResult run = run_recorded(experiment, in_order(), recording);
  CHECK(run.time.value == near(kLaunch + kGap + 2 * (wave_seconds() + kStores)));
  const auto kernels = recording.of_kind(ActivityKind::kernel);
  REQUIRE(kernels.size() == 2);
  CHECK(kernels[1]->start == kernels[0]->end);
  const bool told = std::ranges::any_of(recording.dependencies, [&](const Recording::Dependency& edge) {
    return edge.kind == DependencyKind::stream_order && edge.successor == kernels[1]->id &&
           edge.predecessor == kernels[0]->id;
  });
  CHECK(told);
}

TEST_CASE("a wait holds its stream until the event is recorded") {
  WrittenExperiment experiment = pair();
  experiment.streams = {
      {"compute",
       {{"first", gemm_of_tiles(8, 38)}, {"mark", WrittenRecord{"half"}}, {"second", gemm_of_tiles(8, 38)}}},
      {"fsdp", {{"await", WrittenWait{"half"}}, {"gather", gather()}}}};
  Recording recording;
  const RunResult run = run_recorded(experiment, in_order(), recording);
  const double half = kLaunch + wave_seconds() + kStores;
  CHECK(run.collectives.release.value == near(half));
  const auto waits = recording.of_kind(ActivityKind::wait);
  REQUIRE(waits.size() == 1);
  CHECK(waits[0]->start == 0.0_s);
  CHECK(waits[0]->end.value == near(half));
  const bool told = std::ranges::any_of(recording.dependencies, [&](const Recording::Dependency& edge) {
    return edge.kind == DependencyKind::event && edge.successor == waits[0]->id &&
           recording.activity(edge.predecessor).name == "first";
  });
  CHECK(told);
}

TEST_CASE("an event recorded before the wait does not hold it") {
  WrittenExperiment experiment = pair();
  experiment.streams = {{"fsdp", {{"gather", gather()}, {"await", WrittenWait{"early"}}}},
                        {"compute", {{"mark", WrittenRecord{"early"}}}}};
  CHECK(run_once(experiment, in_order(), {}).time.value == near(kLaunch + kGather));
}

TEST_CASE("two streams that wait for each other's events are a deadlock that names both, and both events") {
  WrittenExperiment experiment = pair();
  experiment.streams = {{"compute", {{"await", WrittenWait{"b"}}, {"mark", WrittenRecord{"a"}}}},
                        {"fsdp", {{"await", WrittenWait{"a"}}, {"mark", WrittenRecord{"b"}}}}};
  for (const bool fold : {true, false}) {
    experiment.measure.fold = fold ? Fold::mean : Fold::none;
    const std::string message = deadlock_of(experiment);
    CAPTURE(message);
    CHECK(message ==
          "deadlock: 2 streams wait for one another in a circle: stream 'compute' of rank 0, at operation 0 "
          "(event b), "
          "waits for stream 'fsdp' of rank 0; stream 'fsdp' of rank 0, at operation 0 (event a), waits for "
          "stream "
          "'compute' of rank 0");
  }
}

TEST_CASE("an event that nobody records is a deadlock that names it") {
  WrittenExperiment experiment = pair();
  experiment.streams[0].operations.insert(experiment.streams[0].operations.begin(),
                                          {"await", WrittenWait{"never"}});
  CHECK(contains(deadlock_of(experiment), "stream 'compute' waits for event 'never'"));
}

TEST_CASE("an order that names no stream of the experiment is refused") {
  CHECK_THROWS_WITH_AS(run_once(pair(), in_order({"dp"}), {}), "strategy 'strategy': no stream 'dp'",
                       InfeasibleError);
}

TEST_CASE("a collective on copy engines takes no CU from the GEMM") {
  Strategy dma = in_order({"fsdp", "compute"});
  dma.streams["fsdp"].backend = Backend::dma;
  const RunResult run = run_once(pair(), dma, {});
  CHECK(run.kernels.end.value == near(kLaunch + 2 * wave_seconds() + kStores));
  REQUIRE(run.records.size() == 1);
  CHECK(run.records[0].backend == Backend::dma);
  CHECK(run.records[0].channels == 7);
}

TEST_CASE("two collectives take turns on the copy engines, also when one is a gang, direct or ring") {
  // The host makes fourteen commands; engine 7 gets its first after seven of them, its second when it is free.
  WrittenExperiment experiment = pair();
  experiment.streams = {{"tp", {{"first", gather()}}}, {"dp", {{"second", gather()}}}};
  Strategy dma = in_order();
  dma.streams["tp"].backend = dma.streams["dp"].backend = Backend::dma;
  const double one = 2.5e-6 + 0.3e-6 + 125e6 / 40e9 + 2.0e-6;
  for (const CollectiveGrain grain : {CollectiveGrain::step, CollectiveGrain::edge, CollectiveGrain::gang}) {
    for (const bool fold : {true, false}) {
      experiment.measure.collective_grain = grain;
      experiment.measure.fold = fold ? Fold::mean : Fold::none;
      dma.streams["dp"].method.algorithm = Algorithm::direct;
      CHECK(run_once(experiment, dma, {}).time.value == near(kLaunch + 7 * 0.6e-6 + 2 * one));
      dma.streams["dp"].method.algorithm = Algorithm::ring;
      CHECK(run_once(experiment, dma, {}).time.value > kLaunch + 7 * 0.6e-6 + 2 * one);
    }
  }
}

TEST_CASE("with a private copy of everything the time is the longer side's, whichever that is") {
  for (const double bytes : {0.1e9, 4e9}) {
    for (const bool fold : {true, false}) {
      WrittenExperiment experiment = pair(gemm_of_tiles(24, 19), gather(Bytes{bytes}));
      experiment.cluster.gpu.dispatch.work_group_spread = 0.02;
      experiment.measure.fold = fold ? Fold::mean : Fold::none;
      check_sides_run_as_if_alone(experiment);
    }
  }
}

TEST_CASE("with a private copy of everything sides keep their times alone also when HBM limits both") {
  WrittenExperiment experiment = pair(gemm_of_tiles(24, 19, 256), gather(Bytes{0.02e9}));
  experiment.cluster.gpu.dispatch.work_group_spread = 0.02;
  const Seconds fast = run_side(experiment, OperationFilter::kernels).time;
  HbmSpec& hbm = experiment.cluster.gpu.hbm;
  hbm.read = 0.30_TBps;
  hbm.write = 0.28_TBps;
  hbm.copy = 0.20_TBps;
  REQUIRE(run_side(experiment, OperationFilter::kernels).time > 2.0 * fast);
  check_sides_run_as_if_alone(experiment);
}

TEST_CASE("folded and explicit runs of a pair with drawn times agree to rounding, as ranks draw alike") {
  WrittenExperiment experiment = pair();
  experiment.cluster.gpu.dispatch.work_group_spread = 0.02;
  for (const char* first : {"compute", "fsdp"}) {
    experiment.measure.fold = Fold::mean;
    const RunResult folded = run_once(experiment, in_order({first}), {});
    experiment.measure.fold = Fold::none;
    const RunResult all = run_once(experiment, in_order({first}), {});
    CHECK(folded.time.value == near(all.time.value));
    CHECK(all.records.size() == 8);
  }
}

TEST_CASE("a run's result is the same to the last bit whatever ran before it, observed or not") {
  WrittenExperiment experiment = pair();
  experiment.cluster.gpu.dispatch.work_group_spread = 0.02;
  const RunResult before = run_once(experiment, in_order(), {});
  run_side(pair(gemm_of_tiles(3, 5)), OperationFilter::all, 7);
  Recording recording;
  CHECK(run_recorded(experiment, in_order(), recording).time == before.time);
  const RunResult after = run_once(experiment, in_order(), {});
  CHECK(after.time == before.time);
  CHECK(after.kernels.end == before.kernels.end);
  CHECK(after.collectives.end == before.collectives.end);
  CHECK(after.flows == before.flows);
}

TEST_CASE("seeds draw different times, a seed the same ones") {
  WrittenExperiment experiment = pair();
  experiment.cluster.gpu.dispatch.work_group_spread = 0.02;
  CHECK(run_side(experiment, OperationFilter::kernels, 1).time ==
        run_side(experiment, OperationFilter::kernels, 1).time);
  CHECK(run_side(experiment, OperationFilter::kernels, 1).time !=
        run_side(experiment, OperationFilter::kernels, 2).time);
  const Seconds of_seed_1 = run_side(experiment, OperationFilter::kernels, 1).time;
  experiment.measure.seed = 2;
  CHECK(run_side(experiment, OperationFilter::kernels, 1).time != of_seed_1);
}

}  // namespace c3::workloads_run_test
