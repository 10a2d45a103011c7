// Configurations of DeepSpeed in JSON. The files are written for these tests.

#include <doctest/doctest.h>

#include <string>

#include "importers/recipes/recipes.hpp"
#include "tests/support/recipe_reading.hpp"

namespace c3::recipes_deepspeed_test {

using namespace test;

namespace {

const std::string kSharded = R"({
  "train_micro_batch_size_per_gpu": 2,
  "gradient_accumulation_steps": 4,
  "bf16": { "enabled": true },
  "zero_optimization": {
    "stage": 2,
    "overlap_comm": true,
    "reduce_bucket_size": 2e8,
    "allgather_bucket_size": 2e8,
    "offload_optimizer": { "device": "cpu", "pin_memory": true }
  },
  "optimizer": { "type": "AdamW", "params": { "lr": 1e-4 } },
  "gradient_clipping": 0.0,
  "steps_per_print": 10
})";

RecipeReading zero(const std::string& text) { return reading_of(read_deepspeed, text); }

std::string zero_mistakes(const std::string& text) { return mistakes_of(read_deepspeed, text); }

std::string with_zero(const std::string& keys) {
  return "{\"train_micro_batch_size_per_gpu\": 1, \"fp16\": {\"enabled\": true}, \"zero_optimization\": {" +
         keys + "}}";
}

}  // namespace

TEST_CASE("DeepSpeed: stages, buckets, types and what is offloaded") {
  const RecipeReading read = zero(kSharded);
  CHECK(read.taken("training.sharding") == "\"zero2\"");
  CHECK(read.taken("training.micro_batch") == "2");
  CHECK(read.taken("training.micro_batches") == "4");
  CHECK(read.taken("model.dtype") == "\"bf16\"");
  CHECK(read.taken("framework.bucket") == "\"400000000 B\"");
  CHECK(read.taken("framework.overlaps_gradients") == "true");
  CHECK(read.taken("training.offload_optimizer") == "1.0");
  CHECK(read.taken("framework.clips_gradients") == "false");
  CHECK(read.taken("training.optimizer") == "\"adam\"");
  CHECK(read.assumed("framework.master_copy") == "true");
  CHECK(read.assumed("framework.gradient_dtype") == "\"bf16\"");
  CHECK(read.ignored("optimizer.params.lr") == "numbers of the optimizer");
  CHECK(read.gives_each_key_once());
  CHECK_NOTHROW(
      read.load("system = \"a100-sxm-80gb-8\"\nmodel.use = \"llama-3-8b\"\ntraining.sequence = 2048\n"));
}

TEST_CASE("DeepSpeed: what a file leaves out has DeepSpeed's defaults") {
  const RecipeReading read = zero("{\"train_micro_batch_size_per_gpu\": 1}");
  CHECK(read.assumed("training.sharding") == "\"ddp\"");
  CHECK(read.assumed("training.micro_batches") == "1");
  CHECK(read.assumed("model.dtype") == "\"fp32\"");
  CHECK(read.assumed("framework.bucket") == "\"2000000000 B\"");
  CHECK(read.assumed("framework.clips_gradients") == "true");
  CHECK(zero(with_zero("\"stage\": 3")).value("framework.bucket").empty());
  CHECK(
      zero("{\"train_micro_batch_size_per_gpu\": 1, \"zero_optimization\": true}").taken("training.sharding") ==
      "\"zero1\"");
}

TEST_CASE("DeepSpeed: batches say how many ranks there are, or a rule is broken") {
  const RecipeReading read = zero(
      R"({"train_batch_size": 256, "train_micro_batch_size_per_gpu": 4, "gradient_accumulation_steps": 8})");
  CHECK(read.taken("training.global_batch") == "256");
  CHECK(read.has_fact("8 data-parallel ranks"));
  CHECK(has_part(zero_mistakes(R"({"train_batch_size": 100, "train_micro_batch_size_per_gpu": 8})"),
                 "is no multiple of 8 sequences"));
  CHECK(
      has_part(zero_mistakes(R"({"zero_optimization": {"stage": 1}})"), "must be given, or train_batch_size"));
}

TEST_CASE("DeepSpeed: auto is what the program fills in") {
  const RecipeReading read = zero(
      R"({"train_micro_batch_size_per_gpu": "auto", "bf16": {"enabled": "auto"}, "zero_optimization": {"stage": 3}})");
  CHECK(has_part(read.ignored("train_micro_batch_size_per_gpu"),
                 "auto, which depends on the run; give training.micro_batch yourself"));
  CHECK(has_part(read.ignored("bf16.enabled"), "give model.dtype yourself"));
  CHECK(read.value("model.dtype").empty());
  CHECK(read.taken("training.sharding") == "\"fsdp\"");
}

TEST_CASE("DeepSpeed: what has no word here is not modelled") {
  const RecipeReading read =
      zero(with_zero(R"("stage": 3, "offload_param": {"device": "cpu"}, "zero_hpz_partition_size": 8,
    "zero_quantized_weights": true, "stage3_prefetch_bucket_size": 5e7, "mics_shard_size": -1)"));
  CHECK(has_part(read.ignored("zero_optimization.offload_param.device"), "not modelled"));
  CHECK(has_part(read.ignored("zero_optimization.zero_hpz_partition_size"), "not modelled"));
  CHECK(has_part(read.ignored("zero_optimization.zero_quantized_weights"), "not modelled"));
  CHECK(read.whole().unmodelled.size() == 1);
  CHECK(zero(with_zero("\"stage\": 3, \"mics_shard_size\": 8")).taken("training.shard_group") == "8");
  CHECK(has_part(
      zero(R"({"train_micro_batch_size_per_gpu": 1, "zero_optimisation": 1})").ignored("zero_optimisation"),
      "did you mean zero_optimization?"));
}

TEST_CASE("DeepSpeed: what it refuses itself is refused with its place") {
  CHECK(has_part(zero_mistakes(with_zero("\"stage\": 4")), "must be 0, 1, 2 or 3"));
  CHECK(has_part(zero_mistakes(with_zero("\"stage\": 2, \"offload_param\": {\"device\": \"cpu\"}")),
                 "requires stage 3"));
  CHECK(has_part(
      zero_mistakes(with_zero("\"stage\": 1, \"offload_optimizer\": {\"device\": \"cpu\", \"ratio\": 0.5}")),
      "below 1 requires stage 3"));
  CHECK(has_part(
      zero_mistakes(R"({"train_batch_size": 8, "bf16": {"enabled": true}, "fp16": {"enabled": true}})"),
      "cannot be combined with bf16"));
  CHECK(has_part(zero_mistakes("{\n  \"train_batch_size\": \"many\"\n}"),
                 "recipe:2:23: train_batch_size: must be a whole number"));
  CHECK(has_part(zero_mistakes("{\"train_batch_size\": 8"), "cannot be read"));
  CHECK(has_part(zero_mistakes("{train_batch_size: 8}"), "cannot be read as JSON"));
  CHECK(has_part(zero_mistakes("{\"a\": 1, \"a\": 2}"), "is given twice"));
}

TEST_CASE("DeepSpeed: files are recognised by their keys") {
  CHECK(is_deepspeed(kSharded));
  CHECK(name_of_format(kSharded) == "deepspeed");
  CHECK_FALSE(is_deepspeed(R"({"model_type": "x", "hidden_size": 2, "train_batch_size": 1, "optimizer": {}})"));
  CHECK_FALSE(is_deepspeed(R"({"a": {"zero_optimization": 1}})"));
}

TEST_CASE("DeepSpeed: no change of a file does more than be refused") {
  read_mutations(read_deepspeed, kSharded);
}

}  // namespace c3::recipes_deepspeed_test
