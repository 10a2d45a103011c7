// Schedules of pipelines: closed forms of their bubbles and of what stages keep, and what is wrong with others.

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "tests/support/print_units.hpp"
#include "workloads/pipeline/pipeline_play.hpp"
#include "workloads/pipeline/task_table.hpp"

namespace c3::pipeline_schedule_test {

namespace {

constexpr PassTimes kUnit{Seconds{1.0}, Seconds{1.0}, Seconds{1.0}, Seconds{0.0}};
/// Whole numbers, so that sums are exact.
const std::vector<PassTimes> kTimes = {kUnit,
                                       {Seconds{3.0}, Seconds{4.0}, Seconds{2.0}, Seconds{0.0}},
                                       {Seconds{5.0}, Seconds{7.0}, Seconds{4.0}, Seconds{0.0}}};

Seconds whole(const PassTimes& times) { return times.forward + times.backward + times.weights; }

/// Calls \p visit with many numbers of stages and micro-batches.
template <class Visit>
void for_each_shape(Visit visit) {
  for (const int stages : {2, 3, 4, 5, 8}) {
    for (const int micro_batches : {1, 2, stages, stages + 1, 2 * stages, 3 * stages + 1})
      visit(PipelineShape{.stages = stages, .micro_batches = micro_batches});
  }
}

std::vector<int> kept(const PlayedPipeline& played) {
  std::vector<int> counts;
  for (const PlayedStage& stage : played.stages)
    counts.push_back(stage.most_kept);
  return counts;
}

std::optional<std::string> flaw(const std::vector<std::string>& table, int micro_batches, int chunks = 1) {
  std::vector<std::string> names;
  for (std::size_t stage = 0; stage < table.size(); ++stage)
    names.push_back("stage " + std::to_string(stage));
  return flaw_of(schedule_from(table, chunks), micro_batches, names);
}

}  // namespace

TEST_CASE("GPipe and 1F1B wait (p - 1)(F + B), and differ in what they keep") {
  for_each_shape([](const PipelineShape& shape) {
    for (const PassTimes& times : kTimes) {
      CAPTURE(shape.stages);
      CAPTURE(shape.micro_batches);
      const Seconds ideal = whole(times) * static_cast<double>(shape.micro_batches);
      const Seconds bubble = whole(times) * static_cast<double>(shape.stages - 1);
      std::vector<int> all, few;
      for (int stage = 0; stage < shape.stages; ++stage) {
        all.push_back(shape.micro_batches);
        few.push_back(std::min(shape.micro_batches, shape.stages - stage));
      }
      const PlayedPipeline gpipe = play(make_schedule(ScheduleKind::gpipe, shape), times);
      const PlayedPipeline one = play(make_schedule(ScheduleKind::one_f_one_b, shape), times);
      CHECK(gpipe.time == ideal + bubble);
      CHECK(one.time == ideal + bubble);
      CHECK(gpipe.bubble() == bubble);
      CHECK(one.bubble() == bubble);
      // (p - 1) / (m + p - 1) of the step.
      CHECK(one.bubble_share() ==
            doctest::Approx((shape.stages - 1.0) / (shape.micro_batches + shape.stages - 1.0)).epsilon(1e-12));
      CHECK(kept(gpipe) == all);
      CHECK(kept(one) == few);
    }
  });
}

TEST_CASE("messages lengthen GPipe, and 1F1B of one micro-batch, by the way there and back") {
  PassTimes times = kUnit;
  times.message = Seconds{0.5};
  for (const int micro_batches : {1, 4, 9}) {
    const PipelineShape shape{.stages = 4, .micro_batches = micro_batches};
    const double expected = (micro_batches + 3) * 3.0 + 2.0 * 3 * 0.5;
    CHECK(play(make_schedule(ScheduleKind::gpipe, shape), times).time == Seconds{expected});
  }
  const PipelineShape one{.stages = 4, .micro_batches = 1};
  CHECK(play(make_schedule(ScheduleKind::one_f_one_b, one), times).time == Seconds{4 * 3.0 + 2.0 * 3 * 0.5});
}

TEST_CASE(
    "v chunks a stage divide the bubble by v, in groups, with a remainder, and keep what Megatron-Core says") {
  int shapes = 0;
  for (const int stages : {2, 3, 4, 8}) {
    for (const int chunks : {2, 3, 4}) {
      for (const int group : {stages, stages + 1, 2 * stages}) {
        for (const int micro_batches : {group, 2 * group, 2 * group + stages, 3 * group}) {
          const PipelineShape shape{stages, micro_batches, chunks, group};
          if (broken_rule(ScheduleKind::interleaved, shape)) continue;
          CAPTURE(stages);
          CAPTURE(chunks);
          CAPTURE(group);
          CAPTURE(micro_batches);
          ++shapes;
          const PlayedPipeline played = play(make_schedule(ScheduleKind::interleaved, shape), kUnit);
          // A chunk takes 1 / v of a stage: in units of a stage, the bubble is (p - 1)(F + B) / v.
          CHECK(played.bubble() == Seconds{3.0 * (stages - 1)});
          CHECK(played.time == Seconds{3.0 * (micro_batches * chunks + stages - 1)});
          // Warm-up and one more, of m v in all: with G = p it is p (1 + (p - 1) / (p v)) micro-batches.
          CHECK(played.stages.front().most_kept ==
                std::min(micro_batches * chunks, 2 * (stages - 1) + (chunks - 1) * group + 1));
        }
      }
    }
  }
  CHECK(shapes > 100);
}

TEST_CASE("ZB-H1 waits (p - 1)(F + B - W) where W is no longer than F, and every stage keeps p micro-batches") {
  for_each_shape([](const PipelineShape& shape) {
    if (shape.micro_batches < shape.stages) return;
    for (const PassTimes& times : kTimes) {
      CAPTURE(shape.stages);
      CAPTURE(shape.micro_batches);
      const PlayedPipeline played = play(make_schedule(ScheduleKind::zb_h1, shape), times);
      const Seconds bubble =
          (times.forward + times.backward - times.weights) * static_cast<double>(shape.stages - 1);
      CHECK(played.bubble() == bubble);
      CHECK(played.time == whole(times) * static_cast<double>(shape.micro_batches) + bubble);
      CHECK(kept(played) == std::vector<int>(static_cast<std::size_t>(shape.stages), shape.stages));
    }
  });
}

TEST_CASE("ZB-V has no bubble where all passes take equally long, and keeps p micro-batches") {
  for (const int stages : {2, 3, 4, 8}) {
    for (const int micro_batches : {2 * stages - 1, 2 * stages, 3 * stages + 1}) {
      const PipelineShape shape{.stages = stages, .micro_batches = micro_batches, .chunks = 2};
      const PlayedPipeline played = play(make_schedule(ScheduleKind::zb_v, shape), kUnit);
      CHECK(played.bubble() == Seconds{0.0});
      CHECK(std::ranges::max(kept(played)) == 2 * stages);  // of half a stage each
    }
  }
}

TEST_CASE("DualPipe runs a forward and a backward pass in turns wherever it has both") {
  const PipelineShape shape{.stages = 4, .micro_batches = 12};
  const PipelineSchedule schedule = make_schedule(ScheduleKind::dualpipe, shape);
  for (int stage = 0; stage < shape.stages; ++stage) {
    const auto& tasks = schedule.tasks[static_cast<std::size_t>(stage)];
    const int from_end = std::min(stage, shape.stages - 1 - stage);
    // DeepSeek's dualpipe.py, steps 4 and 5: two pairs a micro-batch of a half, and one for each stage inwards.
    const int pairs =
        2 * (shape.micro_batches / 2 - shape.stages + from_end + 1) + shape.stages / 2 - 1 - from_end;
    CHECK(std::ranges::count(tasks, true, &PipelineTask::with_before) == pairs);
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      if (!tasks[i].with_before) continue;
      CHECK(tasks[i].pass == PipelinePass::backward);
      CHECK(tasks[i - 1].pass == PipelinePass::forward);
      CHECK(tasks[i - 1].chunk != tasks[i].chunk);
    }
  }
}

// arXiv 2412.19437, table 2, counts a forward and a backward pass as one that takes F + B + W: then each of
// p / 2 - 1 stages waits as long as F + B + W and a backward pass more, less three W. In turn, the forward
// pass that the other end waits for is there before the backward pass beside it has run.
TEST_CASE("DualPipe waits (p / 2 - 1)(F + B - W) where passes take alike, and keeps p + 1 micro-batches") {
  for (const int stages : {2, 4, 6, 8, 16}) {
    for (const int micro_batches : {2 * stages, 2 * stages + 2, 4 * stages}) {
      const PipelineShape shape{.stages = stages, .micro_batches = micro_batches};
      const PipelineSchedule schedule = make_schedule(ScheduleKind::dualpipe, shape);
      for (const PassTimes& times : kTimes) {
        if (stages > 6 && times.forward != times.weights) continue;  // W no longer fills what it has to
        CAPTURE(stages);
        CAPTURE(micro_batches);
        const PlayedPipeline played = play(schedule, times);
        const Seconds bubble =
            (times.forward + times.backward - times.weights) * static_cast<double>(stages / 2 - 1);
        CHECK(played.bubble() == bubble);
        CHECK(played.time == whole(times) * static_cast<double>(micro_batches) + bubble);
        CHECK(kept(played) == std::vector<int>(static_cast<std::size_t>(stages), stages + 1));
      }
    }
  }
}

TEST_CASE("every schedule has each pass of each micro-batch once and can be run") {
  for_each_shape([](const PipelineShape& shape) {
    for (const auto& [name, kind] : kEnumNames<ScheduleKind>) {
      if (kind == ScheduleKind::table) continue;
      PipelineShape chunked = shape;
      chunked.chunks = kind == ScheduleKind::zb_v ? 2 : kind == ScheduleKind::interleaved ? 3 : 1;
      chunked.group = shape.stages;
      if (broken_rule(kind, chunked)) continue;
      CAPTURE(name);
      CAPTURE(shape.stages);
      CAPTURE(shape.micro_batches);
      std::vector<std::string> names;
      for (int stage = 0; stage < shape.stages; ++stage)
        names.push_back("stage " + std::to_string(stage));
      CHECK(flaw_of(make_schedule(kind, chunked), shape.micro_batches, names) == std::nullopt);
    }
  });
}

TEST_CASE("rules of schedules name what they require") {
  const auto rule = [](ScheduleKind kind, PipelineShape shape) {
    return broken_rule(kind, shape).value_or("");
  };
  CHECK(rule(ScheduleKind::interleaved, {4, 8, 1, 4}) == "interleaved requires virtual_stages > 1 (it is 1)");
  CHECK(rule(ScheduleKind::interleaved, {4, 8, 2, 3}) ==
        "a group of interleaved micro-batches must have at least as many as there are stages, 4 (it has 3)");
  CHECK(rule(ScheduleKind::interleaved, {4, 10, 2, 4}) ==
        "10 micro-batches in groups of 4 leave 2 for the last group, fewer than the 4 stages");
  CHECK(rule(ScheduleKind::interleaved, {4, 9, 2, 5}).empty());  // 5 and 4
  CHECK(rule(ScheduleKind::zb_v, {4, 8, 1, 0}) == "zb-v requires virtual_stages = 2 (it is 1)");
  CHECK(rule(ScheduleKind::dualpipe, {3, 8, 1, 0}) == "dualpipe requires an even number of stages (it is 3)");
  CHECK(
      rule(ScheduleKind::dualpipe, {4, 6, 1, 0}) ==
      "dualpipe requires an even number of micro-batches, twice as many as there are stages or more (it is 6, "
      "and there are 4 stages)");
  CHECK(rule(ScheduleKind::dualpipe, {4, 8, 2, 0}) ==
        "dualpipe requires virtual_stages = 1 (it is 2); interleaved and zb-v have more");
  CHECK(rule(ScheduleKind::zb_h1, {4, 8, 2, 0}) ==
        "zb-h1 requires virtual_stages = 1 (it is 2); interleaved and zb-v have more");
}

TEST_CASE("a table that deadlocks is refused with the circle of stages and tasks") {
  // Stage 0 wants the first gradient before it sends the second micro-batch, stage 1 the second micro-batch
  // before it makes that gradient.
  CHECK(flaw({"F0 B0 F1 B1", "F0 F1 B0 B1"}, 2) ==
        "deadlock: stage 0 waits at B0 for B0 of stage 1, which cannot run: stage 1 waits at F1 for F1 of "
        "stage 0");
  CHECK(flaw({"F0 F1 B0 B1", "F0 B0 F1 B1"}, 2) == std::nullopt);
  CHECK(flaw({"B0 F0"}, 1) == "deadlock: stage 0 waits at B0 for F0 of stage 0");
}

TEST_CASE("a table is refused for passes that it lacks, repeats or invents, and for messages that overtake") {
  CHECK(flaw({"F0 B0", "F0"}, 1) == "stage 1 lacks B0");
  CHECK(flaw({"F0 B0 W0", "F0 B0"}, 1) == "stage 1 lacks W0");
  CHECK(flaw({"F0 F0 B0"}, 1) == "stage 0 has F0 twice");
  CHECK(flaw({"F0 F1 B0 B1"}, 1) == "stage 0 has F1, and there are 1 micro-batches and 1 chunks a stage");
  CHECK(flaw({"F0 F1 B0 B1", "F1 F0 B0 B1"}, 2) ==
        "stage 1 takes F1 from stage 0 before F0, which is sent first");
  CHECK(flaw({"F0.0 F0.1 B0.1 B0.0", "F0.0 F0.1 B0.1 B0.0"}, 1, 2) == std::nullopt);
  CHECK_THROWS_AS(schedule_from(std::vector<std::string>{"F0x"}, 1), std::invalid_argument);
  CHECK_THROWS_AS(schedule_from(std::vector<std::string>{"F0.1"}, 1), std::invalid_argument);
  CHECK_THROWS_WITH_AS(
      schedule_from(std::vector<std::string>{"F0 X1"}, 1),
      "'X1' is not a task: allowed are F, B and W with the number of a micro-batch, such as F0",
      std::invalid_argument);
}

}  // namespace c3::pipeline_schedule_test
