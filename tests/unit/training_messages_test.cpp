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
#include "tests/unit/training_pipelines.hpp"
#include "workloads/analysis/steady_state.hpp"
#include "workloads/execute/waiting_cycle.hpp"
#include "workloads/training/pipeline_rules.hpp"

using namespace c3;
using namespace c3::literals;
using namespace c3::test;

namespace {

struct Timed {
  Seconds time;
  std::map<std::string, Seconds> longest;  ///< by name: of rank 0's activities and the last rank's
};

/// On GPUs of one node whose copy engines move messages, so that these take nothing that products need.
Timed run(const TrainingSetup& setup, int ranks) {
  Experiment experiment;
  experiment.name = "step";
  experiment.cluster = mi300x_like_cluster(ranks);
  experiment.cluster.gpu = mi300x_like_trainer();
  experiment.measure.exact = true;
  experiment.measure.kernel_grain = experiment.measure.vector_grain = KernelGrain::fluid;
  set_training(experiment, setup);
  Strategy strategy{.name = "default", .order = {}, .streams = {}};
  for (const std::string& stream : training_step(setup, ranks).program.streams)
    if (stream.starts_with("pipeline")) strategy.streams[stream].backend = Backend::dma;
  Recording recording;
  RunSetup with;
  with.observer = &recording;
  Timed timed{.time = run_step(experiment, strategy, with).time, .longest = {}};
  for (const Recording::Activity& activity : recording.activities) {
    Seconds& longest = timed.longest[activity.name];
    longest = std::max(longest, activity.end - activity.start);
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
    const std::string its = range.substr(0, range.find(' ', range.find(',') + 2));
    const bool same = its.substr(0, range.rfind(',')) == pass;
    pass = its.substr(0, range.rfind(','));
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
      // As many as the other stage sends.
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
  setup.micro_batch = 32;
  setup.tensor_parallel = 4;
  const Timed whole = run(setup, 8);
  setup.pipeline.scatter_gather = true;
  const Timed parts = run(setup, 8);
  const Seconds saved = whole.longest.at("F0 to stage 1") - parts.longest.at("F0 to stage 1") +
                        whole.longest.at("B0 to stage 0") - parts.longest.at("B0 to stage 0");
  const Seconds gather = parts.longest.at("pipeline all_gather");
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
      // By pass: whether its message has left when the next pass begins.
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
      const std::size_t silent = stage == 0 ? 8 : 0;
      (void)silent;
      if (!steady) CHECK(awaited == 0);
      if (steady) MESSAGE("awaited " << awaited << " of " << 2 * warm_up);
    }
  }
}

TEST_CASE("steady: time") {
  TrainingSetup setup = pipelined(llama_setup(4), 2, 8, ScheduleKind::interleaved);
  setup.pipeline.group = 4;
  setup.micro_batch = 32;
  const Timed overlapped = run(setup, 2);
  setup.pipeline.messages = PipelineMessages::steady;
  const Timed steady = run(setup, 2);
  MESSAGE("difference " << (steady.time - overlapped.time).value << " message "
                        << steady.longest.at("F0.0 to stage 1").value << " ratio "
                        << (steady.time - overlapped.time).value / steady.longest.at("F0.0 to stage 1").value);
  CHECK(steady.time > overlapped.time);
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
    // As many kernels, as many bytes, the root's gradients last.
    const auto kernels = [](const WrittenStep& its) {
      return std::ranges::count_if(stream_of(its, 1, "compute"),
                                   [](const Operation& operation) { return kernel_of(operation) != nullptr; });
    };
    CHECK(kernels(step) == kernels(plain));
    CHECK(step.program.scripts[0] == plain.program.scripts[0]);
    const auto reduced = [](const WrittenStep& its) {
      Bytes sum;
      for (const Operation& operation : stream_of(its, 1, "gradients"))
        if (const CollectiveCall* call = its.program.call_of(operation)) sum += call->bytes;
      return sum;
    };
    CHECK(reduced(step) == reduced(plain));
    CHECK(step.facts.hardware_flops == plain.facts.hardware_flops);
  }
}

TEST_CASE("deferred: the last stage's passes are shorter by the product, which runs while others flush") {
  // The head makes the last stage the slower one, so that each micro-batch saves the product's time; the first
  // stage's last backward pass takes longer than both products.
  TrainingSetup setup = pipelined(llama_setup(8), 2, 2);
  setup.pipeline.layout = "E" + std::string(7, 't') + "|tL";
  setup.micro_batch = 32;
  setup.model.vocabulary = 16'000;
  const Timed plain = run(setup, 2);
  setup.pipeline.deferred_head_gradients = 2;
  const Timed deferred = run(setup, 2);
  MESSAGE("saved " << (plain.time - deferred.time).value << " product "
                   << plain.longest.at("head.logits").value);
}

TEST_CASE("deferred: each micro-batch keeps the head's input and the gradient of its logits until then") {
  const auto peak = [](std::int64_t deferred) {
    TrainingSetup setup = pipelined(llama_setup(4), 2, 8);
    setup.model.vocabulary = 64'000;
    setup.pipeline.deferred_head_gradients = deferred;
    return training_step(setup, 2).facts.memory.bytes;
  };
  const double tokens = 2 * 128;
  CHECK(peak(6) - peak(5) == Bytes{2.0 * tokens * (64'000 + 512)});
  CHECK(peak(8) - peak(6) == Bytes{4.0 * tokens * (64'000 + 512)});
}
