// Ranges of the timeline, and steps that have no room: what is known of a training step beside its time.

#include <doctest/doctest.h>

#include "gpu/kernels/gemm/gemm_shape.hpp"
#include "tests/support/print_units.hpp"
#include "tests/unit/workloads_pair.hpp"
#include "workloads/analysis/out_of_memory.hpp"

namespace c3::workloads_ranges_test {

using namespace literals;
using namespace test;

namespace {

WrittenOperation in_range(WrittenOperation operation, const std::string& range) {
  operation.range = range;
  return operation;
}

/// Two kernels of a range with an event between them, one of another, and one of none; beside them a
/// collective of the first range.
WrittenExperiment ranges() {
  WrittenExperiment experiment = pair();
  const GemmShape gemm = gemm_of_tiles(4, 4);
  experiment.streams = {{"compute",
                         {in_range({"a", gemm}, "layer 0"),
                          in_range({"e", WrittenRecord{"e"}}, "layer 0"),
                          in_range({"w", WrittenWait{"e"}}, "layer 0"),
                          in_range({"b", gemm}, "layer 0"),
                          in_range({"v", WrittenWait{"e"}}, "layer 1"),
                          in_range({"c", gemm}, "layer 1"),
                          {"d", gemm}}},
                        {"fsdp", {in_range({"gather", gather(64.0_MB)}, "layer 0")}}};
  return experiment;
}

const Recording::Activity& named(const Recording& recording, ActivityKind kind, const std::string& name) {
  for (const auto* activity : recording.of_kind(kind)) {
    if (activity->name == name && activity->gpu == 0) return *activity;
  }
  throw std::logic_error("no activity " + name);
}

OutOfMemory verdict_of(const ExperimentFactory& make) { return out_of_memory(make).value_or(OutOfMemory{}); }

}  // namespace

TEST_CASE(
    "a range lasts from its first kernel or collective on a stream to its last, and they are parts of it") {
  Recording recording;
  run_recorded(ranges(), in_order(), recording);
  std::vector<const Recording::Activity*> found;
  for (const auto* range : recording.of_kind(ActivityKind::range)) {
    if (range->gpu == 0) found.push_back(range);
  }
  REQUIRE(found.size() == 3);
  const auto& a = named(recording, ActivityKind::kernel, "a");
  const auto& b = named(recording, ActivityKind::kernel, "b");
  const auto& c = named(recording, ActivityKind::kernel, "c");
  const auto& gather = named(recording, ActivityKind::collective, "gather");
  const auto& layer_0 = recording.activity(a.parent);
  const auto& layer_1 = recording.activity(c.parent);
  const auto& gathering = recording.activity(gather.parent);
  for (const auto* range : {&layer_0, &layer_1, &gathering})
    CHECK(range->kind == ActivityKind::range);
  CHECK(layer_0.name == "layer 0");
  CHECK(layer_0.stream == 0);
  CHECK(layer_0.start == a.start);
  CHECK(layer_0.end == b.end);
  CHECK(b.parent == a.parent);
  CHECK(layer_1.name == "layer 1");
  CHECK(layer_1.start == c.start);
  CHECK(layer_1.end == c.end);
  CHECK(gathering.name == "layer 0");
  CHECK(gathering.stream == 1);
  CHECK(gathering.end == gather.end);
  CHECK(named(recording, ActivityKind::kernel, "d").parent == kNoActivity);
}

TEST_CASE("a wait is in a range when a kernel of it came before") {
  Recording recording;
  run_recorded(ranges(), in_order(), recording);
  std::vector<ActivityId> parents;
  for (const auto* wait : recording.of_kind(ActivityKind::wait)) {
    if (wait->gpu == 0) parents.push_back(wait->parent);
  }
  CHECK(parents == std::vector<ActivityId>{named(recording, ActivityKind::kernel, "a").parent, kNoActivity});
}

TEST_CASE("an operation that does not take place neither begins nor ends a range") {
  WrittenExperiment experiment = ranges();
  experiment.streams.front().operations.push_back(in_range({"late", gather(64.0_MB)}, "layer 2"));
  Recording recording;
  RunSetup setup;
  setup.filter = OperationFilter::kernels;
  setup.observer = &recording;
  run_once(experiment, in_order(), setup);
  for (const auto* range : recording.of_kind(ActivityKind::range)) {
    CHECK(range->stream == 0);
    CHECK(range->name != "layer 2");
  }
}

TEST_CASE("operations without ranges make none") {
  Recording recording;
  run_recorded(pair(), in_order(), recording);
  CHECK(recording.of_kind(ActivityKind::range).empty());
}

TEST_CASE("a step that does not fit is found in every draw, and what fits in all is no verdict") {
  Experiment experiment = pair();
  CHECK_FALSE(out_of_memory([&](auto) { return experiment; }).has_value());  // no training step
  experiment.step.emplace();
  experiment.step->memory = {.bytes = 60.0_GB, .held = 70.0_GB, .reserved = 75.0_GB};
  experiment.step->memory_size = 80.0_GB;
  // Odd draws have less.
  const auto make = [&](std::optional<std::uint64_t> draw) {
    Experiment drawn = experiment;
    if (draw)
      drawn.step->memory_size = *draw % 2 == 1 ? 69.0_GB - static_cast<double>(*draw) * 1.0_GB : 71.0_GB;
    return drawn;
  };
  CHECK_FALSE(out_of_memory(make).has_value());
  experiment.measure.draws = 1;
  CHECK_FALSE(out_of_memory(make).has_value());
  experiment.measure.draws = 4;
  CHECK(verdict_of(make).draws == std::vector<std::uint64_t>{1, 3});
  CHECK(verdict_of(make).step.memory_size == 68.0_GB);
  experiment.measure.draws = 0;
  experiment.step->memory_size = 69.0_GB;
  CHECK(verdict_of(make).experiment == "pair");
  CHECK(verdict_of(make).draws.empty());
}

}  // namespace c3::workloads_ranges_test
