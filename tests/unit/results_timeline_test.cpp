#include <doctest/doctest.h>

#include "results/picoseconds.hpp"
#include "results/result_reader.hpp"
#include "results/timeline_writer.hpp"
#include "tests/support/temporary_folder.hpp"

namespace c3::results_timeline_test { namespace {

const RunHeader kHeader{
    .experiment = "hand", .config_resolved = "seeds = 1\n", .seed = 7, .command_line = "c3sim run hand.toml"};

/// Writes one strategy "s" with what \p simulate tells the observer, and reads the file back.
template <class Simulate>
ResultReader written(const TemporaryFolder& folder, const Simulate& simulate, const StrategyResult& result = {},
                     const std::vector<CollectiveRecord>& collectives = {}) {
  const auto path = folder / "hand.h5";
  ResultFile file(path, kHeader);
  {
    TimelineWriter timeline(file, "s");
    simulate(timeline);
    timeline.finish(result, collectives);
  }
  file.commit();
  return ResultReader(path);
}

using Integers = std::vector<std::int64_t>;
using Reals = std::vector<double>;
using Texts = std::vector<std::string>;

TEST_CASE("a date is rounded to whole picoseconds once, to the nearest") {
  CHECK(picoseconds(Seconds{0}) == 0);
  CHECK(picoseconds(1.4e-12_s) == 1);
  CHECK(picoseconds(1.6e-12_s) == 2);
  CHECK(picoseconds(2.5_ms) == 2'500'000'000);
}

TEST_CASE("an activity becomes a row when it ends, under the number it started with") {
  // Starts 1, 2; ends 2, 1: the table is in order of end.
  const TemporaryFolder folder;
  const auto file = written(folder, [](Observer& observer) {
    observer.activity_started(
        1, {.name = "gemm", .kind = ActivityKind::kernel, .gpu = 3, .stream = 0, .bytes = {}, .flops = {8e9}},
        1.0_us);
    observer.activity_started(2,
                              {.name = "edge",
                               .kind = ActivityKind::transfer,
                               .gpu = 4,
                               .stream = 1,
                               .parent = 1,
                               .bytes = {4096},
                               .flops = {}},
                              2.0_us);
    observer.activity_finished(2, 3.0_us);
    observer.activity_finished(1, 5.0_us);
  });
  const auto table = file.table("s", "activities");
  CHECK(table.values<std::int64_t>("id") == Integers{2, 1});
  CHECK(table.values<std::string>("name") == Texts{"edge", "gemm"});
  CHECK(table.values<std::string>("kind") == Texts{"transfer", "kernel"});
  CHECK(table.values<std::int64_t>("gpu") == Integers{4, 3});
  CHECK(table.values<std::int64_t>("stream") == Integers{1, 0});
  CHECK(table.values<std::int64_t>("parent") == Integers{1, 0});
  CHECK(table.values<std::int64_t>("start") == Integers{2'000'000, 1'000'000});
  CHECK(table.values<std::int64_t>("end") == Integers{3'000'000, 5'000'000});
  CHECK(table.values<double>("bytes") == Reals{4096, 0});
  CHECK(table.values<double>("flops") == Reals{0, 8e9});
}

TEST_CASE("every kind of activity and dependency keeps its name in the file") {
  const TemporaryFolder folder;
  const auto file = written(folder, [](Observer& observer) {
    for (ActivityId id = 1; id <= 8; ++id) {
      observer.activity_started(
          id, {.name = "a", .kind = static_cast<ActivityKind>(id - 1), .bytes = {}, .flops = {}}, {});
      observer.activity_finished(id, {});
    }
    for (int kind = 0; kind < 5; ++kind)
      observer.depends(2, 1, static_cast<DependencyKind>(kind));
  });
  CHECK(file.table("s", "activities").values<std::string>("kind") ==
        Texts{"kernel", "cohort", "collective", "channel", "transfer", "command", "wait", "range"});
  const auto dependencies = file.table("s", "dependencies");
  CHECK(dependencies.values<std::string>("kind") == Texts{"stream_order", "event", "slot", "data", "launch"});
  CHECK(dependencies.values<std::int64_t>("successor") == Integers{2, 2, 2, 2, 2});
  CHECK(dependencies.values<std::int64_t>("predecessor") == Integers{1, 1, 1, 1, 1});
}

TEST_CASE("a step of use or of capacity is a row that holds both") {
  const TemporaryFolder folder;
  const auto file = written(folder, [](Observer& observer) {
    observer.resource_added(0, {.name = "gpu0.hbm", .unit = "B/s", .gpu = 0}, 5e12);
    observer.resource_added(1, {.name = "gpu0.cus", .unit = "CU", .gpu = 0}, 304);
    observer.utilisation(0, 1.0_us, 2e12);
    observer.capacity_changed(0, 2.0_us, 4e12);
    observer.utilisation(1, 2.0_us, 304);
  });
  const auto list = file.table("s", "resources/list");
  CHECK(list.values<std::string>("name") == Texts{"gpu0.hbm", "gpu0.cus"});
  CHECK(list.values<std::string>("unit") == Texts{"B/s", "CU"});
  CHECK(list.values<double>("capacity") == Reals{5e12, 304});
  const auto steps = file.table("s", "resources/steps");
  CHECK(steps.values<std::string>("resource") == Texts{"gpu0.hbm", "gpu0.hbm", "gpu0.cus"});
  CHECK(steps.values<std::int64_t>("time") == Integers{1'000'000, 2'000'000, 2'000'000});
  CHECK(steps.values<double>("used") == Reals{2e12, 2e12, 304});
  CHECK(steps.values<double>("capacity") == Reals{5e12, 4e12, 304});
}

TEST_CASE("of a date only a resource's last step is a row, and none where only rounding changes") {
  const TemporaryFolder folder;
  const auto file = written(folder, [](Observer& observer) {
    observer.resource_added(0, {.name = "a", .unit = "B/s", .gpu = 0}, 100);
    observer.resource_added(1, {.name = "b", .unit = "B/s", .gpu = 0}, 100);
    observer.utilisation(0, 1.0_us, 10);
    observer.utilisation(1, 1.0_us, 50);
    observer.utilisation(0, 1.0_us, 20);
    observer.utilisation(0, 2.0_us, 20 + 0.6e-7);  // below 1e-9 of the capacity
    observer.utilisation(0, 3.0_us, 20 + 1.2e-7);  // above it, from the last row on: roundings do not add up
    observer.utilisation(1, 4.0_us, 60);
    observer.utilisation(1, 4.0_us, 50);  // as it was
    observer.utilisation(1, 5.0_us, 1e-8);
    observer.utilisation(1, 6.0_us, 0);  // free is free
  });
  const auto steps = file.table("s", "resources/steps");
  CHECK(steps.values<std::string>("resource") == Texts{"a", "b", "a", "b", "b"});
  CHECK(steps.values<std::int64_t>("time") == Integers{1'000'000, 1'000'000, 3'000'000, 5'000'000, 6'000'000});
  CHECK(steps.values<double>("used") == Reals{20, 50, 20 + 1.2e-7, 1e-8, 0});
}

TEST_CASE("a resource's total and utilisation follow its use and its capacity") {
  // 2 TB/s of 5 for 1 us, 2 of 4 for 1 us, nothing for 2 us: 4 MB; (0.4 + 0.5) us of 4 us.
  const TemporaryFolder folder;
  const auto file = written(folder, [](Observer& observer) {
    observer.resource_added(0, {.name = "nic0.out", .unit = "B/s", .gpu = 0}, 5e12);
    observer.resource_added(1, {.name = "leaf0-spine1", .unit = "B/s", .gpu = -1}, 1e12);
    observer.activity_started(1, {.name = "a", .kind = ActivityKind::transfer, .bytes = {}, .flops = {}}, {});
    observer.utilisation(0, 1.0_us, 2e12);
    observer.capacity_changed(0, 2.0_us, 4e12);
    observer.utilisation(0, 3.0_us, 0);
    observer.activity_finished(1, 4.0_us);
  });
  const auto list = file.table("s", "resources/list");
  CHECK(list.values<double>("total").at(0) == doctest::Approx(4e6));
  CHECK(list.values<double>("total").at(1) == 0);
  CHECK(list.values<double>("utilisation").at(0) == doctest::Approx(0.9 / 4));
  CHECK(list.values<double>("utilisation").at(1) == 0);
}

TEST_CASE("a table longer than its chunks keeps every row in order") {
  constexpr std::uint64_t kRows = 2 * kChunkRows + 1;  // two flushes while it runs, and a remainder of one row
  const TemporaryFolder folder;
  const auto file = written(folder, [](Observer& observer) {
    for (std::uint64_t i = 0; i < kRows; ++i)
      observer.depends(i + 1, i, DependencyKind::data);
  });
  CHECK(file.rows("s", "dependencies") == kRows);
  const auto table = file.table("s", "dependencies");
  const auto& successor = table.values<std::int64_t>("successor");
  REQUIRE(successor.size() == kRows);
  std::size_t in_place = 0;
  for (std::size_t i = 0; i < kRows; ++i)
    in_place += successor[i] == static_cast<std::int64_t>(i) + 1 ? 1 : 0;
  CHECK(in_place == kRows);
}

TEST_CASE("a number that was not computed has no column in the summary") {
  StrategyResult serial;
  serial.time = 2.0_ms;
  serial.kernel = SideTimes{.alone = 0.25_ms, .together = 0.75_ms};
  const TemporaryFolder folder;
  const auto summary = written(
                           folder, [](Observer&) {}, serial)
                           .table("s", "summary");
  CHECK(summary.values<std::int64_t>("time") == Integers{2'000'000'000});
  CHECK(summary.values<std::int64_t>("kernel_together") == Integers{750'000'000});
  for (const auto& column : summary.columns) {
    const auto& name = column.spec.name;
    CAPTURE(name);
    CHECK((name != "share_of_ideal" && name != "best_cus" && !name.starts_with("collective") &&
           !name.starts_with("loss") && !name.starts_with("time_p")));
  }
}

TEST_CASE("a loss split, a partition and a share are in the summary when there are any") {
  StrategyResult result;
  result.share_of_ideal = 0.5;
  result.best_cus = 32;
  result.loss = LossSplit{.dispatch = 1.0_us,
                          .cus = 2.0_us,
                          .cache = 3.0_us,
                          .hbm = 4.0_us,
                          .links = 5.0_us,
                          .interaction = Seconds{-6e-6}};
  const TemporaryFolder folder;
  const auto summary = written(
                           folder, [](Observer&) {}, result)
                           .table("s", "summary");
  CHECK(summary.values<double>("share_of_ideal") == Reals{0.5});
  CHECK(summary.values<std::int64_t>("best_cus") == Integers{32});
  CHECK(summary.values<std::int64_t>("loss_links") == Integers{5'000'000});
  CHECK(summary.values<std::int64_t>("loss_interaction") == Integers{-6'000'000});
  CHECK(summary.values<std::int64_t>("loss_total") == Integers{9'000'000});
}

TEST_CASE("a collective's record is read back with its names") {
  const CollectiveRecord record{.name = "next.mlp",
                                .op = CollectiveKind::all_gather,
                                .backend = Backend::dma,
                                .gpu = 5,
                                .channels = 7,
                                .bytes = {1e9},
                                .start = 1.0_us,
                                .end = 3.0_us,
                                .algbw = 400.0_GBps,
                                .busbw = 350.0_GBps};
  const TemporaryFolder folder;
  const auto table = written(folder, [](Observer&) {}, {}, {record}).table("s", "collectives");
  CHECK(table.values<std::string>("name") == Texts{"next.mlp"});
  CHECK(table.values<std::string>("op") == Texts{"all_gather"});
  CHECK(table.values<std::string>("algorithm") == Texts{"direct"});
  CHECK(table.values<std::string>("backend") == Texts{"dma"});
  CHECK(table.values<std::int64_t>("gpu") == Integers{5});
  CHECK(table.values<std::int64_t>("channels") == Integers{7});
  CHECK(table.values<std::int64_t>("end") == Integers{3'000'000});
  CHECK(table.values<double>("busbw") == Reals{350e9});
}

TEST_CASE("a timeline that does not add up is a programming error") {
  const TemporaryFolder folder;
  ResultFile file(folder / "hand.h5", kHeader);
  TimelineWriter timeline(file, "s");
  CHECK_THROWS_WITH_AS(timeline.activity_finished(9, {}), "activity 9 finished without having started",
                       std::logic_error);
  CHECK_THROWS_WITH_AS(timeline.resource_added(1, {.name = "gpu0.hbm", .unit = "B/s"}, 1),
                       "resource gpu0.hbm is out of order", std::logic_error);
  timeline.activity_started(1, {.name = "gemm", .bytes = {}, .flops = {}}, {});
  CHECK_THROWS_WITH_AS(timeline.finish({}, {}), "1 activities never finished", std::logic_error);
}

}}  // namespace c3::results_timeline_test
