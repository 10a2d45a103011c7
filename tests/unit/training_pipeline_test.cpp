// Pipelines: what each stage computes, sends and reduces, in which order, and that none waits for ever.

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "tests/support/print_units.hpp"
#include "tests/unit/training_experiments.hpp"
#include "tests/unit/training_pipelines.hpp"
#include "workloads/analysis/shorter_steps.hpp"
#include "workloads/execute/waiting_cycle.hpp"
#include "workloads/program/check_messages.hpp"
#include "workloads/training/pipeline_rules.hpp"
#include "workloads/training/stage_layers.hpp"

namespace c3::training_pipeline_test {

using namespace test;

namespace {

/// How many kernels of each name a script has, over all of \p stages.
std::map<std::string, int> kernels_of(const WrittenStep& step) {
  std::map<std::string, int> counts;
  for (const Script& script : step.program.scripts)
    for (const Operation& operation : script.streams[*step.program.stream_named("compute")])
      if (kernel_of(operation) != nullptr) ++counts[step.program.name_of(operation)];
  return counts;
}

Bytes reduced_by(const WrittenStep& step, std::size_t stage) {
  Bytes sum;
  for (const Operation& operation : stream_of(step, stage, "gradients"))
    if (const CollectiveCall* call = step.program.call_of(operation)) sum += call->bytes;
  return sum;
}

}  // namespace

TEST_CASE(
    "stages are neighbours in the slowest dimension, each with its layers, the ends with embedding and head") {
  const WrittenStep step = training_step(pipelined(llama_setup(4), 2, 2), 8);
  REQUIRE(step.program.scripts.size() == 2);
  CHECK(step.program.ranks == std::vector<RankSpan>{{0, 4, 0}, {4, 8, 1}});
  CHECK(step.program.names[step.program.scripts[1].name] == "stage 1");
  std::vector<std::string> forward;
  for (const Operation& operation : stream_of(step, 1, "compute")) {
    const std::string& range = step.program.range_of(operation);
    if (range.starts_with("micro-batch 0, forward") && (forward.empty() || forward.back() != range))
      forward.push_back(range);
  }
  CHECK(forward == std::vector<std::string>{"micro-batch 0, forward, layer 2",
                                            "micro-batch 0, forward, layer 3", "micro-batch 0, forward, head"});
  CHECK(step.facts.tokens == 2 * 2 * 128 * 4);  // of four data-parallel ranks
}

TEST_CASE("all stages together run the kernels of one rank without a pipeline") {
  for (const ScheduleKind schedule : {ScheduleKind::gpipe, ScheduleKind::one_f_one_b, ScheduleKind::interleaved,
                                      ScheduleKind::zb_h1, ScheduleKind::zb_v}) {
    CAPTURE(name_of(schedule));
    TrainingSetup setup = pipelined(llama_setup(8), 2, 4, schedule);
    setup.framework.clips_gradients = false;  // the root's norm is of both ends
    auto pipeline = kernels_of(training_step(setup, 2));
    setup.pipeline = {};
    auto whole = kernels_of(training_step(setup, 1));
    pipeline.erase("adam");  // two roots
    whole.erase("adam");
    for (auto* counts : {&pipeline, &whole})
      std::erase_if(*counts, [](const auto& count) { return count.first.starts_with("root"); });
    CHECK(pipeline == whole);
  }
}

TEST_CASE("a boundary's activations are 2 s b h bytes, over tensor-parallel ranks with sequence parallelism") {
  TrainingSetup setup = pipelined(llama_setup(4), 2, 3);
  const Bytes message{2.0 * 128 * 2 * 512};
  CHECK(sent_by(training_step(setup, 2), 0, "pipeline") == 3.0 * message);  // activations
  CHECK(sent_by(training_step(setup, 2), 1, "pipeline") == 3.0 * message);  // gradients
  setup.tensor_parallel = 4;
  CHECK(sent_by(training_step(setup, 8), 0, "pipeline") == 3.0 * message);
  setup.sequence_parallel = true;
  CHECK(sent_by(training_step(setup, 8), 0, "pipeline") == 3.0 * message / 4.0);
  // Interleaved, v times as often: all stages but the last of the last chunk send.
  TrainingSetup interleaved = pipelined(llama_setup(8), 2, 4, ScheduleKind::interleaved);
  const WrittenStep step = training_step(interleaved, 2);
  CHECK(sent_by(step, 0, "pipeline") == 4.0 * 2.0 * message);
  CHECK(sent_by(step, 1, "pipeline") == 4.0 * message);
  CHECK(sent_by(step, 1, "pipeline gradients") == 4.0 * 2.0 * message);
}

TEST_CASE("1F1B sends and receives in Megatron-Core's order, in one launch") {
  const WrittenStep step = training_step(pipelined(llama_setup(4), 2, 3), 2);
  CHECK(exchanges_of(step, 0, "pipeline") ==
        std::vector<std::string>{"F0 to stage 1", "F1 to stage 1, B0 from stage 1",
                                 "F2 to stage 1, B1 from stage 1", "B2 from stage 1"});
  CHECK(exchanges_of(step, 1, "pipeline") ==
        std::vector<std::string>{"F0 from stage 0", "B0 to stage 0, F1 from stage 0",
                                 "B1 to stage 0, F2 from stage 0", "B2 to stage 0"});
}

TEST_CASE("no schedule waits for ever, however small the buffers, in one launch or overlapped") {
  const Strategy strategy;
  int programs = 0;
  for (const auto& [name, kind] : kEnumNames<ScheduleKind>) {
    if (kind == ScheduleKind::table) continue;
    for (const int stages : {2, 3, 4}) {
      for (const std::int64_t micro_batches : {stages, 2 * stages + 1, 3 * stages}) {
        for (const PipelineMessages messages : {PipelineMessages::batched, PipelineMessages::overlapped}) {
          TrainingSetup setup = pipelined(llama_setup(2 * stages), stages, micro_batches, kind);
          setup.pipeline.messages = messages;
          if (!broken_pipeline_rules(setup, stages).empty()) continue;
          CAPTURE(name);
          CAPTURE(stages);
          CAPTURE(micro_batches);
          CAPTURE(name_of(messages));
          for (const int queues : {1, 8}) {
            setup.framework.hardware_queues = queues;
            const WrittenStep step = training_step(setup, stages);
            CHECK_NOTHROW(check_messages(step.program, stages));
            CAPTURE(queues);
            const auto circle = waiting_cycle(step.program, strategy, stages, nullptr);
            CAPTURE(text_of(circle, step.program));
            CHECK(circle.empty());
            ++programs;
          }
        }
      }
    }
  }
  CHECK(programs > 80);
}

TEST_CASE("a stage reduces its own gradients over data-parallel ranks, once, after its last backward pass") {
  const double layer = 512 * 512 * 3 + 3 * 512 * 1536 + 2 * 512;
  for (const ScheduleKind schedule :
       {ScheduleKind::one_f_one_b, ScheduleKind::interleaved, ScheduleKind::zb_h1}) {
    const WrittenStep step = training_step(pipelined(llama_setup(4), 2, 2, schedule), 8);
    CHECK(reduced_by(step, 0) == Bytes{4.0 * (2 * layer + 1000 * 512)});
    CHECK(reduced_by(step, 1) == Bytes{4.0 * (2 * layer + 1000 * 512 + 512)});
    for (std::size_t stage = 0; stage < 2; ++stage)
      for (const Operation& operation : stream_of(step, stage, "gradients"))
        if (const CollectiveCall* call = step.program.call_of(operation)) {
          CHECK(call->groups == RankGroups{.size = 4, .stride = 1});
          CHECK(step.program.range_of(operation).starts_with("micro-batch 1, "));
        }
  }
}

TEST_CASE("a stage sends its last gradients of activations before it waits for sums of its own gradients") {
  for (const bool in_place : {false, true}) {
    CAPTURE(in_place);
    TrainingSetup setup = pipelined(llama_setup(4), 2, 2);
    setup.framework.in_place_reduction = in_place;
    const WrittenStep step = training_step(setup, 8);
    const HappensBefore before(step, 1);
    std::vector<OperationPlace> sums, exchanges;
    for (std::size_t stream = 0; stream < step.program.streams.size(); ++stream) {
      const std::vector<Operation>& operations = step.program.scripts[1].streams[stream];
      for (std::size_t i = 0; i < operations.size(); ++i) {
        if (step.program.call_of(operations[i]) != nullptr) sums.push_back({stream, i});
        if (std::holds_alternative<Exchange>(operations[i].work)) exchanges.push_back({stream, i});
      }
    }
    REQUIRE(!sums.empty());
    REQUIRE(!exchanges.empty());
    for (const OperationPlace& sum : sums)
      CHECK_FALSE(before(sum, exchanges.back()));
  }
}

TEST_CASE("stages that reduce in place begin a chunk together: later by a micro-batch for each stage before") {
  // Four stages of two chunks, eight micro-batches in groups of four: the second chunk is done when the first
  // one still has its last four micro-batches before it. What is due after the last pass, or by buckets, goes
  // there.
  TrainingSetup setup = pipelined(llama_setup(8), 4, 8, ScheduleKind::interleaved);
  setup.sharding = Sharding::optimizer;
  setup.framework.in_place_reduction = true;
  const WrittenStep step = training_step(setup, 8);
  const double layer = 512 * 512 * 3 + 3 * 512 * 1536 + 2 * 512;
  const std::vector<std::string> second_chunk{"micro-batch 7", "micro-batch 4", "micro-batch 5",
                                              "micro-batch 6"};
  for (std::size_t stage = 0; stage < 4; ++stage) {
    CAPTURE(stage);
    std::vector<std::string> at;
    std::vector<double> bytes;
    for (const Operation& operation : stream_of(step, stage, "gradients")) {
      const CollectiveCall* call = step.program.call_of(operation);
      if (call == nullptr) continue;
      const std::string& range = step.program.range_of(operation);
      at.push_back(range.substr(0, range.find(',')));
      bytes.push_back(call->bytes.value / 4.0);
    }
    REQUIRE(at.size() >= 2);
    CHECK(at.front() == second_chunk[stage]);
    CHECK(bytes.front() == layer + (stage == 3 ? 1000 * 512 + 512 : 0));  // with the head
    CHECK(at.back() == "micro-batch 7");
    if (stage > 0) CHECK(at.size() == 2);
    CHECK(reduced_by(step, stage).value / 4.0 ==
          2 * layer + (stage == 0 || stage == 3 ? 1000 * 512 : 0) + (stage == 3 ? 512 : 0));
  }
}

TEST_CASE("tied word tables are on both ends, which exchange their gradients") {
  TrainingSetup setup = pipelined(gpt_setup(4), 2, 2);
  setup.tensor_parallel = 2;
  const WrittenStep step = training_step(setup, 4);
  const Bytes table{2.0 * 1024 * 512 / 2};  // fp16 gradients, half of the words
  CHECK(sent_by(step, 0, "embedding") == table);
  CHECK(sent_by(step, 1, "embedding") == table);
  setup.model.tied_embedding = false;
  CHECK(sent_by(training_step(setup, 4), 0, "embedding") == Bytes{});
  // Both are on stage 0 in a V.
  TrainingSetup vee = pipelined(gpt_setup(4), 2, 3, ScheduleKind::zb_v);
  CHECK(sent_by(training_step(vee, 2), 0, "embedding") == Bytes{});
}

TEST_CASE("DualPipe has the layers of two stages on each, and adds the gradients of the stage opposite") {
  TrainingSetup setup = pipelined(llama_setup(8), 4, 8, ScheduleKind::dualpipe);
  const auto chunks = stage_layers(setup.pipeline, 8);
  for (std::size_t stage = 0; stage < 4; ++stage) {
    REQUIRE(chunks[stage].size() == 2);
    CHECK(chunks[stage][0] == chunks[3 - stage][1]);
  }
  CHECK(chunks[0][0].embedding);
  CHECK(chunks[0][1].head);
  const WrittenStep step = training_step(setup, 8);
  // Half of the micro-batches from either end, each once over every boundary, forward and back.
  const Bytes message{2.0 * 128 * 2 * 512};
  for (const std::size_t stage : {0, 3}) {
    CHECK(sent_by(step, stage, "pipeline") == 4.0 * message);
    CHECK(sent_by(step, stage, "pipeline gradients") == 4.0 * message);
  }
  CHECK(sent_by(step, 1, "pipeline") == 8.0 * message);
  // All that a stage has, in fp32: two pairs of layers, and on the ends two word tables and a norm.
  const double layers = 4.0 * (3.0 * 512 * 512 + 3.0 * 512 * 1536 + 2.0 * 512);
  CHECK(sent_by(step, 1, "opposite stages") == Bytes{4.0 * layers});
  CHECK(sent_by(step, 0, "opposite stages") == Bytes{4.0 * (layers + 2.0 * 1000 * 512 + 512)});
  CHECK(reduced_by(step, 1) == sent_by(step, 1, "opposite stages"));
  setup.sharding = Sharding::optimizer;  // then what this rank updates
  CHECK(sent_by(training_step(setup, 8), 1, "opposite stages") == Bytes{4.0 * layers / 2.0});
  CHECK(waiting_cycle(step.program, Strategy{}, 8, nullptr).empty());
}

TEST_CASE("every size of a step from which its time may follow is one that its schedule allows") {
  for (const ScheduleKind schedule : {ScheduleKind::gpipe, ScheduleKind::one_f_one_b, ScheduleKind::interleaved,
                                      ScheduleKind::zb_h1, ScheduleKind::zb_v, ScheduleKind::dualpipe}) {
    CAPTURE(name_of(schedule));
    const Experiment step = fluid_step(pipelined(llama_setup(8), 4, 40, schedule), 8, false);
    const Sizes sizes = micro_batches_of(*step.family);
    REQUIRE(sizes.is_shortened());
    for (const std::int64_t micro_batches : {sizes.of[0], sizes.of[1], sizes.of[2], sizes.larger().of[2]})
      CHECK_NOTHROW(step.family->at({8, micro_batches})->check(step.cluster));
  }
}

TEST_CASE("stages keep activations of as many micro-batches as 1F1B leaves in flight") {
  // With GPipe each micro-batch adds the same; with 1F1B the first stage keeps four, however many there are.
  const auto peak = [](ScheduleKind schedule, std::int64_t micro_batches) {
    TrainingSetup setup = pipelined(llama_setup(12), 4, micro_batches, schedule);
    setup.model.vocabulary = 8;  // the ends hold hardly more than the others
    return training_step(setup, 4).facts.memory.of(MemoryClass::activations);
  };
  const Bytes per_micro_batch = peak(ScheduleKind::gpipe, 9) - peak(ScheduleKind::gpipe, 8);
  CHECK(per_micro_batch > Bytes{});
  CHECK(peak(ScheduleKind::gpipe, 12) - peak(ScheduleKind::gpipe, 8) == 4.0 * per_micro_batch);
  CHECK(peak(ScheduleKind::one_f_one_b, 12) == peak(ScheduleKind::one_f_one_b, 6));
  // 12 and 4 of them, on unlike stages: the last keeps its head's input as well.
  const Bytes more = peak(ScheduleKind::gpipe, 12) - peak(ScheduleKind::one_f_one_b, 12);
  CHECK(more > 8.0 * per_micro_batch);
  CHECK(more < 9.0 * per_micro_batch);
}

TEST_CASE("a stage updates what it owns, and sums squares along tensor ranks, then along stages") {
  TrainingSetup setup = pipelined(llama_setup(3), 3, 3);
  setup.tensor_parallel = 2;
  const WrittenStep step = training_step(setup, 12);
  const auto adams = [&](std::size_t stage) {
    return std::ranges::count_if(stream_of(step, stage, "compute"), [&](const Operation& operation) {
      return kernel_of(operation) != nullptr && step.program.name_of(operation) == "adam";
    });
  };
  CHECK(adams(0) == 2 * adams(1));  // a layer, and the embedding
  CHECK(adams(2) == 2 * adams(1));
  for (std::size_t stage = 0; stage < 3; ++stage) {
    std::vector<RankGroups> sums;
    for (const Operation& operation : stream_of(step, stage, "norm")) {
      const CollectiveCall* call = step.program.call_of(operation);
      if (call == nullptr) continue;
      CHECK(call->dtype == DType::fp32);
      sums.push_back(call->groups.value());
    }
    CHECK(sums == std::vector<RankGroups>{{.size = 2, .stride = 1}, {.size = 3, .stride = 4}});
  }
}

TEST_CASE("memory is that of the stage of whose memory the allocator can free least") {
  const auto facts = [](std::int64_t vocabulary) {
    TrainingSetup setup = pipelined(llama_setup(12), 4, 8);
    setup.model.vocabulary = vocabulary;
    setup.sequence = 1024;
    return training_step(setup, 4).facts;
  };
  CHECK(facts(8).memory.moment.starts_with("stage 0, "));       // four micro-batches in flight
  CHECK(facts(40'000).memory.moment.starts_with("stage 3, "));  // logits
  CHECK(facts(8).reserved.size() == 4);
}

TEST_CASE(
    "layers are divided evenly, with given ends, with embedding and loss as layers, or as a layout says") {
  const auto counts = [](PipelineSetup pipeline, std::int64_t layers) {
    std::vector<std::vector<std::int64_t>> all;
    for (const auto& stage : stage_layers(pipeline, layers)) {
      std::vector<std::int64_t>& layers_of_chunks = all.emplace_back();
      for (const StageChunk& chunk : stage)
        layers_of_chunks.push_back(chunk.layers);
    }
    return all;
  };
  using Counts = std::vector<std::vector<std::int64_t>>;
  CHECK(counts({.stages = 4}, 8) == Counts{{2}, {2}, {2}, {2}});
  CHECK(counts({.stages = 4, .virtual_stages = 2}, 16) == Counts{{2, 2}, {2, 2}, {2, 2}, {2, 2}});
  CHECK(counts({.stages = 4, .first_layers = 1, .last_layers = 3}, 10) == Counts{{1}, {3}, {3}, {3}});
  // Llama 3 405B: 126 layers and both ends on 16 stages (arXiv 2407.21783, 3.3.2).
  Counts llama(16, {8});
  llama.front() = llama.back() = {7};
  CHECK(counts({.stages = 16, .embedding_in_split = true, .loss_in_split = true}, 126) == llama);
  CHECK(counts({.stages = 2, .layout = "Ett|t*3L"}, 5) == Counts{{2}, {3}});
  CHECK(counts({.stages = 2, .virtual_stages = 2, .layout = "Et|(tt|)*2tL"}, 6) == Counts{{1, 2}, {2, 1}});
  const auto refused = [&](PipelineSetup pipeline, std::int64_t layers) {
    try {
      stage_layers(pipeline, layers);
    } catch (const std::invalid_argument& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  CHECK(refused({.stages = 4}, 10).find("do not divide among 4 stages") != std::string::npos);
  CHECK(refused({.stages = 2, .layout = "Ett|tL"}, 4) == "layout 'Ett|tL' has 3 layers, and the model has 4");
  CHECK(refused({.stages = 2, .layout = "tt|tL"}, 3) == "layout 'tt|tL': lacks E, the embedding");
  CHECK(refused({.stages = 3, .layout = "Et|tL"}, 2) ==
        "layout 'Et|tL' has 2 virtual stages, and pipeline x virtual_stages is 3");
  CHECK(refused({.stages = 2, .layout = "Ex|tL"}, 2).starts_with("layout 'Ex|tL': 'x' is not expected"));
}

}  // namespace c3::training_pipeline_test
