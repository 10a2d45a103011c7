// Recorded work: lags in place of latencies, times that hold their interference, collectives of known time,
// hosts with several threads. Dates by hand.

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/support/near.hpp"
#include "tests/unit/workloads_pair.hpp"
#include "workloads/execute/waiting_cycle.hpp"
#include "workloads/program/program_builder.hpp"

namespace c3::workloads_recorded_test {

using namespace literals;
using namespace test;

namespace {

constexpr TimedKernel kWork{.duration = 100.0_us, .timing = Timing::in_situ};

Experiment experiment_of(Program program) {
  Experiment experiment;
  experiment.cluster = mi300x_like_cluster();
  experiment.program = std::move(program);
  return experiment;
}

HostProgram threads_of(std::vector<HostThread> threads) {
  HostProgram host;
  host.threads = std::move(threads);
  return host;
}

/// Two streams with a kernel each, which threads "first" and "second" launch.
struct TwoThreads {
  TwoThreads() {
    const auto one = builder.stream("one"), two = builder.stream("two");
    builder.event("done");    // 0
    builder.event("signal");  // 1
    builder.timed(one, "a", kWork);
    builder.record(one, 0);
    builder.timed(two, "b", kWork);
    program = builder.take();
    program.names.insert(program.names.end(), {"first", "second"});
    for (std::vector<Operation>& stream : program.scripts[0].streams)
      stream[0].recorded = RecordedLags{5.0_us, 1.0_us};
  }

  void set_host(std::vector<HostStep> first, std::vector<HostStep> second) {
    const auto name = static_cast<NameId>(program.names.size() - 2);
    program.scripts[0].host = threads_of({{std::move(first), name}, {std::move(second), name + 1}});
  }

  ProgramBuilder builder;
  Program program;
};

constexpr OperationPlace kA{0, 0}, kRecord{0, 1}, kB{1, 0};

double released(const Program& program, std::size_t stream) {
  return run_once(experiment_of(program), in_order(), {}).streams[stream].release.value;
}

}  // namespace

TEST_CASE("a thread goes on when another one has signalled, and a wait returns its lag after the GPU's work") {
  TwoThreads two;
  // First: 10 us of work, launches a, signals. Second: 2 us of work, waits for the signal, 3 us of work,
  // launches b.
  two.set_host({{.launches = kA, .cost = 10.0_us}, {.launches = kRecord, .records = EventId{1}}},
               {{.cost = 2.0_us}, {.waits_for = EventId{1}, .lag = 4.0_us}, {.launches = kB, .cost = 3.0_us}});
  CHECK(released(two.program, 0) == near(15e-6, 1e-9));
  CHECK(released(two.program, 1) == near((10 + 4 + 3 + 5) * 1e-6, 1e-9));
  // The second waits for the GPU: a runs from 15 to 115 us, the wait returns 7 us later.
  two.set_host({{.launches = kA, .cost = 10.0_us}, {.launches = kRecord}},
               {{.waits_for = EventId{0}, .lag = 7.0_us}, {.launches = kB}});
  CHECK(released(two.program, 1) == near((115 + 7 + 5) * 1e-6, 1e-9));
  // A thread that comes 50 us after that does not wait.
  two.set_host({{.launches = kA, .cost = 10.0_us}, {.launches = kRecord}},
               {{.cost = 172.0_us}, {.waits_for = EventId{0}, .lag = 7.0_us}, {.launches = kB}});
  CHECK(released(two.program, 1) == near((172 + 5) * 1e-6, 1e-9));
}

TEST_CASE("what one thread launches before earlier work of the stream, by another thread, starts after that") {
  ProgramBuilder builder;
  const auto stream = builder.stream("one");
  builder.timed(stream, "a", kWork);
  builder.timed(stream, "b", kWork);
  Program program = builder.take();
  for (Operation& operation : program.scripts[0].streams[0])
    operation.recorded = RecordedLags{5.0_us, 1.0_us};
  program.scripts[0].host =
      threads_of({{{{.launches = OperationPlace{0, 1}}}, 0}, {{{.launches = kA, .cost = 30.0_us}}, 0}});
  const RunResult result = run_once(experiment_of(program), in_order(), {});
  CHECK(result.streams[0].release.value == near(35e-6, 1e-9));
  CHECK(result.streams[0].end.value == near((35 + 100 + 1 + 100) * 1e-6, 1e-9));
}

TEST_CASE("marks have the dates of their steps") {
  TwoThreads two;
  two.set_host({{.launches = kA, .cost = 10.0_us}, {.launches = kRecord}, {.cost = 3.0_us, .mark = 1}},
               {{.launches = kB}});
  const RunResult result = run_once(experiment_of(two.program), in_order(), {});
  REQUIRE(!result.marks.empty());
  CHECK(result.marks[0].rank == 0);
  CHECK(result.marks[0].date.value == near(13e-6, 1e-9));
  CHECK(result.marks[0].name == two.program.names[1]);
}

TEST_CASE("threads that wait for each other are a deadlock that names them, and so is one behind a stream") {
  TwoThreads two;
  two.program.scripts[0].events.push_back(0);  // 2
  two.set_host({{.waits_for = EventId{2}}, {.launches = kA, .records = EventId{1}}, {.launches = kRecord}},
               {{.waits_for = EventId{1}}, {.launches = kB, .records = EventId{2}}});
  const std::string threads = deadlock_of(experiment_of(two.program));
  INFO(threads);
  CHECK(threads.find("thread 'first' of the host of rank 0 waits for") != std::string::npos);
  CHECK(threads.find("thread 'second' of the host of rank 0 waits for") != std::string::npos);
  // The second launches a when the first signals, and the first waits for what follows a.
  two.set_host({{.waits_for = EventId{0}}, {.launches = kB, .records = EventId{1}}},
               {{.waits_for = EventId{1}}, {.launches = kA}, {.launches = kRecord}});
  const std::vector<StreamWait> circle = waiting_cycle(two.program, in_order(), 1);
  CHECK(circle == std::vector<StreamWait>{{0, 0, 0, 0, 0}});
  two.set_host({{.records = EventId{1}}, {.waits_for = EventId{0}}, {.launches = kB}},
               {{.waits_for = EventId{1}}, {.launches = kA}, {.launches = kRecord}});
  CHECK(waiting_cycle(two.program, in_order(), 1).empty());
  CHECK(deadlock_of(experiment_of(two.program)).empty());
}

TEST_CASE("a time in situ is never slowed, one that was taken alone is, by the same neighbour") {
  const auto time_beside = [](Timing timing) {
    ProgramBuilder builder;
    const Bytes bytes{3e12 * 100e-6};  // of 100 us: two of them ask for 6 of 4 TB/s
    const TimedKernel neighbour{.duration = 100.0_us, .read = bytes};
    builder.timed(builder.stream("other"), "other", neighbour);
    const Bytes read = timing == Timing::alone ? bytes : Bytes{};
    builder.timed(builder.stream("timed"), "timed", {.duration = 100.0_us, .read = read, .timing = timing});
    Experiment experiment = experiment_of(builder.take());
    HbmSpec& hbm = experiment.cluster.gpu.hbm;
    hbm.read = hbm.copy = hbm.write = 4.0_TBps;
    experiment.cluster.gpu.cache.llc_size = Bytes{};
    const RunResult result = run_once(experiment, in_order(), {});
    return std::pair(result.streams[1].duration().value, result.streams[0].duration().value);
  };
  const auto [alone, beside_alone] = time_beside(Timing::alone);
  const auto [in_situ, beside_in_situ] = time_beside(Timing::in_situ);
  CHECK(alone > 1.2 * 102e-6);
  CHECK(in_situ == near(kLaunch + 100e-6, 1e-9));
  CHECK(beside_in_situ == near(kLaunch + 100e-6, 1e-3));
  CHECK(beside_alone > 1.2 * 102e-6);
}

TEST_CASE("a timed call lasts, on each rank, as recorded from the arrival of its last member") {
  Program program;
  program.names = {"", "sum"};
  program.streams = {"comm"};
  program.calls = {{.what = {.kind = CollectiveKind::all_reduce, .bytes = 1.0_MiB, .ranks = {0, 2}},
                    .name = 1,
                    .is_timed = true}};
  program.scripts.resize(3);
  for (std::uint32_t script = 0; script < 2; ++script) {
    const Seconds begin = script == 0 ? 10.0_us : 40.0_us;
    const Seconds lasts = script == 0 ? 70.0_us : 80.0_us;
    Operation join{.work = JoinCall{0}, .name = 1};
    join.recorded = RecordedLags{{}, {}, lasts};
    program.scripts[script].streams = {{join}};
    program.scripts[script].host = threads_of({{{{.launches = kA, .cost = begin}}, 0}});
  }
  program.scripts[2].streams.resize(1);
  program.ranks = {{0, 1, 0}, {1, 2, 2}, {2, 3, 1}, {3, 8, 2}};
  const RunResult result = run_once(experiment_of(program), in_order(), {});
  CHECK(result.collectives.release.value == near(10e-6, 1e-9));
  CHECK(result.collectives.end.value == near(120e-6, 1e-9));
  CHECK(result.classes[0].times.communication.value ==
        near(100e-6, 1e-6));  // 10 to 110 us, its waiting included
  CHECK(result.classes[2].times.communication.value == near(80e-6, 1e-6));
  program.ranks = {{0, 1, 0}, {1, 8, 2}};
  CHECK(deadlock_of(experiment_of(program)).find("all members of sum") != std::string::npos);
}

}  // namespace c3::workloads_recorded_test
