// Parameters that are gathered beside forward passes, and groups of ranks that are replicas of each other.

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/support/mi300x_like.hpp"
#include "tests/support/near.hpp"
#include "tests/support/print_units.hpp"
#include "tests/support/recording.hpp"
#include "tests/unit/training_experiments.hpp"
#include "tests/unit/training_pipelines.hpp"
#include "workloads/analysis/steady_state.hpp"

namespace c3::training_gathers_test {

using namespace literals;
using namespace test;

namespace {

constexpr std::int64_t kLayer = 512 * 512 * 3 + 3 * 512 * 1536 + 2 * 512;
constexpr std::int64_t kTable = 1000 * 512;

/// Buckets of a million numbers; parameters, gathered in fp32, are as wide as gradients.
TrainingSetup sharded(std::int64_t layers, ParameterGather gather) {
  TrainingSetup setup = llama_setup(layers);
  setup.sharding = Sharding::optimizer;
  setup.parameter_gather = gather;
  setup.framework.bucket = setup.framework.first_bucket = Bytes{4e6};
  return setup;
}

/// The same in stages of two chunks, four micro-batches in groups of two, reduced in place.
TrainingSetup interleaved(int stages, int chunks, ParameterGather gather) {
  TrainingSetup setup = sharded(static_cast<std::int64_t>(stages) * chunks, gather);
  setup.framework.in_place_reduction = true;
  setup.micro_batches = 2 * stages;
  setup.pipeline.stages = stages;
  setup.pipeline.virtual_stages = chunks;
  setup.pipeline.schedule = ScheduleKind::interleaved;
  setup.pipeline.messages = PipelineMessages::overlapped;
  return setup;
}

struct Gather {
  double numbers;
  std::string range;
};
std::vector<Gather> gathers_of(const WrittenStep& step, std::size_t stage = 0) {
  std::vector<Gather> gathers;
  for (const Operation& operation : stream_of(step, stage, "all_gather"))
    if (const CollectiveCall* call = step.program.call_of(operation))
      gathers.push_back({call->bytes.value / 4.0, step.program.range_of(operation)});
  return gathers;
}

double sum_of(const std::vector<Gather>& gathers) {
  double sum = 0.0;
  for (const Gather& gather : gathers)
    sum += gather.numbers;
  return sum;
}

Strategy on_copy_engines() {
  Strategy strategy{.name = "default", .order = {}, .streams = {}};
  strategy.streams["all_gather"].backend = Backend::dma;
  return strategy;
}

}  // namespace

TEST_CASE("overlapped gathers go in the buckets of gradients, the last of which the forward pass needs first") {
  // Gradients fill buckets of a million from the last layer to the first, then those of both word tables and
  // the last norm (1,024,512), which the forward pass has in front: what is left over is gathered first.
  const WrittenStep step = training_step(sharded(2, ParameterGather::overlapped), 4);
  const std::vector<Gather> gathers = gathers_of(step);
  const double all = 2.0 * kLayer + 2.0 * kTable + 512;
  REQUIRE(gathers.size() == 8);  // 7,318,016 numbers
  CHECK(gathers.front().numbers == all - 7e6);
  for (std::size_t i = 1; i < 8; ++i)
    CHECK(gathers[i].numbers == 1e6);
  // 1,024,512 numbers of the root are in the first two buckets and a third, launched behind the second.
  CHECK(gathers[0].range == "forward, embedding");
  CHECK(gathers[1].range == "forward, embedding");
  CHECK(gathers[2].range == "forward, embedding");
  CHECK(gathers[3].range == "forward, layer 0");
  CHECK(gathers[7].range == "forward, layer 1");
  CHECK(sum_of(gathers) == sum_of(gathers_of(training_step(sharded(2, ParameterGather::after_optimizer), 4))));
}

TEST_CASE("a layer runs when its buckets are there, and the bucket behind them is on its way by then") {
  const WrittenStep step = training_step(sharded(3, ParameterGather::overlapped), 4);
  const HappensBefore before(step);
  const std::vector<Placed> gathers = named(step, "all_gather", "parameters all_gather");
  // The root and k layers are in front of layer k. Bucket 0 has what the others leave over.
  const std::int64_t all = 3 * kLayer + 2 * kTable + 512;
  const std::int64_t first = all % 1'000'000;
  std::int64_t begin = 2 * kTable + 512;
  const std::vector<Placed> norms = named(step, "compute", "attn.norm");
  std::int64_t layer = 0;
  for (const Placed& norm : norms) {
    if (norm.range != "forward, layer " + std::to_string(layer)) continue;
    const auto last = static_cast<std::size_t>((begin + kLayer - 1 - first) / 1'000'000 + 1);
    REQUIRE(last < gathers.size());
    CHECK(before(gathers[last].place, norm.place));
    if (last + 1 < gathers.size()) CHECK_FALSE(before(gathers[last + 1].place, norm.place));
    begin += kLayer;
    ++layer;
  }
  CHECK(layer == 3);
}

TEST_CASE("only the first of several micro-batches waits for parameters, and nothing follows the optimizer") {
  TrainingSetup setup = sharded(2, ParameterGather::overlapped);
  setup.micro_batches = 3;
  const WrittenStep step = training_step(setup, 4);
  CHECK(sum_of(gathers_of(step)) == 2.0 * kLayer + 2.0 * kTable + 512);
  for (const Gather& gather : gathers_of(step))
    CHECK(gather.range.starts_with("micro-batch 0, forward"));
}

TEST_CASE(
    "gathers beside forward passes hide all but the first bucket, and the next one but for the embedding") {
  // A gather on copy engines takes nothing that products need here. Buckets are the layers, and first what they
  // leave over. After the optimizer all of them stand alone. Beside the forward pass the root's bucket does,
  // then layer 0's beside the embedding, which is short, and each other one beside the layer before, which
  // takes longer.
  TrainingSetup setup = sharded(4, ParameterGather::after_optimizer);
  setup.micro_batch = 256;
  setup.model.vocabulary = 64;
  setup.framework.bucket = setup.framework.first_bucket = Bytes{4.0 * kLayer};
  struct Timed {
    double time = 0.0, embedding = 0.0;
    std::vector<double> gathers = {};
  };
  const auto run = [&](ParameterGather gather) {
    setup.parameter_gather = gather;
    Recording recording;
    RunSetup with;
    with.observer = &recording;
    Timed timed{.time = run_step(fluid_step(setup, 4, true), on_copy_engines(), with).time.value};
    for (const Recording::Activity& activity : recording.activities) {
      if (activity.gpu != 0) continue;
      const double lasts = (activity.end - activity.start).value;
      if (activity.kind == ActivityKind::collective && activity.name == "parameters all_gather")
        timed.gathers.push_back(lasts);
      if (activity.kind == ActivityKind::kernel && activity.name == "embedding" && timed.embedding == 0.0)
        timed.embedding = lasts;
    }
    return timed;
  };
  const Timed alone = run(ParameterGather::after_optimizer), beside = run(ParameterGather::overlapped);
  REQUIRE(alone.gathers.size() == 5);
  REQUIRE(beside.gathers.size() == 5);
  const double hidden = beside.gathers[2] + beside.gathers[3] + beside.gathers[4] + beside.embedding;
  CHECK(hidden > 2.0 * beside.gathers[1]);
  CHECK(alone.time - beside.time == near(hidden, 0.05));
}

TEST_CASE("chunks are gathered whole but for the first chunk of the first stage, as they are reduced") {
  const WrittenStep step = training_step(interleaved(2, 2, ParameterGather::overlapped), 4);
  const std::vector<Gather> first = gathers_of(step, 0), last = gathers_of(step, 1);
  // A layer and a word table in four buckets, then a layer.
  REQUIRE(first.size() == 5);
  CHECK(first[0].numbers == kLayer + kTable - 3e6);
  CHECK(first[3].numbers == 1e6);
  CHECK(first[4].numbers == kLayer);
  CHECK(first[4].range == "micro-batch 0, forward, layer 2");
  REQUIRE(last.size() == 2);
  CHECK(last[0].numbers == kLayer);
  CHECK(last[1].numbers == kLayer + kTable + 512);
}

TEST_CASE(
    "aligned gathers: two chunks when the step begins, each other one a chunk ahead on all stages at once") {
  // Four stages, three chunks, groups of four: the first stage enters chunk 1 with its forward pass 4, when
  // stage r is at pass 4 - r, whose micro-batch is 4 - r of chunk 0.
  TrainingSetup setup = interleaved(4, 3, ParameterGather::aligned);
  const WrittenStep step = training_step(setup, 8);
  const std::vector<std::string> at{"micro-batch 0, forward, layer 4", "micro-batch 3, forward, layer 1",
                                    "micro-batch 2, forward, layer 2", "micro-batch 1, forward, layer 3"};
  for (std::size_t stage = 0; stage < 4; ++stage) {
    CAPTURE(stage);
    const std::vector<Gather> gathers = gathers_of(step, stage);
    REQUIRE(gathers.size() == (stage == 0 ? 6 : 3));
    CHECK(gathers[gathers.size() - 2].range == "start");
    // The host launches it in the range of what it launched before, and before the pass itself.
    CHECK(gathers.back().numbers == kLayer + (stage == 3 ? kTable + 512 : 0));
    setup.parameter_gather = ParameterGather::after_optimizer;
    CHECK(sum_of(gathers) == sum_of(gathers_of(training_step(setup, 8), stage)));
    setup.parameter_gather = ParameterGather::aligned;
    CAPTURE(at[stage]);
    const auto& operations = stream_of(step, stage, "compute");
    // On the compute stream an event tells that the gather may go: the next kernel is of the pass named above.
    std::size_t place = 0;
    for (std::size_t i = 0; i < operations.size(); ++i)
      if (std::holds_alternative<RecordEvent>(operations[i].work) &&
          step.program
              .names[step.program.scripts[stage].events[std::get<RecordEvent>(operations[i].work).event]]
              .starts_with("parameters needed"))
        place = i;
    while (kernel_of(operations[place]) == nullptr)
      ++place;
    CHECK(step.program.range_of(operations[place]) == at[stage]);
  }
}

TEST_CASE("shard groups: parameters and gradients move in the group, sums of shards between groups") {
  // Eight ranks, two tensor parallel: four data-parallel ranks, in two groups of two.
  for (const Sharding sharding : {Sharding::optimizer, Sharding::parameters}) {
    CAPTURE(name_of(sharding));
    TrainingSetup setup = llama_setup(2);
    setup.sharding = sharding;
    setup.tensor_parallel = 2;
    const WrittenStep whole = training_step(setup, 8);
    setup.shard_group = 2;
    const WrittenStep step = training_step(setup, 8);
    const bool is_fsdp = sharding == Sharding::parameters;
    const std::string reductions = is_fsdp ? "reduce_scatter" : "gradients",
                      sums = is_fsdp ? "replicas" : "gradients";
    const auto scattered = calls_of(step, reductions, CollectiveKind::reduce_scatter);
    const auto gathered = calls_of(step, "all_gather", CollectiveKind::all_gather);
    const auto summed = calls_of(step, sums, CollectiveKind::all_reduce);
    REQUIRE(!scattered.empty());
    REQUIRE(summed.size() == scattered.size());
    for (const CollectiveCall& call : scattered)
      CHECK(call.groups == RankGroups{.size = 2, .stride = 2});
    for (const CollectiveCall& call : gathered)
      CHECK(call.groups == RankGroups{.size = 2, .stride = 2});
    for (const CollectiveCall& call : summed)
      CHECK(call.groups == RankGroups{.size = 2, .stride = 4});
    CHECK(bytes_of(summed) == bytes_of(scattered) / 2.0);
    CHECK(bytes_of(gathered) == bytes_of(calls_of(whole, "all_gather", CollectiveKind::all_gather)));
    // Moments of half of the numbers instead of a quarter.
    CHECK(step.facts.memory.of(MemoryClass::optimizer) == 2.0 * whole.facts.memory.of(MemoryClass::optimizer));
    CHECK(step.facts.tokens == whole.facts.tokens);
    setup.shard_group = 4;
    CHECK(training_step(setup, 8).program == whole.program);
  }
}

TEST_CASE("FSDP's sums over replicas run beside the next layer's reduction, and before the optimizer") {
  TrainingSetup setup = llama_setup(3);
  setup.shard_group = 2;
  const WrittenStep step = training_step(setup, 4);
  const HappensBefore before(step);
  std::vector<Placed> reduced, summed;
  for (const Placed& placed : named(step, "reduce_scatter", ""))
    if (placed.name.ends_with("reduce_scatter")) reduced.push_back(placed);
  for (const Placed& placed : named(step, "replicas", ""))
    if (placed.name.ends_with("all_reduce")) summed.push_back(placed);
  const Placed update = named(step, "compute", "adam").front();
  REQUIRE(reduced.size() == 4);
  REQUIRE(summed.size() == 4);
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(before(reduced[i].place, summed[i].place));
    CHECK(before(summed[i].place, update.place));
    if (i + 1 < 4) CHECK_FALSE(before(summed[i].place, reduced[i + 1].place));
  }
}

}  // namespace c3::training_gathers_test
