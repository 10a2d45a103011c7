// Configurations of Lightning in YAML. The files are written for these tests.

#include <doctest/doctest.h>

#include <string>

#include "importers/recipes/recipes.hpp"
#include "tests/support/recipe_reading.hpp"

namespace c3::recipes_lightning_test {

using namespace test;

namespace {

const std::string kClass = R"(seed_everything: 1
trainer:
  devices: 8
  num_nodes: 2
  precision: bf16-mixed
  accumulate_grad_batches: 4
  gradient_clip_val: 1.0
  strategy:
    class_path: lightning.pytorch.strategies.FSDPStrategy
    init_args:
      sharding_strategy: SHARD_GRAD_OP
      cpu_offload: false
data:
  init_args:
    batch_size: 2
)";

RecipeReading lightning(const std::string& text) { return reading_of(read_lightning, text); }

}  // namespace

TEST_CASE("Lightning: a strategy's class, nodes and batches") {
  const RecipeReading read = lightning(kClass);
  CHECK(read.taken("training.sharding") == "\"fsdp\"");
  CHECK(read.assumed("training.reshard_after_forward") == "false");
  CHECK(read.taken("nodes") == "2");
  CHECK(read.taken("training.micro_batch") == "2");
  CHECK(read.taken("training.micro_batches") == "4");
  CHECK(read.taken("model.dtype") == "\"bf16\"");
  CHECK(read.taken("framework.clips_gradients") == "true");
  CHECK(read.ignored("trainer.strategy.init_args.cpu_offload") == "off");
  CHECK(read.gives_each_key_once());
  CHECK_NOTHROW(read.load("system = \"h100-sxm-8\"\nmodel.use = \"llama-3-8b\"\ntraining.sequence = 2048\n"));
}

TEST_CASE("Lightning: strategies by their names, and defaults") {
  CHECK(lightning("trainer: {strategy: deepspeed_stage_3}\n").taken("training.sharding") == "\"fsdp\"");
  CHECK(lightning("trainer: {strategy: {class_path: DeepSpeedStrategy, init_args: {stage: 1}}}\n")
            .taken("training.sharding") == "\"zero1\"");
  CHECK(lightning("trainer: {strategy: ddp}\n").taken("training.sharding") == "\"ddp\"");
  const RecipeReading read = lightning("trainer: {precision: transformer-engine, max_steps: 3}\n");
  CHECK(read.taken("training.precision") == "\"fp8_delayed\"");
  CHECK(read.assumed("training.micro_batches") == "1");
  CHECK(read.ignored("trainer.max_steps") == "details of Lightning's loop");
}

TEST_CASE("Lightning: what it does not know is refused with its place") {
  CHECK(has_part(mistakes_of(read_lightning, "trainer:\n  strategy: magic\n"),
                 "recipe:2:13: trainer.strategy: 'magic' is no strategy"));
  CHECK(has_part(mistakes_of(read_lightning,
                             "trainer: {strategy: {class_path: DeepSpeedStrategy, init_args: {stage: 7}}}\n"),
                 "must be 0, 1, 2 or 3"));
}

TEST_CASE("Lightning: files are recognised by their trainer, and changes of one are read or refused") {
  CHECK(name_of_format(kClass) == "lightning");
  read_mutations(read_lightning, kClass);
}

}  // namespace c3::recipes_lightning_test
