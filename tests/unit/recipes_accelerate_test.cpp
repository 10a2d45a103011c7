// Configurations of Accelerate in YAML. The files are written for these tests.

#include <doctest/doctest.h>

#include <string>

#include "importers/recipes/recipes.hpp"
#include "tests/support/recipe_reading.hpp"

namespace c3::recipes_accelerate_test {

using namespace test;

namespace {

const std::string kHybrid = R"(compute_environment: LOCAL_MACHINE
distributed_type: FSDP
mixed_precision: bf16
num_machines: 2
num_processes: 16
fsdp_config:
  fsdp_sharding_strategy: HYBRID_SHARD
  fsdp_backward_prefetch: BACKWARD_PRE
  fsdp_offload_params: 'false'
  fsdp_activation_checkpointing: true
  fsdp_auto_wrap_policy: TRANSFORMER_BASED_WRAP
machine_rank: 0
)";

RecipeReading accelerate(const std::string& text) { return reading_of(read_accelerate, text); }

std::string accelerate_mistakes(const std::string& text) { return mistakes_of(read_accelerate, text); }

const std::string kSecond =
    "distributed_type: FSDP\nmixed_precision: bf16\nnum_processes: 8\nfsdp_config:\n  fsdp_version: 2\n";

}  // namespace

TEST_CASE("Accelerate: FSDP within nodes") {
  const RecipeReading read = accelerate(kHybrid);
  CHECK(read.taken("training.sharding") == "\"fsdp\"");
  CHECK(read.assumed("training.shard_group") == "8");
  CHECK(read.assumed("training.reshard_after_forward") == "true");
  CHECK(read.taken("nodes") == "2");
  CHECK(read.taken("model.dtype") == "\"bf16\"");
  CHECK(read.taken("training.recompute") == "\"full\"");
  CHECK(read.taken("framework.prefetch") == "1");
  CHECK(read.assumed("framework.flat_parameters") == "true");
  CHECK(read.has_fact("16 GPUs on 2 nodes"));
  CHECK(read.ignored("machine_rank") == "how processes meet");
  CHECK(read.gives_each_key_once());
  CHECK_NOTHROW(
      read.load("system = \"h100-sxm-8\"\nmodel.use = \"llama-3-8b\"\ntraining.sequence = "
                "2048\ntraining.micro_batch = 1\n"));
}

TEST_CASE("Accelerate: every strategy, by name and by number") {
  const auto with = [](const std::string& strategy) {
    return accelerate("distributed_type: FSDP\nfsdp_config:\n  fsdp_sharding_strategy: " + strategy + "\n");
  };
  CHECK(with("NO_SHARD").taken("training.sharding") == "\"ddp\"");
  CHECK(with("SHARD_GRAD_OP").assumed("training.reshard_after_forward") == "false");
  CHECK(with("2").assumed("training.reshard_after_forward") == "false");
  CHECK(with("FULL_SHARD").assumed("training.reshard_after_forward") == "true");
  CHECK(with("FULL_SHARD").assumed("nodes") == "1");
  CHECK(has_part(accelerate_mistakes("distributed_type: FSDP\nfsdp_config: {fsdp_sharding_strategy: HALF}\n"),
                 "unknown value 'HALF'"));
}

TEST_CASE("Accelerate: the second FSDP, with degrees of parallelism") {
  const RecipeReading read = accelerate(
      kSecond +
      "  fsdp_reshard_after_forward: false\nparallelism_config:\n  parallelism_config_dp_replicate_size: 2\n"
      "  parallelism_config_dp_shard_size: 2\n  parallelism_config_tp_size: 2\n");
  CHECK(read.taken("training.reshard_after_forward") == "false");
  CHECK(read.taken("training.shard_group") == "2");
  CHECK(read.taken("training.tensor_parallel") == "2");
  CHECK(read.value("framework.flat_parameters").empty());
  CHECK_NOTHROW(
      read.load("system = \"h100-sxm-8\"\nmodel.use = \"llama-3-8b\"\ntraining.sequence = "
                "2048\ntraining.micro_batch = 1\n"));
  CHECK(has_part(accelerate_mistakes(kSecond + "parallelism_config: {parallelism_config_dp_shard_size: 3}\n"),
                 "are not 8 processes"));
}

TEST_CASE("Accelerate: DeepSpeed, Megatron-LM, compiled layers and 8 bits") {
  const RecipeReading zero = accelerate(
      "distributed_type: DEEPSPEED\ndeepspeed_config:\n  zero_stage: 3\n  offload_optimizer_device: cpu\n  "
      "gradient_accumulation_steps: 2\n");
  CHECK(zero.taken("training.sharding") == "\"fsdp\"");
  CHECK(zero.taken("training.offload_optimizer") == "1.0");
  CHECK(zero.taken("training.micro_batches") == "2");
  CHECK(accelerate("distributed_type: DEEPSPEED\ndeepspeed_config: {zero3_init_flag: false}\n")
            .assumed("training.sharding") == "\"zero2\"");
  const RecipeReading megatron = accelerate(
      "distributed_type: MEGATRON_LM\nmegatron_lm_config: {megatron_lm_tp_degree: 4, "
      "megatron_lm_sequence_parallelism: true}\n");
  CHECK(megatron.taken("training.tensor_parallel") == "4");
  CHECK(megatron.assumed("training.framework") == "\"megatron-core\"");
  const RecipeReading eight = accelerate(
      "distributed_type: MULTI_GPU\nmixed_precision: fp8\nfp8_config: {backend: AO}\ndynamo_config: "
      "{dynamo_backend: INDUCTOR}\n");
  CHECK(eight.taken("training.precision") == "\"fp8_tensorwise\"");
  CHECK(eight.taken("training.framework") == "\"pytorch-compiled\"");
  CHECK(eight.taken("training.sharding") == "\"ddp\"");
  CHECK(accelerate("distributed_type: 'NO'\nmixed_precision: no\n").value("model.dtype") == "\"fp32\"");
}

TEST_CASE("Accelerate: keys of another plug-in and unknown ones are reported") {
  const RecipeReading read = accelerate(
      "distributed_type: MULTI_GPU\nmegatron_lm_config: {megatron_lm_tp_degree: 4}\nnum_proceses: 8\n");
  CHECK(has_part(read.ignored("megatron_lm_config.megatron_lm_tp_degree"),
                 "counts with another distributed_type"));
  CHECK(has_part(read.ignored("num_proceses"), "did you mean num_processes?"));
  CHECK(read.value("training.tensor_parallel").empty());
}

TEST_CASE("Accelerate: what it refuses itself is refused with its place") {
  CHECK(has_part(accelerate_mistakes("compute_environment: LOCAL_MACHINE\n"), "distributed_type: is missing"));
  CHECK(has_part(accelerate_mistakes("distributed_type: FSDP\nnum_machines: 3\nnum_processes: 8\n"),
                 "recipe:3:16: num_processes: 8 do not divide among 3"));
  CHECK(has_part(accelerate_mistakes("distributed_type: FSDP\nfsdp_config: {fsdp_version: 3}\n"),
                 "must be 1 or 2"));
  CHECK(has_part(accelerate_mistakes("distributed_type: SOME\n"), "unknown value 'SOME'"));
}

TEST_CASE("Accelerate: files are recognised by their keys") {
  CHECK(is_accelerate(kHybrid));
  CHECK(name_of_format(kHybrid) == "accelerate");
  CHECK_FALSE(is_accelerate("a:\n  distributed_type: FSDP\n"));
}

TEST_CASE("Accelerate: no change of a file does more than be refused") {
  read_mutations(read_accelerate, kHybrid + "list: [1, 2]\n");
}

}  // namespace c3::recipes_accelerate_test
