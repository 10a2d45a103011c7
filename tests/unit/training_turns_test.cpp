// Layers of two micro-batches in turns: tokens of one travel beside kernels of the other.

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <variant>

#include "gpu/kernels/operator_table.hpp"
#include "tests/support/near.hpp"
#include "tests/support/print_units.hpp"
#include "tests/unit/training_experiments.hpp"
#include "tests/unit/training_pipelines.hpp"
#include "workloads/analysis/steady_state.hpp"
#include "workloads/execute/run.hpp"
#include "workloads/execute/waiting_cycle.hpp"
#include "workloads/pipeline/pipeline_play.hpp"
#include "workloads/training/pipeline_rules.hpp"

namespace c3::training_turns_test {

using namespace literals;
using namespace test;

namespace {

constexpr int kTurnRanks = 8;

/// Three micro-batches of layers with eight experts on four ranks.
TrainingSetup in_turns(std::int64_t layers = 3, std::int64_t micro_batches = 3) {
  TrainingSetup setup = llama_setup(layers);
  setup.framework = megatron_framework();
  setup.framework.attention = AttentionCode::flash2;
  setup.framework.dropout = false;
  setup.framework.syncs_routing = false;
  setup.sharding = Sharding::none;
  setup.micro_batches = micro_batches;
  setup.model.experts = ExpertDimensions{.experts = 8, .per_token = 2, .width = 96};
  setup.experts.ranks = 4;
  setup.experts.micro_batch_overlap = true;
  return setup;
}

TrainingSetup one_after_another(TrainingSetup setup) {
  setup.experts.micro_batch_overlap = false;
  return setup;
}

OperationPlace place_of(const WrittenStep& step, const std::string& stream, const std::string& name,
                        const std::string& range) {
  for (const Placed& placed : named(step, stream, name))
    if (placed.range == range) return placed.place;
  FAIL("no ", name, " in ", range);
  return {};
}

/// How often each kernel, collective and copy runs, on whatever stream.
std::map<std::string, int> work_of(const WrittenStep& step) {
  std::map<std::string, int> counts;
  for_each_operation(step.program.scripts.front(), [&](const Operation& operation) {
    const bool is_event = std::holds_alternative<RecordEvent>(operation.work) ||
                          std::holds_alternative<WaitEvent>(operation.work);
    if (!is_event) ++counts[step.program.name_of(operation)];
  });
  return counts;
}

/// How often a stage's kernels wait for messages.
int waits_for_messages(const WrittenStep& step, std::size_t stage) {
  std::set<EventId> of_messages;
  for (const std::string& stream : step.program.streams) {
    if (!stream.starts_with("pipeline")) continue;
    for (const Operation& operation : stream_of(step, stage, stream))
      if (const auto* const record = std::get_if<RecordEvent>(&operation.work))
        of_messages.insert(record->event);
  }
  int waits = 0;
  for (const Operation& operation : stream_of(step, stage, "compute")) {
    const auto* const wait = std::get_if<WaitEvent>(&operation.work);
    if (wait != nullptr && of_messages.contains(wait->event)) ++waits;
  }
  return waits;
}

Bytes held_by_optimizer(const TrainingSetup& setup) {
  const auto stages = memory_of_step(fluid_step(setup, kTurnRanks, true)).stages;
  const auto moment = std::ranges::find(stages.front().moments, "optimizer", &MemoryMoment::name);
  REQUIRE(moment != stages.front().moments.end());
  return moment->bytes;
}

std::string refusal_of(const TrainingSetup& setup, int ranks = kTurnRanks) {
  try {
    training_step(setup, ranks);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

TrainingSetup staged(int stages, ScheduleKind schedule, std::int64_t micro_batches) {
  const TrainingSetup setup = in_turns(4 * stages, micro_batches);
  TrainingSetup staged_setup = pipelined(setup, stages, micro_batches, schedule);
  staged_setup.experts = setup.experts;
  return staged_setup;
}

}  // namespace

TEST_CASE("tokens of one micro-batch wait for no kernels of the other, and these not for tokens") {
  const std::string ahead = "micro-batch 1, forward, layer 1", back = "micro-batch 0, backward, layer 1";
  for (const bool turns : {true, false}) {
    CAPTURE(turns);
    const WrittenStep step = training_step(turns ? in_turns() : one_after_another(in_turns()), kTurnRanks);
    const HappensBefore before(step);
    const auto beside = [&](const std::pair<std::string, std::string>& tokens, const std::string& travel_range,
                            const std::string& kernel, const std::string& of_kernel) {
      CAPTURE(tokens.first);
      CAPTURE(kernel);
      const OperationPlace travel = place_of(step, tokens.first, tokens.second, travel_range);
      const OperationPlace compute = place_of(step, "compute", kernel, of_kernel);
      return !before(travel, compute) && !before(compute, travel);
    };
    CHECK(beside({"dispatch", "combine backward "}, back, "attn.qkv", ahead) == turns);
    CHECK(beside({"dispatch", "dispatch all_to_all"}, ahead, "experts.down", back) == turns);
    CHECK(beside({"dispatch", "dispatch backward "}, back, "experts.gate_up", ahead) == turns);
    CHECK(beside({"dispatch", "combine all_to_all"}, ahead, "attn.qkv", back) == turns);
  }
}

TEST_CASE("in turns, too, experts wait for their tokens and what follows for what experts have made") {
  const WrittenStep step = training_step(in_turns(), kTurnRanks);
  const HappensBefore before(step);
  for (const std::string layer : {"layer 0", "layer 1", "layer 2"}) {
    CAPTURE(layer);
    const std::string ahead = "micro-batch 1, forward, " + layer, back = "micro-batch 0, backward, " + layer;
    const auto ordered = [&](const std::string& range, const std::string& first_stream,
                             const std::string& first, const std::string& then_stream,
                             const std::string& then) {
      return before(place_of(step, first_stream, first, range), place_of(step, then_stream, then, range));
    };
    CHECK(ordered(ahead, "compute", "mlp.router", "dispatch", "dispatch all_to_all"));
    CHECK(ordered(ahead, "dispatch", "dispatch all_to_all", "compute", "experts.gate_up"));
    CHECK(ordered(ahead, "compute", "experts.down", "dispatch", "combine all_to_all"));
    CHECK(ordered(ahead, "dispatch", "combine all_to_all", "compute", "mlp.residual"));
    CHECK(ordered(back, "dispatch", "combine backward ", "compute", "experts.down"));
    CHECK(ordered(back, "compute", "experts.gate_up", "dispatch", "dispatch backward "));
    CHECK(ordered(back, "dispatch", "dispatch backward ", "compute", "mlp.router"));
  }
}

// A layer's activations are released as the other pass keeps those of the next one.
TEST_CASE("in turns the same work is done, with more memory, but not with a micro-batch's more") {
  for (const Recompute recompute : {Recompute::none, Recompute::attention, Recompute::selective}) {
    TrainingSetup setup = in_turns();
    setup.recompute = recompute;
    const WrittenStep turns = training_step(setup, kTurnRanks);
    const WrittenStep whole = training_step(one_after_another(setup), kTurnRanks);
    CHECK(work_of(turns) == work_of(whole));
    CHECK(turns.facts.hardware_flops() == whole.facts.hardware_flops());
    CHECK(turns.facts.model_flops() == whole.facts.model_flops());
    const Bytes more = turns.facts.memory.bytes - whole.facts.memory.bytes;
    TrainingSetup fewer = one_after_another(setup);
    fewer.micro_batch /= 2;
    const Bytes half = whole.facts.memory.bytes - training_step(fewer, kTurnRanks).facts.memory.bytes;
    CHECK(more > Bytes{});
    CHECK(more < 2.0 * half);
    CHECK(held_by_optimizer(setup) == held_by_optimizer(one_after_another(setup)));
  }
}

TEST_CASE("in turns weights are cast, and layers are offloaded, as often") {
  TrainingSetup setup = in_turns();
  const auto recipe = std::ranges::find_if(
      kPrecisionRecipes, [](PrecisionRecipe candidate) { return candidate->dtype.has_value(); });
  setup.precision.recipe = *recipe;
  CHECK(work_of(training_step(setup, kTurnRanks)) ==
        work_of(training_step(one_after_another(setup), kTurnRanks)));
  setup = in_turns();
  setup.offload.layers = 2;
  CHECK(work_of(training_step(setup, kTurnRanks)) ==
        work_of(training_step(one_after_another(setup), kTurnRanks)));
}

TEST_CASE(
    "a schedule for turns has one forward pass more before the first backward pass, and no longer bubble") {
  for (const auto& [kind, stages, chunks] : {std::tuple{ScheduleKind::one_f_one_b, 1, 1},
                                             {ScheduleKind::interleaved, 2, 2},
                                             {ScheduleKind::interleaved, 4, 3}}) {
    PipelineShape shape{.stages = stages, .micro_batches = 3 * stages, .chunks = chunks, .group = stages};
    const PipelineSchedule usual = make_schedule(kind, shape);
    shape.ahead = 1;
    const PipelineSchedule turns = make_schedule(kind, shape);
    for (std::size_t stage = 0; stage < turns.tasks.size(); ++stage) {
      const auto first_backward = [&](const PipelineSchedule& schedule) {
        const auto& tasks = schedule.tasks[stage];
        return std::ranges::find(tasks, PipelinePass::backward, &PipelineTask::pass) - tasks.begin();
      };
      CHECK(first_backward(turns) == first_backward(usual) + 1);
      CHECK(turns.tasks[stage].size() == usual.tasks[stage].size());
    }
    CHECK(!flaw_of(turns, shape.micro_batches, {"a", "b", "c", "d"}));
    const PassTimes times{1.0_s, 2.0_s, 0.0_s, 0.0_s};
    CHECK(play(turns, times).time.value == near(play(usual, times).time.value, 1e-12));
  }
}

TEST_CASE("no stage waits for another for ever") {
  for (const int stages : {2, 4}) {
    for (const ScheduleKind schedule : {ScheduleKind::interleaved, ScheduleKind::dualpipe}) {
      for (const PipelineMessages messages :
           {PipelineMessages::overlapped, PipelineMessages::steady, PipelineMessages::batched}) {
        CAPTURE(stages);
        CAPTURE(name_of(schedule));
        CAPTURE(name_of(messages));
        TrainingSetup setup = staged(stages, schedule, 2 * stages);
        setup.pipeline.messages = messages;
        if (!broken_pipeline_rules(setup, 4 * stages).empty()) continue;
        const WrittenStep step = training_step(setup, 4 * stages);
        CHECK(waiting_cycle(step.program, Strategy{}, 4 * stages, nullptr).empty());
        const WrittenStep whole = training_step(one_after_another(setup), 4 * stages);
        CHECK(step.facts.model_flops() == whole.facts.model_flops());
        if (messages == PipelineMessages::overlapped)
          CHECK(waits_for_messages(step, 0) == waits_for_messages(whole, 0));
      }
    }
  }
}

TEST_CASE("a step in turns hides tokens that one after another shows") {
  for (const int stages : {1, 2}) {
    TrainingSetup setup = stages == 1 ? in_turns(4, 6) : staged(stages, ScheduleKind::interleaved, 4);
    setup.micro_batch = 16;
    Strategy strategy{.name = "default", .order = {}, .streams = {}};
    strategy.streams["dispatch"].backend = Backend::dma;
    const auto simulated = [&](const TrainingSetup& simulated_setup) {
      return run_once(fluid_step(simulated_setup, kTurnRanks, true), strategy, {});
    };
    const RunResult turns = simulated(setup), whole = simulated(one_after_another(setup));
    CHECK(turns.time < whole.time);
  }
}

TEST_CASE("a step in turns of many micro-batches is found from one of few") {
  for (const int stages : {1, 2}) {
    const TrainingSetup setup = stages == 1 ? in_turns(3, 12) : staged(stages, ScheduleKind::interleaved, 12);
    const Strategy strategy{.name = "default", .order = {}, .streams = {}};
    const RunResult whole = run_step(fluid_step(setup, kTurnRanks, true), strategy, {});
    const RunResult found = run_step(fluid_step(setup, kTurnRanks, false), strategy, {});
    CHECK(found.flows < whole.flows);
    CHECK(found.time.value == near(whole.time.value, 2e-3));
  }
}

TEST_CASE("turns are refused where passes cannot take them") {
  const auto refused = [](auto change, int ranks = kTurnRanks) {
    TrainingSetup setup = in_turns();
    change(setup);
    return refusal_of(setup, ranks);
  };
  CHECK(refused([](TrainingSetup& setup) { setup.experts.ranks = 1; }) ==
        "micro_batch_overlap: requires expert_parallel > 1 (it is 1)");
  CHECK(refused([](TrainingSetup& setup) { setup.micro_batches = 1; }) ==
        "micro_batch_overlap: requires more than one micro-batch in a step");
  CHECK(refused([](TrainingSetup& setup) { setup.recompute = Recompute::full; }) ==
        "micro_batch_overlap: cannot be combined with recompute = \"full\", which sends tokens again");
  CHECK(refused([](TrainingSetup& setup) { setup.graphs = StepGraphs::layers; }) ==
        "micro_batch_overlap: cannot be combined with graphs = \"layers\": layers of two passes run in turns");
  CHECK(refused([](TrainingSetup& setup) {
          setup.model.experts->shared_width = 160;
          setup.experts.shared_overlap = true;
        }) == "micro_batch_overlap: cannot be combined with shared_expert_overlap, which fills the same time");
  CHECK(
      refusal_of(staged(2, ScheduleKind::one_f_one_b, 4)) ==
      "micro_batch_overlap: requires schedule = \"interleaved\" or \"dualpipe\" (it is \"1f1b\"), or pipeline "
      "= 1: else stages would wait for each other");
  CHECK(refusal_of(in_turns()).empty());
}

}  // namespace c3::training_turns_test
