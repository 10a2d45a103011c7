// Messages between stages that are sent in parts or waited for, and gradients that wait for the last pass.

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "tests/support/mi300x_like.hpp"
#include "tests/support/near.hpp"
#include "tests/support/print_units.hpp"
#include "tests/support/recording.hpp"
#include "tests/unit/training_experiments.hpp"
#include "tests/unit/training_pipelines.hpp"
#include "workloads/analysis/steady_state.hpp"
#include "workloads/execute/waiting_cycle.hpp"
#include "workloads/training/pipeline_rules.hpp"

namespace c3::training_messages_test {

using namespace literals;
using namespace test;

namespace {

struct Timed {
  Seconds time;
  std::map<std::string, Seconds> shortest;  ///< by name: of messages the sender's, for whom the receiver waits
  Seconds last_logits;                      ///< duration of the kernel of this name that began last
};

/// On GPUs of one node whose copy engines move messages, so that these take nothing that products need.
Timed run(const TrainingSetup& setup, int ranks) {
  const Experiment experiment = fluid_step(setup, ranks, true);
  Strategy strategy{.name = "default", .order = {}, .streams = {}};
  for (const std::string& stream : training_step(setup, ranks).program.streams)
    if (stream.starts_with("pipeline")) strategy.streams[stream].backend = Backend::dma;
  Recording recording;
  RunSetup with;
  with.observer = &recording;
  Timed timed{.time = run_step(experiment, strategy, with).time, .shortest = {}, .last_logits = {}};
  for (const Recording::Activity& activity : recording.activities) {
    const Seconds lasts = activity.end - activity.start;
    Seconds& shortest = timed.shortest.try_emplace(activity.name, lasts).first->second;
    shortest = std::min(shortest, lasts);
    if (activity.name == "head.logits") timed.last_logits = activity.end - activity.start;
  }
  return timed;
}

/// Kernels of the compute stream of \p stage: the first of each pass, in order.
std::vector<Placed> passes_of(const WrittenStep& step, std::size_t stage) {
  std::vector<Placed> first;
  const std::size_t stream = *step.program.stream_named("compute");
  const auto& operations = stream_of(step, stage, "compute");
  std::string pass;
  for (std::size_t i = 0; i < operations.size(); ++i) {
    if (kernel_of(operations[i]) == nullptr) continue;
    const std::string& range = step.program.range_of(operations[i]);
    if (!range.starts_with("micro-batch")) continue;
    // "micro-batch 3, forward": one layer each.
    const std::string range_of_pass = range.substr(0, range.find(' ', range.find(',') + 2));
    const bool same = range_of_pass.substr(0, range.rfind(',')) == pass;
    pass = range_of_pass.substr(0, range.rfind(','));
    if (!same) first.push_back({{stream, i}, &operations[i], step.program.name_of(operations[i]), range});
  }
  return first;
}

}  // namespace

TEST_CASE("scatter and gather: each tensor-parallel rank sends its part, and all gather what they received") {
  for (const ScheduleKind schedule :
       {ScheduleKind::one_f_one_b, ScheduleKind::interleaved, ScheduleKind::zb_h1}) {
    CAPTURE(name_of(schedule));
    TrainingSetup setup = pipelined(llama_setup(8), 2, 4, schedule);
    setup.tensor_parallel = 4;
    const WrittenStep whole = training_step(setup, 8);
    setup.pipeline.scatter_gather = true;
    const WrittenStep step = training_step(setup, 8);
    const Bytes tensor{2.0 * 128 * 2 * 512};
    std::size_t messages = 0;
    for (std::size_t stage = 0; stage < 2; ++stage) {
      for (const char* const over : {"pipeline", "pipeline gradients"})
        CHECK(sent_by(step, stage, over) == sent_by(whole, stage, over) / 4.0);
      std::vector<CollectiveCall> gathers;
      for (const Operation& operation : stream_of(step, stage, "pipeline_gather"))
        if (const CollectiveCall* call = step.program.call_of(operation)) gathers.push_back(*call);
      // The gathers have as many bytes as the other stage sends.
      const Bytes received =
          sent_by(whole, 1 - stage, "pipeline") + sent_by(whole, 1 - stage, "pipeline gradients");
      CHECK(bytes_of(gathers) == received);
      for (const CollectiveCall& call : gathers) {
        CHECK(call.kind == CollectiveKind::all_gather);
        CHECK(call.bytes == tensor);
        CHECK(call.groups == RankGroups{.size = 4, .stride = 1});
      }
      messages += gathers.size();
    }
    CHECK(messages > 0);
    CHECK(waiting_cycle(step.program, Strategy{}, 8, nullptr).empty());
  }
}

TEST_CASE(
    "of one micro-batch two messages are in the step's way: parts take so much less, and two gathers more") {
  TrainingSetup setup = pipelined(llama_setup(2), 2, 1);
  setup.micro_batch = 256;
  setup.tensor_parallel = 4;
  const Timed whole = run(setup, 8);
  setup.pipeline.scatter_gather = true;
  const Timed parts = run(setup, 8);
  const Seconds saved = whole.shortest.at("pipeline 0 to 4") - parts.shortest.at("pipeline 0 to 4") +
                        whole.shortest.at("pipeline 4 to 0") - parts.shortest.at("pipeline 4 to 0");
  const Seconds gather = parts.shortest.at("pipeline all_gather");
  CHECK(saved > Seconds{});
  CHECK((whole.time - parts.time).value == near((saved - 2.0 * gather).value, 0.02));
}

TEST_CASE("steady: in warm-up and flush, and only there, a pass waits for what the one before it sends") {
  // Stage r of p = 4 with v = 2 chunks and groups of G = 4 warms up for 2 (p - r - 1) + (v - 1) G passes, and
  // flushes as many.
  TrainingSetup setup = pipelined(llama_setup(8), 4, 8, ScheduleKind::interleaved);
  for (const bool steady : {false, true}) {
    CAPTURE(steady);
    if (steady) setup.pipeline.messages = PipelineMessages::steady;
    const WrittenStep step = training_step(setup, 4);
    CHECK(waiting_cycle(step.program, Strategy{}, 4, nullptr).empty());
    for (std::size_t stage = 0; stage < 4; ++stage) {
      CAPTURE(stage);
      const HappensBefore before(step, stage);
      const std::vector<Placed> passes = passes_of(step, stage);
      REQUIRE(passes.size() == 32);
      // Whether each pass' message has left when the next pass begins.
      std::size_t awaited = 0, sent = 0;
      std::vector<bool> waits(passes.size());
      for (std::size_t stream = 0; stream < step.program.streams.size(); ++stream) {
        const auto& operations = step.program.scripts[stage].streams[stream];
        for (std::size_t i = 0; i < operations.size(); ++i) {
          const auto* exchange = std::get_if<Exchange>(&operations[i].work);
          if (exchange == nullptr || !exchange->messages.front().sends) continue;
          ++sent;
          // It follows the last kernel of its pass: the first pass that does not come before it is the next
          // one.
          const auto next = std::ranges::find_if(passes, [&](const Placed& pass) {
            return !before(pass.place, {stream, i});
          });
          if (next == passes.end()) continue;
          if (before({stream, i}, next->place)) ++awaited;
        }
      }
      const std::size_t warm_up = 2 * (4 - stage - 1) + 4;
      // The last stage sends nothing of its last chunk, the first stage no gradients of its first chunk.
      CHECK(sent == (stage == 0 || stage == 3 ? 24 : 32));
      // Silent in its flush: six of stage 0's passes, of its first chunk; of each other stage the last one,
      // behind which there is none.
      const std::size_t silent = stage == 0 ? 6 : 1;
      CHECK(awaited == (steady ? 2 * warm_up - silent : 0));
    }
  }
}

TEST_CASE("steady: four to seven messages of two stages are in the step's way that overlapped ones hide") {
  // Two stages of two chunks, groups of four. The first stage's pass 4 is the one for whose output the other
  // one's first backward pass waits: four sends of the passes before it come first. Three of the last stage's
  // four backward passes in the flush wait for a send, as far as nothing else held them up before.
  TrainingSetup setup = pipelined(llama_setup(4), 2, 8, ScheduleKind::interleaved);
  setup.pipeline.group = 4;
  setup.micro_batch = 32;
  const Timed overlapped = run(setup, 2);
  setup.pipeline.messages = PipelineMessages::steady;
  const Timed steady = run(setup, 2);
  const double message = steady.shortest.at("pipeline 0 to 1").value;
  const double more = (steady.time - overlapped.time).value;
  CHECK(more > 4.0 * message);
  CHECK(more < 7.0 * message);
}

TEST_CASE(
    "deferred: the head's gradients of weights are made after the last pass, of the first micro-batches") {
  for (const std::int64_t deferred : {1, 2, 3, 9}) {
    CAPTURE(deferred);
    TrainingSetup setup = pipelined(llama_setup(4), 2, 3);
    const auto plain = training_step(setup, 4);
    setup.pipeline.deferred_head_gradients = deferred;
    const WrittenStep step = training_step(setup, 4);
    std::vector<std::string> ranges;
    std::size_t products = 0;
    for (const Operation& operation : stream_of(step, 1, "compute")) {
      if (kernel_of(operation) == nullptr || !step.program.name_of(operation).starts_with("head.logits"))
        continue;
      if (++products > 1 && step.program.range_of(operation).find("deferred") != std::string::npos)
        ranges.push_back(step.program.range_of(operation));
    }
    CHECK(ranges.size() == static_cast<std::size_t>(std::min<std::int64_t>(deferred, 3)));
    for (const std::string& range : ranges)
      CHECK(range.starts_with("micro-batch 2, deferred"));
    // There are as many kernels and as many bytes; the root's gradients come last.
    const auto kernels = [](const WrittenStep& written) {
      return std::ranges::count_if(stream_of(written, 1, "compute"),
                                   [](const Operation& operation) { return kernel_of(operation) != nullptr; });
    };
    CHECK(kernels(step) == kernels(plain));
    CHECK(step.program.scripts[0] == plain.program.scripts[0]);
    const auto reduced = [](const WrittenStep& written) {
      Bytes sum;
      for (const Operation& operation : stream_of(written, 1, "gradients"))
        if (const CollectiveCall* call = written.program.call_of(operation)) sum += call->bytes;
      return sum;
    };
    CHECK(reduced(step) == reduced(plain));
    CHECK(step.facts.hardware_flops() == plain.facts.hardware_flops());
  }
}

TEST_CASE("deferred: the last stage's passes are shorter by the product, which runs while others flush") {
  // Two equal stages, the last one with the head, so that it is the slower one: each of two micro-batches is
  // done sooner by the product, and the first stage's last backward pass takes longer than both products.
  TrainingSetup setup = pipelined(llama_setup(8), 2, 2);
  setup.micro_batch = 64;
  setup.model.vocabulary = 4000;
  const Timed plain = run(setup, 2);
  setup.pipeline.deferred_head_gradients = 2;
  const Timed deferred = run(setup, 2);
  // The last kernels of that name are the products, a micro-batch each.
  const double product = deferred.last_logits.value;
  CHECK(product > 0.0);
  CHECK((plain.time - deferred.time).value == near(2.0 * product, 0.05));
}

TEST_CASE("deferred: each micro-batch keeps its logits' gradient and what the product reads until then") {
  const auto peak = [](std::int64_t deferred) {
    TrainingSetup setup = pipelined(llama_setup(4), 2, 8);
    setup.framework.master_copy = true;  // no copies of parameters for each micro-batch
    setup.model.vocabulary = 64'000;
    setup.pipeline.deferred_head_gradients = deferred;
    return training_step(setup, 2).facts.memory.bytes.value;
  };
  const double tokens = 2 * 128;
  CHECK(peak(6) - peak(5) == 2.0 * tokens * (64'000 + 512));
  CHECK(peak(7) - peak(5) == 4.0 * tokens * (64'000 + 512));
}

}  // namespace c3::training_messages_test
