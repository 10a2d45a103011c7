// What a trace recorded, beside what repeats it: in the file, in the comparison, on the page's lanes. Dates by
// hand.

#include "results/recorded_tables.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "files/io_error.hpp"
#include "results/diff/diff_output.hpp"
#include "results/diff/recorded_diff.hpp"
#include "results/timeline_writer.hpp"
#include "tests/support/temporary_folder.hpp"
#include "workloads/traces/replay/recorded_spans.hpp"

namespace c3::results_recorded_test { namespace {

constexpr std::int64_t kUs = 1'000'000;  // ps
constexpr Picoseconds us(std::int64_t count) { return {count * kUs}; }

enum Text : TextRow { nothing, gemm, sum, all_reduce };

/// Ranks 0 and 1: a GEMM at 10 us of 20, and a sum that comes at 40 and 70 us, and ends 15 us behind the last.
RecordedRun run_of_two() {
  RecordedRun run;
  run.names = {"", "gemm", "sum", "all_reduce"};
  run.streams = {"stream7", "stream20"};
  run.collectives = {{.name = sum, .kind = all_reduce, .members = {0, 1}}};
  for (int number = 0; number < 2; ++number) {
    RecordedRank& rank = run.ranks.emplace_back();
    rank.number = number;
    rank.work = {{.name = gemm, .start = us(10), .duration = us(20)},
                 {.name = sum,
                  .stream = 1,
                  .work_class = WorkClass::collective,
                  .start = us(40 + 30 * number),
                  .duration = us(15),
                  .collective = 0}};
  }
  return run;
}

struct Simulated {
  std::string name;
  ActivityKind kind;
  int gpu, stream;
  double start, end;  ///< us
  ActivityId parent = 0;
};

/// The recorded activities, in the order of start.
std::vector<Simulated> as_recorded() {
  return {{"gemm", ActivityKind::kernel, 0, 0, 10, 30},
          {"gemm", ActivityKind::kernel, 1, 0, 10, 30},
          {"sum", ActivityKind::collective, 0, 1, 40, 85},
          {"sum", ActivityKind::collective, 1, 1, 70, 85}};
}

/// A file of strategy "s". \param placed nullptr: it repeats nothing
ResultReader written(const TemporaryFolder& folder, const std::vector<Simulated>& activities,
                     const PlacedRun* placed) {
  RunHeader header{.experiment = "hand", .config_resolved = "", .seed = 1, .command_line = "c3sim"};
  header.streams = {"stream7", "stream20"};
  ResultFile file(folder / "a.h5", header);
  {
    TimelineWriter timeline(file, "s");
    ActivityId id = 0;
    for (const Simulated& activity : activities)
      timeline.activity_started(++id,
                                {.name = activity.name,
                                 .kind = activity.kind,
                                 .gpu = activity.gpu,
                                 .stream = activity.stream,
                                 .parent = activity.parent},
                                Seconds{activity.start * 1e-6});
    id = 0;
    for (const Simulated& activity : activities)
      timeline.activity_finished(++id, Seconds{activity.end * 1e-6});
    if (placed != nullptr) timeline.add_recording(*placed);
    StrategyResult result;
    result.name = "s";
    timeline.finish(result, {});
  }
  file.commit();
  return ResultReader(folder / "a.h5");
}

RecordedDiff diff_of(const std::vector<Simulated>& activities, double tolerance = 0.0) {
  const TemporaryFolder folder;
  const PlacedRun placed{run_of_two(), recorded_roles(run_of_two(), 4)};
  const ResultReader file = written(folder, activities, &placed);
  return diff_recorded({file, "s"}, tolerance);
}

TEST_CASE("a matched collective ends behind its last member, and waited until that came") {
  const auto spans = recorded_spans(run_of_two());
  REQUIRE(spans.size() == 2);
  CHECK(spans[0][0] == RecordedSpan{.name = gemm, .start = us(10), .last_start = us(10), .end = us(30)});
  CHECK(spans[0][1] == RecordedSpan{.name = sum,
                                    .communicates = true,
                                    .stream = 1,
                                    .start = us(40),
                                    .last_start = us(70),
                                    .end = us(85)});
  CHECK(spans[1][1].start == us(70));
}

TEST_CASE("a result file has what was recorded, and which rank repeats which") {
  const TemporaryFolder folder;
  const PlacedRun placed{run_of_two(), {1, 0, 1, kNoIndex}};
  const ResultReader file = written(folder, as_recorded(), &placed);
  const auto recorded = read_recorded(file, "s");
  REQUIRE(recorded);
  CHECK(recorded->rank_of == std::vector<std::int64_t>{1, 0, 1, -1});
  CHECK(recorded->of(2, 1) ==
        std::vector<RecordedActivity>{{"sum", "collective", 70 * kUs, 70 * kUs, 85 * kUs}});
  CHECK(recorded->of(1, 1) ==
        std::vector<RecordedActivity>{{"sum", "collective", 40 * kUs, 70 * kUs, 85 * kUs}});
  CHECK(recorded->of(3, 0).empty());
  CHECK(recorded->of(4, 0).empty());
  CHECK(recorded->end() == 85 * kUs);
}

TEST_CASE("a strategy that repeats nothing has no recording, and cannot be compared with one") {
  const TemporaryFolder folder;
  const ResultReader file = written(folder, as_recorded(), nullptr);
  CHECK_FALSE(read_recorded(file, "s"));
  CHECK_THROWS_AS(diff_recorded({file, "s"}, 0.0), IoError);
}

TEST_CASE("a replay that is as recorded is equal") {
  const RecordedDiff diff = diff_of(as_recorded());
  CHECK(diff.is_equal());
  CHECK((diff.matches.size() == 4 && diff.equal == 4));
  CHECK((diff.recorded_end == 85 * kUs && diff.simulated_end == 85 * kUs));
  CHECK(recorded_diff_text(diff, {"stream7", "stream20"}, 20).find("all starts are equal") !=
        std::string::npos);
}

TEST_CASE("the start that is off most comes first, early or late, and so does the name that takes longer") {
  auto activities = as_recorded();
  activities[1].start = 12;  // 2 us late, and as much shorter
  activities[2].start = 33;  // 7 us early, and as much longer
  activities[3].start = 71;
  activities[3].end = 88;  // 1 us late, 2 us longer
  const RecordedDiff diff = diff_of(activities);
  CHECK_FALSE(diff.is_equal());
  CHECK(diff.equal == 1);
  REQUIRE(diff.matches.size() == 4);
  CHECK((diff.matches[0].name == "sum" && diff.matches[0].gpu == 0));
  CHECK(diff.matches[0].start_shift() == -7 * kUs);
  CHECK(diff.matches[0].duration_change() == 7 * kUs);
  CHECK(diff.matches[1].start_shift() == 2 * kUs);
  CHECK(diff.shift_at(1.0) == 7 * kUs);
  CHECK(diff.shift_at(0.5) == 2 * kUs);
  CHECK(diff.shift_at(0.0) == 0);
  REQUIRE(diff.totals.size() == 2);
  CHECK((diff.totals[0].name == "sum" && diff.totals[0].change() == 9 * kUs));
  CHECK(diff.totals[0].start_shift == -6 * kUs);
  CHECK((diff.totals[1].name == "gemm" && diff.totals[1].change() == -2 * kUs));
  const std::string text = recorded_diff_text(diff, {"stream7", "stream20"}, 1);
  CHECK(text.find("2 more starts: -n 3") != std::string::npos);
  CHECK(text.find("1 more names: -n 2") != std::string::npos);
}

TEST_CASE("work that only one side has is counted, and others of its name are matched in their order") {
  auto activities = as_recorded();
  activities.pop_back();
  activities.push_back({"gemm", ActivityKind::kernel, 1, 0, 50, 60});
  const RecordedDiff diff = diff_of(activities);
  CHECK((diff.only_recorded == 1 && diff.only_simulated == 1));
  CHECK(diff.matches.size() == 3);
  CHECK(diff.shift_at(1.0) == 0);
}

TEST_CASE("a collective that waits for the other rank is told apart from a slow one") {
  auto activities = as_recorded();
  activities.push_back({"sum", ActivityKind::channel, 0, 1, 72, 85, 3});  // two parts, of which one comes later
  activities.push_back({"sum", ActivityKind::channel, 0, 1, 70, 85, 3});
  activities.push_back({"sum", ActivityKind::channel, 1, 1, 75, 85, 4});
  const RecordedDiff diff = diff_of(activities);
  REQUIRE(diff.totals.size() == 2);
  const RecordedTotal& sums = diff.totals[diff.totals[0].name == "sum" ? 0 : 1];
  CHECK(sums.recorded == (45 + 15) * kUs);
  CHECK(sums.recorded_waiting == 30 * kUs);
  CHECK(sums.waiting == (30 + 5) * kUs);
  const auto first = std::ranges::find(diff.matches, sums.name, &RecordedMatch::name);  // of GPU 0
  CHECK((first->gpu == 0 && first->recorded_waiting == 30 * kUs && first->waiting == 30 * kUs));
}

TEST_CASE("dates within the tolerance are equal") {
  auto activities = as_recorded();
  activities[3].end = 85.001;
  CHECK_FALSE(diff_of(activities).is_equal());
  CHECK(diff_of(activities, 1e-4).is_equal());
}

}}  // namespace c3::results_recorded_test
