// Figures of a rank's GPU work in time, by hand, and a recording beside its replays.

#include <doctest/doctest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "tests/support/near.hpp"
#include "workloads/traces/replay/rank_figures.hpp"

namespace c3::workloads_rank_figures_test {

namespace {

PlacedWork placed(std::string name, std::string stream, WorkClass work, Picoseconds start, Picoseconds end) {
  PlacedWork work_placed;
  work_placed.name = std::move(name);
  work_placed.stream = std::move(stream);
  work_placed.work = work;
  work_placed.start = start;
  work_placed.end = end;
  return work_placed;
}

/// Products from 10 to 40 and 50 to 60 us, a copy from 30 to 45 on a second stream, and an all-reduce of 64
/// B from 35 to 80, which waits until 55. Two steps in 100 us.
RankTimeline timeline() {
  RankTimeline rank_timeline{.rank = 3, .steps = 2.0, .length = 100_us, .work = {}};
  rank_timeline.work.push_back(placed("mm", "stream7", WorkClass::gemm, 10_us, 40_us));
  rank_timeline.work.push_back(placed("mm", "stream7", WorkClass::gemm, 50_us, 60_us));
  rank_timeline.work.push_back(placed("copy", "stream8", WorkClass::copy, 30_us, 45_us));
  rank_timeline.work.push_back(placed("all_reduce", "stream20", WorkClass::collective, 35_us, 80_us));
  rank_timeline.work.back().bytes = 64;
  rank_timeline.work.back().waiting = 20_us;
  return rank_timeline;
}

std::optional<double> value(const std::vector<Figure>& figures, const std::string& name) {
  const auto found = std::ranges::find(figures, name, &Figure::name);
  return found == figures.end() ? std::nullopt : std::optional(found->value);
}

const SimilarityRow& row(const RankSimilarity& similarity, const std::string& name) {
  const auto found = std::ranges::find(similarity.rows, name, &SimilarityRow::figure);
  REQUIRE(found != similarity.rows.end());
  return *found;
}

}  // namespace

TEST_CASE("figures are of one step: time covered, exposed, waited and idle, sums by class, stream and name") {
  const std::vector<Figure> figures = figures_of(timeline());
  const auto is = [&](const char* name, double expected) {
    const std::optional<double> found = value(figures, name);
    REQUIRE_MESSAGE(found.has_value(), name);
    CHECK_MESSAGE(*found == near(expected, 1e-12), name);
  };
  is("step", 50);
  is("GPU busy", 35);               // 10 to 80
  is("idle", 15);                   // of 50
  is("compute", 20);                // 10 to 40 and 50 to 60
  is("communication", 22.5);        // 35 to 80
  is("exposed communication", 15);  // 40 to 50 and 60 to 80: the copy hides nothing
  is("waiting for late ranks", 10);
  is("transfer", 12.5);
  is("gemm", 20);
  is("copy", 7.5);
  is("collective", 22.5);
  is("gemm count", 1);
  is("work count", 2);
  is("collective bytes", 32);
  is("stream stream7", 20);
  is("operator mm", 20);
  CHECK_FALSE(value(figures, "vector"));
}

TEST_CASE("where one collective's waiting is not known, no waiting is stated") {
  RankTimeline rank_timeline = timeline();
  rank_timeline.work.push_back(placed("all_gather", "stream20", WorkClass::collective, 80_us, 90_us));
  CHECK_FALSE(value(figures_of(rank_timeline), "waiting for late ranks"));
  CHECK_FALSE(value(figures_of(rank_timeline), "transfer"));
}

TEST_CASE("streams are called after their use, those of collectives in the order in which they begin") {
  RankTimeline rank_timeline = timeline();
  rank_timeline.work.push_back(placed("all_gather", "stream9", WorkClass::collective, 5_us, 8_us));
  name_streams_by_use(rank_timeline);
  const std::vector<std::string> expected{"compute", "compute", "compute", "comm1", "comm0"};
  for (std::size_t i = 0; i < expected.size(); ++i)
    CHECK(rank_timeline.work[i].stream == expected[i]);
  RankTimeline one = timeline();
  name_streams_by_use(one);
  CHECK(one.work[3].stream == "comm");
}

TEST_CASE("a recording stands beside its replays, with the ratio of the model to it") {
  RankTimeline modelled = timeline();
  modelled.steps = 1.0;
  modelled.length = 40_us;
  modelled.work = {placed("mm", "stream7", WorkClass::gemm, 0_us, 30_us),
                   placed("new", "stream7", WorkClass::vector, 30_us, 31_us)};
  const RankSimilarity similarity = compare(timeline(), timeline(), modelled, std::nullopt);
  CHECK(similarity.rank == 3);
  CHECK(row(similarity, "gemm").recorded == 20.0);
  CHECK(row(similarity, "gemm").replayed == 20.0);
  CHECK(row(similarity, "gemm").modelled == 30.0);
  CHECK(row(similarity, "gemm").ratio() == 1.5);
  CHECK_FALSE(row(similarity, "vector").recorded);
  CHECK_FALSE(row(similarity, "vector").ratio());
  CHECK_FALSE(row(similarity, "copy").modelled);
}

TEST_CASE("the collectives of a rank recorded alone waited within bounds") {
  RankTimeline modelled = timeline();
  modelled.work.back().end = 65_us;  // 30 of 45 us
  const auto bounds = [&](Picoseconds least) {
    const RankSimilarity similarity = compare(timeline(), timeline(), modelled, least);
    return std::pair(*row(similarity, "waiting for late ranks, at least").recorded,
                     *row(similarity, "waiting for late ranks, at most").recorded);
  };
  CHECK(bounds(4_us) == std::pair(2.0, 7.5));
  CHECK(bounds(40_us) == std::pair(20.0, 20.0));  // the model is too slow: what is known remains
}

TEST_CASE("of many operators the 20 longest are compared") {
  RankTimeline rank_timeline{.rank = 0, .steps = 1.0, .length = 1000_us, .work = {}};
  for (int i = 1; i <= 30; ++i)
    rank_timeline.work.push_back(
        placed("op" + std::to_string(i), "s", WorkClass::vector, {}, Picoseconds{i * 1'000'000}));
  const RankSimilarity similarity = compare(rank_timeline, rank_timeline, rank_timeline, std::nullopt);
  const auto is_operator = [](const SimilarityRow& row) { return row.figure.starts_with("operator "); };
  CHECK(std::ranges::count_if(similarity.rows, is_operator) == 20);
  CHECK(similarity.rows.back().figure == "operator op11");
}

TEST_CASE("a matched collective ends behind the start of its last member, and waits until then") {
  RecordedRun run;
  run.names = {"", "all_reduce"};
  run.streams = {"stream7"};
  run.collectives.push_back(
      {.name = 1, .kind = 1, .dtype = 0, .bytes = 64, .group_size = 2, .members = {0, 1}});
  for (int number = 0; number < 2; ++number) {
    RecordedRank& rank = run.ranks.emplace_back();
    rank.number = number;
    RecordedWork& work = rank.work.emplace_back();
    work.name = 1;
    work.work_class = WorkClass::collective;
    work.start = number == 0 ? 10_us : 40_us;
    work.duration = 25_us;
    work.collective = 0;
  }
  const RunDates dates = recorded_dates(run);
  CHECK(dates[0][0].end == 65_us);
  CHECK(timeline_of(run, 0, dates, 100_us, true).work[0].waiting == 30_us);
  CHECK(timeline_of(run, 1, dates, 100_us, true).work[0].waiting == 0_us);
  CHECK_FALSE(timeline_of(run, 0, dates, 100_us, false).work[0].waiting);
}

}  // namespace c3::workloads_rank_figures_test
