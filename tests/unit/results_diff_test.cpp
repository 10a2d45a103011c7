#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "results/diff/diff_output.hpp"
#include "results/diff/run_diff.hpp"
#include "results/timeline_writer.hpp"
#include "tests/support/near.hpp"
#include "tests/support/temporary_folder.hpp"

namespace c3::results_diff_test { namespace {

struct HandActivity {
  std::string name;
  ActivityKind kind;
  int gpu;
  Seconds start, end;
};

struct HandRun {
  std::vector<HandActivity> activities;  ///< by end
  Seconds time = 100.0_us;
  std::string system = "node";
  std::string strategy = "s";
};

ResultReader written(const TemporaryFolder& folder, const char* name, const HandRun& run) {
  ResultFile file(folder / name, {.experiment = "hand",
                                  .config_resolved = "",
                                  .seed = 1,
                                  .command_line = "c3sim",
                                  .conditions = {.system = run.system}});
  {
    TimelineWriter timeline(file, run.strategy);
    ActivityId id = 0;
    for (const auto& [what, kind, gpu, start, end] : run.activities)
      timeline.activity_started(++id, {.name = what, .kind = kind, .gpu = gpu}, start);
    id = 0;
    for (const auto& activity : run.activities)
      timeline.activity_finished(++id, activity.end);
    StrategyResult result;
    result.name = run.strategy;
    result.time = run.time;
    result.spread = TimeSpread{run.time, run.time};
    result.lower_bound = 50.0_us;
    result.speedup = 100.0_us / run.time;
    timeline.finish(result, {});
  }
  file.commit();
  return ResultReader(folder / name);
}

/// Two GEMMs on two ranks, a copy, a work group.
HandRun a_run() {
  return {.activities = {{"up", ActivityKind::cohort, 0, 0.0_us, 9.0_us},
                         {"up", ActivityKind::kernel, 0, 0.0_us, 10.0_us},
                         {"up", ActivityKind::kernel, 1, 0.0_us, 10.0_us},
                         {"copy", ActivityKind::transfer, 0, 0.0_us, 20.0_us},
                         {"down", ActivityKind::kernel, 0, 30.0_us, 50.0_us},
                         {"up", ActivityKind::kernel, 0, 60.0_us, 70.0_us}}};
}

RunDiff diff_of(const HandRun& a, const HandRun& b, const DiffOptions& options = {}) {
  const TemporaryFolder folder;
  return diff_runs(written(folder, "a.h5", a), written(folder, "b.h5", b), options);
}

const NumberChange& number(const RunDiff& diff, const std::string& name) {
  const auto& changes = diff.strategies.at(0).summary.changes;
  const auto found = std::ranges::find(changes, name, &NumberChange::name);
  REQUIRE(found != changes.end());
  return *found;
}

TEST_CASE("a kernel that takes 10 us longer is the one change, others are unchanged") {
  HandRun longer = a_run();
  longer.activities[4].end = 60.0_us;
  const ActivityDiff diff = diff_of(a_run(), longer).strategies.at(0).activities;
  REQUIRE(diff.changes.size() == 1);
  CHECK(diff.changes.front() == ActivityChange{.kind = "kernel",
                                               .name = "down",
                                               .gpu = 0,
                                               .count_a = 1,
                                               .count_b = 1,
                                               .total_a = 20'000'000,
                                               .total_b = 30'000'000});
  CHECK(diff.changed == 1);
  CHECK(diff.unchanged == 4);  // the work group is not counted
  CHECK(diff.matched() == 5);
}

TEST_CASE("the largest change of total duration comes first, of either sign") {
  HandRun other = a_run();
  other.activities[1].end = 11.0_us;  // up on rank 0: +1 and +1 us
  other.activities[5].end = 71.0_us;
  other.activities[2].end = 7.0_us;   // up on rank 1: -3 us
  other.activities[3].end = 21.0_us;  // the copy: +1 us
  const auto changes = diff_of(a_run(), other).strategies.at(0).activities.changes;
  std::vector<std::int64_t> us;
  for (const ActivityChange& change : changes)
    us.push_back(change.change() / 1'000'000);
  CHECK(us == std::vector<std::int64_t>{-3, 2, 1});
  CHECK(changes.at(1).count_a == 2);
}

TEST_CASE("several of one name are matched in order of end, and what starts later has only moved") {
  HandRun later = a_run();
  later.activities[5].start = 64.0_us;
  later.activities[5].end = 74.0_us;
  const ActivityDiff diff = diff_of(a_run(), later).strategies.at(0).activities;
  REQUIRE(diff.changes.size() == 1);
  CHECK(diff.changes.front().change() == 0);
  CHECK(diff.changes.front().mean_start_shift() == 2'000'000);  // of two, one is 4 us later
  CHECK(diff.moved == 1);
  CHECK(diff.changed == 0);
}

TEST_CASE("what only one run has is matched with nothing, and says so") {
  HandRun less = a_run();
  less.activities.pop_back();                          // one "up" of two on rank 0
  less.activities.erase(less.activities.begin() + 3);  // the only copy
  const ActivityDiff diff = diff_of(a_run(), less).strategies.at(0).activities;
  CHECK(diff.only_a == 2);
  CHECK(diff.only_b == 0);
  REQUIRE(diff.changes.size() == 2);
  CHECK(diff.changes.front().name == "copy");  // 20 us against 10 us
  CHECK_FALSE(diff.changes.front().mean_start_shift().has_value());
  CHECK(diff.changes.back().matched() == 1);
}

TEST_CASE("parts of activities are compared when all are asked for") {
  HandRun other = a_run();
  other.activities[0].end = 8.0_us;
  CHECK(diff_of(a_run(), other).is_equal());
  const RunDiff all = diff_of(a_run(), other, {.tolerance = 0, .all_kinds = true, .strategies = {}});
  REQUIRE(all.strategies.at(0).activities.changes.size() == 1);
  CHECK(all.strategies.at(0).activities.changes.front().kind == "cohort");
}

TEST_CASE("a run does not differ from itself, and the other way round every change has the other sign") {
  HandRun other = a_run();
  other.time = 125.0_us;
  other.activities[3].end = 24.0_us;
  other.activities[4].start = 33.0_us;
  other.activities.push_back({"new", ActivityKind::kernel, 0, 80.0_us, 90.0_us});
  CHECK(diff_of(a_run(), a_run()).is_equal());
  CHECK(diff_of(other, other).is_equal());
  const RunDiff there = diff_of(a_run(), other), back = diff_of(other, a_run());
  CHECK_FALSE(there.is_equal());
  const auto& forth = there.strategies.at(0).activities.changes;
  const auto& reverse = back.strategies.at(0).activities.changes;
  REQUIRE(forth.size() == 3);
  REQUIRE(reverse.size() == forth.size());
  for (std::size_t i = 0; i < forth.size(); ++i) {
    CHECK(reverse[i].name == forth[i].name);
    CHECK(reverse[i].change() == -forth[i].change());
    CHECK(reverse[i].start_shift == -forth[i].start_shift);
  }
  CHECK(*number(back, "time").change() == -*number(there, "time").change());
}

TEST_CASE("numbers of the summary have their change and its share, the rest is counted as equal") {
  HandRun slower = a_run();
  slower.time = 125.0_us;
  const RunDiff diff = diff_of(a_run(), slower);
  CHECK(number(diff, "time") == NumberChange{"time", "ps", 100e6, 125e6});
  CHECK(*number(diff, "time").relative() == 0.25);
  CHECK(*number(diff, "speedup").change() == near(-0.2, 1e-12));
  CHECK(diff.strategies.at(0).summary.changes.size() == 4);  // time, p5, p95, speedup
  CHECK(diff.strategies.at(0).summary.changes.back().name == "speedup");
  CHECK(diff.strategies.at(0).summary.equal == 2);  // lower bound, recorded seed
}

TEST_CASE("numbers, dates and durations within the tolerance are equal") {
  HandRun near_it = a_run();
  near_it.time = 100.5_us;
  near_it.activities[4].end = 50.1_us;
  CHECK_FALSE(diff_of(a_run(), near_it).is_equal());
  CHECK(diff_of(a_run(), near_it, {.tolerance = 0.01, .all_kinds = false, .strategies = {}}).is_equal());
}

TEST_CASE("another system is a fact that makes runs differ, another version of the software is not") {
  HandRun elsewhere = a_run();
  elsewhere.system = "other";
  RunDiff diff = diff_of(a_run(), elsewhere);
  CHECK(diff.facts == std::vector<TextChange>{{"system", "node", "other"}});
  CHECK_FALSE(diff.is_equal());
  diff.facts = {{"git_commit", "a", "b"}};
  CHECK(diff.is_equal());
}

TEST_CASE("strategies of one file only are named, and two of different names can be compared") {
  HandRun renamed = a_run();
  renamed.strategy = "t";
  const RunDiff diff = diff_of(a_run(), renamed);
  CHECK(diff.strategies.empty());
  CHECK(diff.only_a == std::vector<std::string>{"s"});
  CHECK(diff.only_b == std::vector<std::string>{"t"});
  CHECK_FALSE(diff.is_equal());
  CHECK(diff_of(a_run(), renamed, {.tolerance = 0, .all_kinds = false, .strategies = {{"s", "t"}}}).is_equal());
}

TEST_CASE("at most so many activities are shown as asked for, and how many are left is said") {
  HandRun other = a_run();
  for (const std::size_t i : {2U, 3U, 4U})
    other.activities[i].end = other.activities[i].end + 1.0_us * static_cast<double>(i);
  const RunDiff diff = diff_of(a_run(), other);
  CHECK(ranked_activities(diff, 0).size() == 3);
  REQUIRE(ranked_activities(diff, 2).size() == 2);
  CHECK(ranked_activities(diff, 2).front().change.name == "down");
  CHECK(diff_text(diff, 2).find("1 more names with changes: -n 3") != std::string::npos);
}

/// More rows than a block, in two orders: matched are blocks that are read at different times.
TEST_CASE("a long timeline is matched over its blocks") {
  HandRun first, second;
  constexpr std::size_t kEach = kChunkRows;
  for (const char* const name : {"x", "y"}) {
    for (std::size_t i = 0; i < kEach; ++i) {
      const Seconds start = 1.0_us * static_cast<double>(i);
      first.activities.push_back({name, ActivityKind::kernel, 0, start, start + 1.0_us});
    }
  }
  second = first;
  std::ranges::rotate(second.activities, second.activities.begin() + kEach);
  second.activities.front().end = 3.0_us;  // the first y
  const ActivityDiff diff = diff_of(first, second).strategies.at(0).activities;
  CHECK(diff.unchanged == 2 * kEach - 1);
  REQUIRE(diff.changes.size() == 1);
  CHECK(diff.changes.front().name == "y");
  CHECK(diff.changes.front().change() == 2'000'000);
}

}}  // namespace c3::results_diff_test
