// A recorded run in the simulator against the earliest dates that its causes allow, computed by hand in one
// pass.

#include <algorithm>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "tests/support/mi300x_like.hpp"
#include "tests/support/near.hpp"
#include "tests/support/recording.hpp"
#include "tests/support/trace_text.hpp"
#include "workloads/execute/run.hpp"
#include "workloads/execute/waiting_cycle.hpp"
#include "workloads/traces/replay/record_run.hpp"
#include "workloads/traces/replay/replay_program.hpp"

namespace c3::replay_program_test {

using namespace test;

namespace {

constexpr int kRanks = 2, kStreams = 2, kThreads = 2;

/// A run that is made one event after another, each with causes among those before it, and its dates.
class RandomRun {
 public:
  explicit RandomRun(std::uint32_t seed) : random_(seed) {
    run_.names = {"", "kernel", "thread", "sum", "all_reduce", "step"};
    run_.streams = {"stream7", "stream20"};
    ranks_.resize(kRanks);
    for (int i = 0; i < 60; ++i) {
      const int rank = below(kRanks);
      switch (below(4)) {
        case 0:
        case 1:
          add_point(rank);
          break;
        case 2:
          add_work(rank);
          break;
        default:
          if (below(4) == 0) add_collective();
      }
    }
    finish();
  }

  const RecordedRun& run() const { return run_; }
  /// Starts of work, by rank, stream and place on it. [ps]
  const std::vector<std::int64_t>& starts(int rank, int stream) const { return starts_.at({rank, stream}); }
  std::size_t work() const { return run_.events(); }

 private:
  struct Point {
    int thread;
    Picoseconds cost, date;
    std::vector<PointWait> waits;  ///< of numbers in the order of making
  };
  struct Work {
    RecordedWork what;  ///< launched by a number in the order of making
    Picoseconds start, end;
  };
  struct RankState {
    std::vector<Point> points;
    std::vector<Work> work;
    std::vector<RecordedEdge> edges;
  };

  int below(int count) { return static_cast<int>(random_() % static_cast<unsigned>(count)); }
  Picoseconds some() { return {1000 * (1 + below(40'000))}; }

  void add_point(int rank) {
    RankState& state = ranks_[index(rank)];
    Point point{below(kThreads), some(), {}, {}};
    for (const Point& before : state.points) {
      if (before.thread == point.thread) point.date = std::max(point.date, before.date);
    }
    point.date += point.cost;
    const bool for_work = below(2) == 0;
    const std::size_t sources = for_work ? state.work.size() : state.points.size();
    if (sources > 0 && below(2) == 0) {
      const auto source = static_cast<std::uint32_t>(below(static_cast<int>(sources)));
      if (for_work || state.points[source].thread != point.thread) {
        point.waits.push_back({0, for_work, source, some()});
        const Picoseconds from = for_work ? state.work[source].end : state.points[source].date;
        point.date = std::max(point.date, from + point.waits.back().lag);
      }
    }
    state.points.push_back(point);
  }

  /// \returns whether there is a point that may launch it
  bool add_work(int rank) {
    RankState& state = ranks_[index(rank)];
    if (state.points.empty()) return false;
    Work work;
    work.what.name = 1;
    work.what.stream = static_cast<std::uint32_t>(below(kStreams));
    work.what.launch = static_cast<std::uint32_t>(below(static_cast<int>(state.points.size())));
    work.what.duration = some();
    work.what.after_launch = some();
    work.start = state.points[work.what.launch].date + work.what.after_launch;
    const auto number = static_cast<std::uint32_t>(state.work.size());
    for (const Work& before : state.work) {
      if (before.what.stream != work.what.stream) continue;
      if (work.what.after_stream == Picoseconds{}) work.what.after_stream = some();
      work.start = std::max(work.start, before.end + work.what.after_stream);
    }
    if (number > 0 && below(2) == 0) {
      const auto source = static_cast<std::uint32_t>(below(static_cast<int>(number)));
      if (state.work[source].what.stream != work.what.stream) {
        state.edges.push_back({source, number, some()});
        work.start = std::max(work.start, state.work[source].end + state.edges.back().lag);
      }
    }
    work.end = work.start + work.what.duration;
    state.work.push_back(work);
    return true;
  }

  void add_collective() {
    if (std::ranges::any_of(ranks_, [](const RankState& state) { return state.points.empty(); })) return;
    RecordedCollective collective{
        .name = 3, .kind = 4, .dtype = 0, .bytes = 1024, .group_size = kRanks, .members = {}};
    Picoseconds latest;
    for (int rank = 0; rank < kRanks; ++rank) {
      add_work(rank);
      collective.members.push_back(rank);
      latest = std::max(latest, ranks_[index(rank)].work.back().start);
    }
    for (RankState& state : ranks_) {
      state.work.back().what.collective = static_cast<std::uint32_t>(run_.collectives.size());
      state.work.back().end = latest + state.work.back().what.duration;
    }
    run_.collectives.push_back(collective);
  }

  /// Brings points of a thread together.
  void finish() {
    for (int rank = 0; rank < kRanks; ++rank) {
      const RankState& state = ranks_[index(rank)];
      RecordedRank& made = run_.ranks.emplace_back();
      made.number = rank;
      made.threads.assign(kThreads, 2);
      std::vector<std::uint32_t> row(state.points.size());
      for (int thread = 0; thread < kThreads; ++thread) {
        for (std::size_t i = 0; i < state.points.size(); ++i) {
          if (state.points[i].thread != thread) continue;
          row[i] = static_cast<std::uint32_t>(made.points.size());
          made.points.push_back(
              {static_cast<std::uint32_t>(thread), state.points[i].date, state.points[i].cost});
        }
      }
      for (std::size_t i = 0; i < state.points.size(); ++i) {
        for (const PointWait& wait : state.points[i].waits)
          made.waits.push_back(
              {row[i], wait.for_work, wait.for_work ? wait.source : row[wait.source], wait.lag});
      }
      for (int stream = 0; stream < kStreams; ++stream)
        starts_[{rank, stream}];
      for (const Work& work : state.work) {
        made.work.push_back(work.what);
        made.work.back().launch = row[work.what.launch];
        starts_[{rank, static_cast<int>(work.what.stream)}].push_back(work.start.count);
      }
      made.edges = state.edges;
    }
  }

  static std::size_t index(int rank) { return static_cast<std::size_t>(rank); }

  std::mt19937 random_;
  RecordedRun run_;
  std::vector<RankState> ranks_;
  std::map<std::pair<int, int>, std::vector<std::int64_t>> starts_;
};

}  // namespace

TEST_CASE("property: the simulator gives recorded work the earliest start that all its causes allow") {
  std::size_t compared = 0;
  for (std::uint32_t seed = 0; seed < 300; ++seed) {
    CAPTURE(seed);
    const RandomRun random(seed);
    Experiment experiment;
    experiment.cluster = mi300x_like_cluster();
    experiment.program = replay_program(random.run(), experiment.cluster.ranks());
    experiment.strategies.push_back({.name = "recorded", .order = {}, .streams = {}});
    CHECK(waiting_cycle(experiment.program, experiment.strategies[0], experiment.cluster.ranks()).empty());
    Recording recording;
    RunSetup setup;
    setup.observer = &recording;
    run_once(experiment, experiment.strategies[0], setup);
    std::map<std::pair<int, int>, std::vector<double>> starts;
    for (const auto& activity : recording.activities) {
      if (activity.kind == ActivityKind::kernel || activity.kind == ActivityKind::collective)
        starts[{activity.gpu, activity.stream}].push_back(activity.start.value);
    }
    for (int rank = 0; rank < kRanks; ++rank) {
      for (int stream = 0; stream < kStreams; ++stream) {
        const std::vector<std::int64_t>& expected = random.starts(rank, stream);
        const std::vector<double>& found = starts[{rank, stream}];
        REQUIRE(found.size() == expected.size());
        for (std::size_t i = 0; i < found.size(); ++i) {
          CHECK(found[i] == near(static_cast<double>(expected[i]) * 1e-12, 1e-9));
          ++compared;
        }
      }
    }
  }
  CHECK(compared > 3000);
}

TEST_CASE(
    "streams of a replay are in the order of their first launch, and of calls in the file where that is one") {
  const auto streams_of = [](double first, double second) {
    TraceText text;
    text.launch("b", second, 10, 50, 1, 20).launch("a", first, 15, 50, 2, 7);
    std::vector<Rank> ranks;
    ranks.emplace_back(text.read());
    return record_run(ranks).streams;
  };
  CHECK(streams_of(0, 6) == std::vector<std::string>{"stream7", "stream20"});
  CHECK(streams_of(0, 0) == std::vector<std::string>{"stream20", "stream7"});
}

}  // namespace c3::replay_program_test
