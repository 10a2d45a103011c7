// Who waits for whom where a program cannot end.

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "engine/errors.hpp"
#include "tests/support/mi300x_like.hpp"
#include "workloads/execute/run.hpp"
#include "workloads/execute/waiting_cycle.hpp"
#include "workloads/program/written_streams.hpp"

namespace c3::workloads_waiting_cycle_test {

using namespace literals;
using namespace test;

namespace {

constexpr int kRanks = 4;
const Strategy kTogether{.name = "together", .order = {}, .streams = {}};

WrittenOperation send(int to) { return {"send", WrittenExchange{"all", {{to, 1.0_MiB, true}}}}; }
WrittenOperation receive(int from) { return {"receive", WrittenExchange{"all", {{from, 1.0_MiB, false}}}}; }
WrittenOperation sum(std::string name, std::vector<int> ranks) {
  CollectiveCall call{.kind = CollectiveKind::all_reduce, .bytes = 1.0_MiB};
  call.ranks = std::move(ranks);
  return {std::move(name), call};
}

/// Each rank with operations of its own, on one stream.
Program by_rank(std::vector<std::vector<WrittenOperation>> operations) {
  std::vector<WrittenRanks> written;
  for (int rank = 0; rank < std::ssize(operations); ++rank)
    written.push_back({"rank" + std::to_string(rank),
                       {rank},
                       {{"s", std::move(operations[static_cast<std::size_t>(rank)])}}});
  return program_of(written, {{"all", RankGroups{kRanks, 1}}}, kRanks);
}

Experiment experiment_of(Program program) {
  Experiment experiment;
  experiment.cluster = mi300x_like_cluster(kRanks);
  experiment.program = std::move(program);
  return experiment;
}

bool ends(const Experiment& experiment, const Strategy& strategy) {
  try {
    run_once(experiment, strategy, {});
    return true;
  } catch (const DeadlockError&) {
    return false;
  }
}

}  // namespace

TEST_CASE("a ring of sends that wait for each other is a circle of all ranks") {
  const Program ring = by_rank(std::vector<std::vector<WrittenOperation>>(kRanks, {send(1), receive(-1)}));
  const std::vector<StreamWait> waits = waiting_cycle(ring, kTogether, kRanks);
  REQUIRE(waits.size() == 4);
  for (const StreamWait& wait : waits)
    CHECK(wait.other_rank == (wait.rank + 1) % kRanks);
  CHECK(text_of(waits, ring) ==
        "4 streams wait for one another in a circle: stream 's' of rank 0, at operation 0 (send), waits for "
        "stream 's' "
        "of rank 1; stream 's' of rank 1, at operation 0 (send), waits for stream 's' of rank 2; stream 's' of "
        "rank 2, "
        "at operation 0 (send), waits for stream 's' of rank 3; stream 's' of rank 3, at operation 0 (send), "
        "waits for "
        "stream 's' of rank 0");
  std::vector<std::vector<WrittenOperation>> untied(kRanks, {send(1), receive(-1)});
  std::swap(untied[0][0], untied[0][1]);
  CHECK(waiting_cycle(by_rank(untied), kTogether, kRanks).empty());
}

TEST_CASE("what leads to a circle is not part of it") {
  const Program program = by_rank({{sum("first", {0, 1})},
                                   {sum("second", {1, 2}), sum("first", {0, 1})},
                                   {sum("third", {2, 3}), sum("second", {1, 2})},
                                   {receive(-1), sum("third", {2, 3}), send(-1)}});
  const Program circle =
      by_rank({{sum("first", {0, 1})}, {sum("first", {0, 1})}, {send(1), receive(1)}, {send(-1), receive(-1)}});
  CHECK(waiting_cycle(circle, kTogether, kRanks).size() == 2);
  const std::vector<StreamWait> waits = waiting_cycle(program, kTogether, kRanks);
  CHECK(waits.size() == 2);
  for (const StreamWait& wait : waits)
    CHECK(wait.rank >= 2);
}

TEST_CASE("who waits for a rank that never joins is in no circle") {
  const WrittenOperation all = sum("all", {0, 1, 2, 3});
  CHECK(waiting_cycle(by_rank({{all}, {all}, {}, {all}}), kTogether, kRanks).empty());
}

TEST_CASE("streams of a rank that wait for events of each other are a circle, in another order they end") {
  const auto streams = [](bool crossed) {
    const WrittenOperation wait_a{"", WrittenWait{"a"}}, wait_b{"", WrittenWait{"b"}};
    const WrittenOperation record_a{"", WrittenRecord{"a"}}, record_b{"", WrittenRecord{"b"}};
    const WrittenOperation work{"work", TimedKernel{.duration = 1.0_us}};
    std::vector<WrittenOperation> first{work, wait_a, record_b}, second{work, wait_b, record_a};
    if (!crossed) std::swap(second[1], second[2]);
    return program_of({{"one", first}, {"two", second}}, kRanks);
  };
  const std::vector<StreamWait> waits = waiting_cycle(streams(true), kTogether, kRanks);
  CHECK(waits == std::vector<StreamWait>{{0, 0, 1, 0, 1}, {0, 1, 1, 0, 0}});
  CHECK(waiting_cycle(streams(false), kTogether, kRanks).empty());
  const Strategy serial{.name = "serial", .serial = true, .order = {"one", "two"}, .streams = {}};
  const std::vector<StreamWait> in_turn = waiting_cycle(streams(false), serial, kRanks);
  CHECK(in_turn == std::vector<StreamWait>{{0, 0, 1, 0, 1}, {0, 1, 0, 0, 0}});
  CHECK(!ends(experiment_of(streams(false)), serial));
}

TEST_CASE("a host that waits for what it has not launched is a circle") {
  Program program =
      program_of({{"s", {{"work", TimedKernel{.duration = 1.0_us}}, {"", WrittenRecord{"done"}}}}}, kRanks);
  const auto host_of = [](std::vector<HostStep> steps) {
    return HostProgram{.threads = {{.steps = std::move(steps)}}};
  };
  const HostStep launch_work{.launches = OperationPlace{0, 0}}, launch_record{.launches = OperationPlace{0, 1}};
  const HostStep wait{.waits_for = EventId{0}};
  program.scripts[0].host = host_of({launch_work, launch_record, wait});
  CHECK(waiting_cycle(program, kTogether, kRanks).empty());
  CHECK(ends(experiment_of(program), kTogether));
  program.scripts[0].host = host_of({launch_work, wait, launch_record});
  CHECK(waiting_cycle(program, kTogether, kRanks) == std::vector<StreamWait>{{0, 0, 1, 0, 0}});
  CHECK(!ends(experiment_of(program), kTogether));
}

TEST_CASE("a stream that waits for one behind it in their hardware queue is a circle, which names the queue") {
  // The host launches the wait before the work that it is for: one queue takes them in this order.
  Program program =
      program_of({{"a", {{"", WrittenWait{"done"}}}},
                  {"b", {{"work", TimedKernel{.duration = 1.0_us}}, {"", WrittenRecord{"done"}}}}},
                 kRanks);
  const HostProgram one_queue{.threads = {{.steps = {{.launches = OperationPlace{0, 0}},
                                                     {.launches = OperationPlace{1, 0}},
                                                     {.launches = OperationPlace{1, 1}}}}},
                              .hardware_queues = 1};
  program.scripts[0].host = one_queue;
  CHECK(waiting_cycle(program, kTogether, kRanks) ==
        std::vector<StreamWait>{{0, 0, 0, 0, 1}, {0, 1, 0, 0, 0, /*hardware_queue=*/0}});
  CHECK_THROWS_WITH_AS(
      run_once(experiment_of(program), kTogether, {}),
      "deadlock: 2 streams wait for one another in a circle: stream 'a' of rank 0, at operation "
      "0 (event done), waits for stream 'b' of rank 0; stream 'b' of rank 0, at operation 0 "
      "(work), waits in hardware queue 0 behind stream 'a' of rank 0",
      DeadlockError);
  for (const int queues : {0, 2}) {
    program.scripts[0].host->hardware_queues = queues;
    CHECK(waiting_cycle(program, kTogether, kRanks).empty());
    CHECK(ends(experiment_of(program), kTogether));
  }
}

TEST_CASE("a host without room for a launch behind a stream that waits for it is a circle") {
  Program program = program_of({{"a", {{"", WrittenWait{"done"}}, {"work", TimedKernel{.duration = 1.0_us}}}},
                                {"b", {{"", WrittenRecord{"done"}}}}},
                               kRanks);
  program.scripts[0].host = HostProgram{.threads = {{.steps = {{.launches = OperationPlace{0, 0}},
                                                               {.launches = OperationPlace{0, 1}},
                                                               {.launches = OperationPlace{1, 0}}}}},
                                        .launch_queue = 1};
  CHECK(waiting_cycle(program, kTogether, kRanks) == std::vector<StreamWait>{{0, 0, 0, 0, 1}, {0, 1, 0, 0, 0}});
  CHECK(!ends(experiment_of(program), kTogether));
  program.scripts[0].host->launch_queue = 2;
  CHECK(waiting_cycle(program, kTogether, kRanks).empty());
  CHECK(ends(experiment_of(program), kTogether));
}

TEST_CASE("random programs with hosts end exactly where no circle is found, whatever their queues") {
  constexpr int kStreams = 3;
  const Strategy serial{.name = "serial", .serial = true, .order = {}, .streams = {}};
  int stuck = 0, saved = 0;
  for (std::uint32_t seed = 0; seed < 200; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    const auto below = [&random](std::size_t count) { return random() % count; };
    std::vector<WrittenRanks> written;
    for (int rank = 0; rank < kRanks; ++rank) {
      written.push_back({"rank" + std::to_string(rank), {rank}, {}});
      for (int stream = 0; stream < kStreams; ++stream)
        written.back().streams.push_back({"s" + std::to_string(stream), {}});
    }
    const auto add = [&](int rank, std::size_t stream, WrittenOperation operation) {
      auto& operations = written[static_cast<std::size_t>(rank)].streams[stream].operations;
      operations.insert(operations.begin() + static_cast<std::ptrdiff_t>(below(operations.size() + 1)),
                        std::move(operation));
    };
    for (int i = 0; i < 6; ++i) {
      const std::string name = std::to_string(i);
      const std::size_t stream = below(kStreams);
      const int rank = static_cast<int>(below(kRanks)), other = (rank + 1) % kRanks;
      if (below(3) == 0) {
        for (const int member : {rank, other})
          add(member, stream, sum("sum" + name, {std::min(rank, other), std::max(rank, other)}));
      } else {
        add(rank, stream, {"", WrittenRecord{"event" + name}});
        add(rank, (stream + 1) % kStreams, {"", WrittenWait{"event" + name}});
      }
    }
    Experiment experiment = experiment_of(program_of(written, {}, kRanks));
    for (Script& script : experiment.program.scripts) {
      // Streams in a random order, each operation after those before it on its stream.
      std::vector<std::size_t> turns;
      for (std::size_t stream = 0; stream < script.streams.size(); ++stream)
        turns.insert(turns.end(), script.streams[stream].size(), stream);
      std::shuffle(turns.begin(), turns.end(), random);
      std::vector<std::size_t> next(script.streams.size());
      HostThread thread;
      for (const std::size_t stream : turns)
        thread.steps.push_back({.launches = OperationPlace{stream, next[stream]++}});
      script.host = HostProgram{.threads = {thread}};
    }
    const auto is_stuck_with = [&](const Strategy& strategy, int queues, int room) {
      CAPTURE(queues);
      CAPTURE(room);
      for (Script& script : experiment.program.scripts) {
        script.host->hardware_queues = queues;
        script.host->launch_queue = room;
      }
      const bool is_stuck = !waiting_cycle(experiment.program, strategy, kRanks).empty();
      CHECK(is_stuck == !ends(experiment, strategy));
      return is_stuck;
    };
    const bool with_all = is_stuck_with(kTogether, 0, 1024);
    for (const int queues : {1, 2}) {
      const bool with_few = is_stuck_with(kTogether, queues, 1024);
      CHECK((with_few || !with_all));  // more queues never hurt
      stuck += with_few ? 1 : 0;
      saved += with_few && !with_all ? 1 : 0;
    }
    CHECK((is_stuck_with(kTogether, 0, 1) || !with_all));
    is_stuck_with(serial, 0, 1024);
  }
  CHECK(saved > 30);
  CHECK(stuck > 60);
  CHECK(stuck < 340);
}

TEST_CASE("random programs of messages, sums and events end exactly where no circle is found") {
  int stuck = 0, saved = 0;
  for (std::uint32_t seed = 0; seed < 300; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    const auto below = [&random](int count) {
      return static_cast<int>(random() % static_cast<unsigned>(count));
    };
    std::vector<std::vector<WrittenOperation>> operations(kRanks);
    for (int i = 0; i < 1 + below(5); ++i) {
      const int from = below(kRanks), to = (from + 1 + below(kRanks - 1)) % kRanks;
      if (below(3) > 0) {
        operations[static_cast<std::size_t>(from)].push_back(send((to - from + kRanks) % kRanks));
        operations[static_cast<std::size_t>(to)].push_back(receive((from - to + kRanks) % kRanks));
      } else {
        for (const int rank : {from, to})
          operations[static_cast<std::size_t>(rank)].push_back(
              sum("sum" + std::to_string(i), {std::min(from, to), std::max(from, to)}));
      }
    }
    for (auto& rank_operations : operations) {
      if (below(3) > 0 && rank_operations.size() > 1)
        std::swap(rank_operations[0],
                  rank_operations[static_cast<std::size_t>(below(static_cast<int>(rank_operations.size())))]);
      rank_operations.push_back({"work", TimedKernel{.duration = 1.0_us}});
    }
    Experiment experiment = experiment_of(by_rank(std::move(operations)));
    const bool is_stuck = !waiting_cycle(experiment.program, kTogether, kRanks).empty();
    stuck += is_stuck ? 1 : 0;
    CHECK(is_stuck == !ends(experiment, kTogether));
    // With room for one message, or for two.
    for (const Bytes buffer : {1.0_MiB, 2.0_MiB}) {
      CAPTURE(buffer);
      experiment.cluster.library.pair_buffer = buffer;
      const bool is_still_stuck =
          !waiting_cycle(experiment.program, kTogether, kRanks, &experiment.cluster.library).empty();
      CHECK(is_still_stuck == !ends(experiment, kTogether));
      saved += is_stuck && !is_still_stuck ? 1 : 0;
      CHECK((is_stuck || !is_still_stuck));
    }
  }
  CHECK(saved > 20);
  CHECK(stuck > 30);
  CHECK(stuck < 270);
}

TEST_CASE("random programs of many messages end exactly where no circle is found, whatever the buffers hold") {
  int stuck = 0, saved = 0;
  for (std::uint32_t seed = 0; seed < 300; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    std::vector<std::vector<WrittenOperation>> operations(kRanks);
    for (int i = 0; i < 16; ++i) {
      const int from = static_cast<int>(random() % 3), to = (from + 1 + static_cast<int>(random() % 2)) % 3;
      operations[static_cast<std::size_t>(from)].push_back(send((to - from + kRanks) % kRanks));
      operations[static_cast<std::size_t>(to)].push_back(receive((from - to + kRanks) % kRanks));
    }
    for (auto& rank_operations : operations)
      std::shuffle(rank_operations.begin(), rank_operations.end(), random);
    Experiment experiment = experiment_of(by_rank(std::move(operations)));
    bool was_stuck = true;
    for (const Bytes buffer : {Bytes{}, 1.0_MiB, 2.0_MiB, 3.0_MiB, 16.0_MiB}) {
      CAPTURE(buffer);
      experiment.cluster.library.pair_buffer = buffer;
      const bool is_stuck =
          !waiting_cycle(experiment.program, kTogether, kRanks, &experiment.cluster.library).empty();
      CHECK(is_stuck == !ends(experiment, kTogether));
      CHECK((was_stuck || !is_stuck));  // more room never hurts
      stuck += is_stuck ? 1 : 0;
      saved += was_stuck && !is_stuck ? 1 : 0;
      was_stuck = is_stuck;
    }
  }
  CHECK(stuck > 300);
  CHECK(saved > 30);
}

}  // namespace c3::workloads_waiting_cycle_test
