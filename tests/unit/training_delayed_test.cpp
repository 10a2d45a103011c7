// Gradients of weights that follow gradients of tokens: beside these on their way, with the same work.

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

#include "tests/support/print_units.hpp"
#include "tests/unit/training_experiments.hpp"
#include "tests/unit/training_pipelines.hpp"

namespace c3::training_delayed_test {

using namespace test;

namespace {

constexpr int kDelayRanks = 8;

/// Micro-batches of layers with eight experts on four ranks, which take turns.
TrainingSetup delayed_setup(bool delays = true, std::int64_t micro_batches = 3) {
  TrainingSetup setup = llama_setup(3);
  setup.framework = megatron_framework();
  setup.framework.attention = AttentionCode::flash2;
  setup.framework.dropout = false;
  setup.sharding = Sharding::none;
  setup.micro_batches = micro_batches;
  setup.model.experts = ExpertDimensions{.experts = 8, .per_token = 2, .width = 96};
  setup.experts.ranks = 4;
  setup.experts.micro_batch_overlap = true;
  setup.experts.delayed_weight_gradients = delays;
  return setup;
}

/// How often each kernel and collective runs.
std::map<std::string, int> counted_work(const WrittenStep& step) {
  std::map<std::string, int> counts;
  for_each_operation(step.program.scripts.front(), [&](const Operation& operation) {
    const bool is_event = std::holds_alternative<RecordEvent>(operation.work) ||
                          std::holds_alternative<WaitEvent>(operation.work);
    if (!is_event) ++counts[step.program.name_of(operation)];
  });
  return counts;
}

/// Kernels of a part in a range: backward, the gradient of the input, and last that of the weight.
std::vector<OperationPlace> places_of(const WrittenStep& step, const std::string& stream,
                                      const std::string& name, const std::string& range) {
  std::vector<OperationPlace> places;
  for (const Placed& placed : named(step, stream, name))
    if (placed.range == range) places.push_back(placed.place);
  REQUIRE(!places.empty());
  return places;
}

std::string refusal_of_delay(const TrainingSetup& setup) {
  try {
    training_step(setup, kDelayRanks);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("delayed gradients of weights are the same work") {
  const WrittenStep delayed = training_step(delayed_setup(), kDelayRanks);
  const WrittenStep usual = training_step(delayed_setup(false), kDelayRanks);
  CHECK(counted_work(delayed) == counted_work(usual));
  CHECK(delayed.facts.hardware_flops() == usual.facts.hardware_flops());
  CHECK(delayed.facts.model_flops() == usual.facts.model_flops());
}

TEST_CASE("delayed gradients of experts' weights run beside gradients of tokens on their way back") {
  // They do so in turns with a forward pass, and in the last micro-batch's backward pass, which has nobody to
  // take turns with.
  for (const std::string range : {"micro-batch 0, backward, layer 1", "micro-batch 2, backward, layer 1"}) {
    CAPTURE(range);
    for (const bool delays : {true, false}) {
      CAPTURE(delays);
      const WrittenStep step = training_step(delayed_setup(delays), kDelayRanks);
      const HappensBefore before(step);
      const OperationPlace tokens = places_of(step, "dispatch", "dispatch backward ", range).front();
      for (const char* part : {"experts.gate_up", "experts.down"}) {
        const auto kernels = places_of(step, "compute", part, range);
        CHECK(before(kernels.front(), tokens));
        CHECK(before(kernels.back(), tokens) == !delays);
        CHECK_FALSE(before(tokens, kernels.back()));
      }
      // Attention's are made when gradients of all activations of the layer are.
      const OperationPlace of_input = places_of(step, "compute", "attn.qkv", range).front();
      CHECK(before(of_input, places_of(step, "compute", "attn.out", range).back()) == delays);
    }
  }
}

TEST_CASE("gradients are reduced when delayed ones are made, too") {
  const WrittenStep step = training_step(delayed_setup(), kDelayRanks);
  const HappensBefore before(step);
  const std::string range = "micro-batch 2, backward, layer 0";
  const auto reduced = named(step, "gradients", "");
  const auto of_experts = named(step, "expert_gradients", "");
  REQUIRE(!reduced.empty());
  REQUIRE(!of_experts.empty());
  CHECK(before(places_of(step, "compute", "attn.out", range).back(), reduced.back().place));
  CHECK(before(places_of(step, "compute", "experts.down", range).back(), of_experts.back().place));
}

TEST_CASE("delayed gradients of weights leave nothing behind, and keep gradients of outputs meanwhile") {
  const auto peak = [](bool delays, std::int64_t micro_batches) {
    return training_step(delayed_setup(delays, micro_batches), kDelayRanks).facts.memory.bytes;
  };
  CHECK(peak(true, 3) == peak(true, 6));
  CHECK(peak(true, 3) > peak(false, 3));
}

TEST_CASE(
    "delayed gradients of weights require turns of micro-batches, in a schedule without passes for them") {
  TrainingSetup setup = delayed_setup();
  setup.experts.micro_batch_overlap = false;
  CHECK(refusal_of_delay(setup) ==
        "delayed_weight_gradients: requires micro_batch_overlap = true, as Megatron-Core's delay_wgrad_compute "
        "does");
  setup.model.layers = 4;
  TrainingSetup stages = pipelined(setup, 2, 4, ScheduleKind::dualpipe);
  stages.experts = delayed_setup().experts;
  CHECK(refusal_of_delay(stages) ==
        "delayed_weight_gradients: cannot be combined with schedule = \"dualpipe\", which makes gradients of "
        "weights in passes of their own");
}

}  // namespace c3::training_delayed_test
