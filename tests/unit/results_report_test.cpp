#include <doctest/doctest.h>

#include "results/picoseconds.hpp"
#include "results/report/html.hpp"
#include "results/report/lane_plot.hpp"
#include "results/report/timeline.hpp"
#include "results/report/value_scale.hpp"
#include "results/study_reader.hpp"
#include "results/table.hpp"
#include "results/timeline_writer.hpp"
#include "tests/support/near.hpp"
#include "tests/support/temporary_folder.hpp"

namespace c3::results_report_test { namespace {

constexpr std::int64_t kMicrosecond = 1'000'000;  // ps

std::vector<std::pair<std::int64_t, std::int64_t>> pairs(const Intervals& set) {
  std::vector<std::pair<std::int64_t, std::int64_t>> result;
  for (const auto& part : set)
    result.emplace_back(part.begin, part.end);
  return result;
}
using Pairs = std::vector<std::pair<std::int64_t, std::int64_t>>;

TEST_CASE("a union of intervals joins what overlaps or touches, and drops what is empty") {
  CHECK(pairs(united({{5, 7}, {0, 2}, {1, 3}, {3, 4}, {9, 9}})) == Pairs{{0, 4}, {5, 7}});
  CHECK(length(united({{0, 10}, {2, 3}})) == 10);
}

TEST_CASE("an intersection holds what is in both sets") {
  CHECK(pairs(intersection({{0, 4}, {6, 9}}, {{2, 7}, {8, 20}})) == Pairs{{2, 4}, {6, 7}, {8, 9}});
  CHECK(intersection({{0, 4}}, {{4, 9}}).empty());
}

TEST_CASE("the share in use of several resources is what they use together of what they have together") {
  UseCurve curve("links");
  const auto first = curve.add_member(10), second = curve.add_member(30);
  curve.step(first, 0, 10, 10);   // 10 of 40 from 0 on
  curve.step(second, 5, 30, 30);  // all from 5 on
  curve.step(second, 5, 10, 30);  // no: 20 of 40, the last of equal dates holds
  curve.step(first, 8, 0, 10);    // 10 of 40 from 8 on
  CHECK(curve.capacity() == 40);
  CHECK(curve.peak() == 0.5);
  CHECK(curve.mean(10) == near((0.25 * 5 + 0.5 * 3 + 0.25 * 2) / 10, 1e-12));
  const auto shares = curve.shares(10, 2);
  CHECK(shares.at(0) == near(0.25, 1e-12));
  CHECK(shares.at(1) == near((0.5 * 3 + 0.25 * 2) / 5, 1e-12));
}

TEST_CASE("a coarse curve has the same mean and peak, and its bins differ by no more than its resolution") {
  UseCurve fine("HBM"), coarse("HBM");
  coarse.coarsen(100);
  for (UseCurve* const curve : {&fine, &coarse}) {
    const auto first = curve->add_member(10), second = curve->add_member(10);
    for (std::int64_t time = 0; time < 10'000; time += 7) {
      curve->step(first, time, 10, 10);  // changes at the same date by the next step
      curve->step(first, time, static_cast<double>(time % 10), 10);
      if (time % 3 == 0) curve->step(second, time, static_cast<double>(time % 4), 10);
    }
  }
  CHECK(coarse.mean(10'000) == near(fine.mean(10'000), 1e-12));
  CHECK(coarse.peak() == fine.peak());
  CHECK(fine.peak() == 0.6);
  const auto bins = coarse.shares(10'000, 10), expected = fine.shares(10'000, 10);
  for (std::size_t i = 0; i < bins.size(); ++i)
    CHECK(bins[i] == near(expected[i], 2 * 100.0 / 1'000));
}

TEST_CASE("a share is never drawn above 100 %, however the solver rounds") {
  UseCurve curve("HBM");
  curve.step(curve.add_member(3), 0, 3.0000001, 3);
  CHECK(curve.peak() == 1);
  CHECK(curve.shares(8, 2) == std::vector<double>{1, 1});
}

TEST_CASE("slices narrower than a pixel are joined while they are less than a pixel apart") {
  const TimeAxis axis{.end = kPlotWidth, .unit = unit_for(1.0_us)};  // a unit is 1 ps
  const auto slice = [](std::int64_t start, std::int64_t end) {
    Slice result;
    result.start = result.running = start;
    result.end = end;
    return result;
  };
  std::vector<Slice> slices{slice(0, 5), slice(5, 9)};
  CHECK(drawn_slices(slices, axis).size() == 2);  // wide enough each
  slices.assign(100, slice(7, 7));
  slices.push_back(slice(8, 20));
  const auto drawn = drawn_slices(slices, axis);
  REQUIRE(drawn.size() == 2);
  CHECK(drawn.front().count == 100);
  CHECK(drawn.back().count == 1);
}

TEST_CASE("joined slices keep the colours of what they hold, by their shares of the time") {
  const TimeAxis axis{.end = 1000 * kPlotWidth, .unit = unit_for(1.0_us)};  // a unit is 1000 ps
  const auto slice = [](const char* kind, std::int64_t start, std::int64_t end) {
    Slice result;
    result.kind = kind;
    result.start = result.running = start;
    result.end = end;
    return result;
  };
  // A wait of 100 ps, a kernel of 600 ps and a collective of 300 ps, on 40 pixels.
  const std::vector<Slice> slices{slice("wait", 0, 100), slice("kernel", 100, 700),
                                  slice("all_gather", 700, 1000)};
  const auto drawn = drawn_slices(slices, axis);
  REQUIRE(drawn.size() == 1);
  const std::string shapes = slice_shapes(drawn.front(), axis, 1, 40);
  CHECK(shapes.find(R"(<rect class="compute" x="0" y="1" width="1" height="24"/>)") != std::string::npos);
  CHECK(shapes.find(R"(<rect class="comm" x="0" y="25" width="1" height="12"/>)") != std::string::npos);
  CHECK(shapes.find(R"(<rect class="wait" x="0" y="37" width="1" height="4"/>)") != std::string::npos);
  CHECK(shapes.find("3 slices") != std::string::npos);
  CHECK(shapes.find("compute: 60%") != std::string::npos);
}

TEST_CASE("ticks begin at 0, are at most eleven, and stay on the axis") {
  for (const std::int64_t end : {1'234LL, 999'999LL, 5'690'159'383LL, 77'000'000'000'000LL}) {
    const TimeAxis axis{.end = end, .unit = unit_for(1.0_ms)};
    const auto ticks = axis.ticks();
    CHECK(ticks.front() == 0);
    CHECK(ticks.size() >= 5);
    CHECK(ticks.size() <= 11);
    CHECK(ticks.back() <= end);
  }
}

TEST_CASE("what means something in markup is replaced in texts") {
  CHECK(escaped("a<b> & \"c\" 'd'") == "a&lt;b&gt; &amp; &quot;c&quot; &#39;d&#39;");
  CHECK(escaped_lines("a\n<\n") == "a<br/>\n&lt;");
  CHECK(short_number(-0.001) == "0");
  CHECK(short_number(12.5) == "12.5");
  CHECK(short_number(100) == "100");
  CHECK(with_prefix(4.73e12, "B/s") == "4.73 TB/s");
}

StrategyResult a_result() {
  StrategyResult result;
  result.name = "s";
  result.time = 30.0_us;
  result.spread = TimeSpread{29.0_us, 31.0_us};
  result.lower_bound = 20.0_us;
  result.speedup = 1.25;
  result.ideal_speedup = 1.5;
  result.share_of_ideal = 0.5;
  result.kernel = SideTimes{.alone = 20.0_us, .together = 25.0_us};
  result.loss = LossSplit{1.0_us, 2.0_us, Seconds{}, -3.0 * 1.0_us, Seconds{}, Seconds{}};
  result.best_cus = 32;
  return result;
}

/// A kernel on stream 0 whose one cohort runs from 5 to 25 us, and a collective on stream 1 that is released at
/// 0 and whose channel gets the cohort's slot at 20 us. GPU 0.
ResultReader hand_made(const TemporaryFolder& folder, const StudyResult& study) {
  RunHeader header;
  header.experiment = study.experiment;
  header.seed = study.seed;
  header.conditions = study.conditions;
  header.streams = {"compute", "comm"};
  ResultFile file(folder / "hand.h5", header);
  {
    TimelineWriter timeline(file, "s");
    timeline.resource_added(0, {.name = "gpu0.cus", .unit = "CU", .gpu = 0}, 100);
    timeline.activity_started(1, {.name = "gemm", .kind = ActivityKind::kernel, .gpu = 0, .stream = 0},
                              Seconds{});
    timeline.activity_started(2, {.name = "gather", .kind = ActivityKind::collective, .gpu = 0, .stream = 1},
                              Seconds{});
    timeline.activity_started(
        3, {.name = "gemm", .kind = ActivityKind::cohort, .gpu = 0, .stream = 0, .parent = 1}, 5.0_us);
    timeline.utilisation(0, 5.0_us, 80);
    timeline.activity_started(
        4, {.name = "gather", .kind = ActivityKind::channel, .gpu = 0, .stream = 1, .parent = 2}, 20.0_us);
    timeline.depends(2, 1, DependencyKind::stream_order);
    timeline.depends(3, 1, DependencyKind::launch);
    timeline.depends(4, 3, DependencyKind::slot);
    for (const ActivityId id : {3, 1})
      timeline.activity_finished(id, 25.0_us);
    timeline.utilisation(0, 25.0_us, 20);
    for (const ActivityId id : {4, 2})
      timeline.activity_finished(id, 30.0_us);
    timeline.utilisation(0, 30.0_us, 0);
    timeline.finish(study.strategies.front(), {});
  }
  file.commit();
  return ResultReader(folder / "hand.h5");
}

StudyResult a_study() {
  return {.experiment = "hand",
          .seed = 7,
          .conditions = {.system = "node",
                         .hbm_arbitration = HbmArbitration::byte_fair,
                         .dispatch_policy = DispatchPolicy::random_order,
                         .seeds = 8,
                         .draws = 3},
          .strategies = {a_result()}};
}

TEST_CASE("a study read back from its file prints the same table") {
  StudyResult governed = a_study();
  governed.conditions.clock_state = ClockState::burst;
  CHECK(format_study(governed).find("dispatch random_order, burst clock") != std::string::npos);
  StudyResult transferred = a_study();
  transferred.conditions.clock_state = ClockState::sustained;
  transferred.conditions.level = {.evidence = LevelEvidence::relative,
                                  .measured_on = "h100-sxm",
                                  .rate = 650.0_TFLOPs,
                                  .low = 585.0_TFLOPs,
                                  .high = 715.0_TFLOPs};
  CHECK(format_study(transferred)
            .find("large 16-bit products sustain 650 TFLOP/s (585 to 715, +-10 %): as h100-sxm, of the same") !=
        std::string::npos);
  for (const StudyResult& study : {a_study(), governed, transferred}) {
    const TemporaryFolder folder;
    CHECK(format_study(read_study(hand_made(folder, study))) == format_study(study));
  }
}

TEST_CASE("an operation runs while its parts do, and what its first part waited for is known") {
  const TemporaryFolder folder;
  const auto timeline = read_timeline(hand_made(folder, a_study()), "s");
  REQUIRE(timeline.gpus.size() == 1);
  const auto& streams = timeline.gpus.front().streams;
  REQUIRE(streams.size() == 2);
  CHECK(streams.at(0).label == "compute");
  const auto& gather = streams.at(1).slices.at(0);
  CHECK(gather.start == 0);
  CHECK(gather.running == 20 * kMicrosecond);
  CHECK(gather.end == 30 * kMicrosecond);
  CHECK(gather.waited_for == std::vector<std::string>{"CU slots of gemm"});
  CHECK(gather.released_by == std::vector<std::string>{"the end of gemm"});
  CHECK(streams.at(0).slices.at(0).waited_for.empty());
}

TEST_CASE("a kernel whose parts have names of their own has phases, and channels of memory have a curve each") {
  const TemporaryFolder folder;
  const StudyResult study = a_study();
  RunHeader header;
  header.experiment = study.experiment;
  header.conditions = study.conditions;
  header.streams = {"compute"};
  ResultFile file(folder / "phases.h5", header);
  {
    TimelineWriter timeline(file, "s");
    timeline.resource_added(0, {.name = "gpu0.hbm.channel0", .unit = "B/s", .gpu = 0}, 100);
    timeline.resource_added(1, {.name = "gpu0.hbm.channel1", .unit = "B/s", .gpu = 0}, 100);
    timeline.activity_started(1, {.name = "conv", .kind = ActivityKind::kernel, .gpu = 0, .stream = 0},
                              Seconds{});
    timeline.activity_started(
        2, {.name = "transpose", .kind = ActivityKind::cohort, .gpu = 0, .stream = 0, .parent = 1}, Seconds{});
    timeline.utilisation(1, Seconds{}, 100);
    timeline.activity_finished(2, 10.0_us);
    timeline.utilisation(1, 10.0_us, 0);
    timeline.activity_started(
        3, {.name = "conv", .kind = ActivityKind::cohort, .gpu = 0, .stream = 0, .parent = 1}, 10.0_us);
    timeline.activity_finished(3, 30.0_us);
    timeline.activity_finished(1, 30.0_us);
    timeline.finish(study.strategies.front(), {});
  }
  file.commit();
  const StrategyTimeline timeline = read_timeline(ResultReader(folder / "phases.h5"), "s");
  const std::vector<SlicePhase>& phases = timeline.gpus.front().streams.at(0).slices.at(0).phases;
  REQUIRE(phases.size() == 2);
  CHECK(phases[0].name == "transpose");
  CHECK(phases[0].end == 10 * kMicrosecond);
  CHECK(phases[1].start == 10 * kMicrosecond);
  const std::vector<UseCurve>& channels = timeline.gpus.front().channels;
  REQUIRE(channels.size() == 2);
  CHECK(channels[0].mean(30 * kMicrosecond) == 0.0);
  CHECK(channels[1].mean(30 * kMicrosecond) == near(1.0 / 3));
}

TEST_CASE("time with kernels, collectives, both and neither adds up to the strategy's") {
  const TemporaryFolder folder;
  const auto timeline = read_timeline(hand_made(folder, a_study()), "s");
  const auto split = timeline.split();
  CHECK(split.compute_only == 15 * kMicrosecond);
  CHECK(split.both == 5 * kMicrosecond);
  CHECK(split.communication_only == 5 * kMicrosecond);
  CHECK(split.neither == 5 * kMicrosecond);
  CHECK(timeline.gpus.front().cus.mean(timeline.time) == near((0.8 * 20 + 0.2 * 5) / 30, 1e-12));
}

}}  // namespace c3::results_report_test
