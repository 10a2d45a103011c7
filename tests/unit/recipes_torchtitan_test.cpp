// Configurations of torchtitan in TOML. The files are written for these tests.

#include <doctest/doctest.h>

#include <string>

#include "importers/recipes/recipes.hpp"
#include "tests/support/recipe_reading.hpp"

namespace c3::recipes_torchtitan_test {

using namespace test;

namespace {

const std::string kSmall = R"(
[job]
description = "a model of eight billion"
[model]
name = "llama3"
flavor = "8B"
converters = ["quantize.linear.float8"]
[training]
local_batch_size = 2
seq_len = 4096
[parallelism]
data_parallel_replicate_degree = 2
data_parallel_shard_degree = 4
tensor_parallel_degree = 2
enable_async_tensor_parallel = true
[activation_checkpoint]
mode = "selective"
selective_ac_option = "op"
[compile]
enable = true
[quantize.linear.float8]
enable_fsdp_float8_all_gather = true
)";

RecipeReading titan(const std::string& text) { return reading_of(read_torchtitan, text); }

std::string titan_mistakes(const std::string& text) { return mistakes_of(read_torchtitan, text); }

const std::string kStages =
    "[model]\nname = 'llama3'\nflavor = '70B'\n[training]\nlocal_batch_size = 8\n"
    "[parallelism]\npipeline_parallel_degree = 4\n";

}  // namespace

TEST_CASE("torchtitan: replicas of shards, tensor parallelism and 8 bits") {
  const RecipeReading read = titan(kSmall);
  CHECK(read.taken("model.use") == "\"llama-3-8b\"");
  CHECK(read.taken("training.sharding") == "\"fsdp\"");
  CHECK(read.taken("training.shard_group") == "4");
  CHECK(read.taken("training.tensor_parallel") == "2");
  CHECK(read.assumed("training.sequence_parallel") == "true");
  CHECK(read.taken("training.tensor_overlap") == "\"ring\"");
  CHECK(read.taken("training.micro_batch") == "2");
  CHECK(read.assumed("training.micro_batches") == "1");
  CHECK(read.taken("training.recompute") == "\"selective\"");
  CHECK(read.taken("training.precision") == "\"fp8_tensorwise\"");
  CHECK(read.taken("training.quantized_parameters") == "true");
  CHECK(read.taken("training.framework") == "\"torchtitan\"");
  CHECK(read.assumed("model.dtype") == "\"bf16\"");
  CHECK(read.assumed("training.reshard_after_forward") == "true");
  CHECK(read.ignored("job.description") == "names and folders");
  CHECK(read.gives_each_key_once());
  CHECK_NOTHROW(read.load("system = \"h100-sxm-8\"\nnodes = 2\n"));
}

TEST_CASE("torchtitan: what a file leaves out has torchtitan's defaults") {
  const RecipeReading read = titan("[model]\nflavor = \"8B\"\n[parallelism]\n");
  CHECK(read.assumed("training.sequence") == "2048");
  CHECK(read.assumed("training.micro_batch") == "8");
  CHECK(read.assumed("training.sharding") == "\"fsdp\"");
  CHECK(read.assumed("training.recompute") == "\"full\"");
  CHECK(read.assumed("training.recompute_every") == "2");
  CHECK(read.assumed("training.framework") == "\"pytorch-eager\"");
  CHECK(read.assumed("framework.fused_optimizer") == "true");
  CHECK_NOTHROW(read.load("system = \"h100-sxm-8\"\n"));
}

TEST_CASE("torchtitan: stages are divided with the embedding and the head as a layer each") {
  const RecipeReading read = titan(kStages);
  CHECK(read.assumed("training.micro_batch") == "1");
  CHECK(read.taken("training.micro_batches") == "8");
  // 82 among four: 21, 21, 20 and 20, of which the first and the last have a layer less.
  CHECK(read.assumed("training.pipeline_layout") == "\"Et*20|t*21|t*20|t*19L\"");
  CHECK(read.assumed("training.reshard_after_forward") == "false");
  CHECK(read.assumed("training.schedule") == "\"1f1b\"");
  CHECK_NOTHROW(read.load("system = \"h100-sxm-8\"\n"));
  const RecipeReading looped = titan(
      kStages + "pipeline_parallel_schedule = 'Interleaved1F1B'\npipeline_parallel_layers_per_stage = 11\n");
  CHECK(looped.taken("training.virtual_stages") == "2");
  CHECK_NOTHROW(looped.load("system = \"h100-sxm-8\"\n"));
  CHECK(titan(kStages + "pipeline_parallel_schedule = 'ZBVZeroBubble'\n").assumed("training.virtual_stages") ==
        "2");
  CHECK(has_part(titan(kStages + "pipeline_parallel_schedule = 'DualPipeV'\n")
                     .ignored("parallelism.pipeline_parallel_schedule"),
                 "not modelled: DualPipeV; taken as interleaved"));
  CHECK(has_part(titan_mistakes(kStages + "pipeline_parallel_layers_per_stage = 5\n"), "makes 17 chunks"));
}

TEST_CASE("torchtitan: experts, contexts and a global batch") {
  const RecipeReading read = titan(
      "[model]\nname='deepseek_v3'\nflavor='671B'\n[training]\nglobal_batch_size=1024\nlocal_batch_size=4\n"
      "[parallelism]\nexpert_parallel_degree=8\nexpert_parallel_comm_backend='deepep'\ncontext_parallel_degree="
      "2\n");
  CHECK(read.taken("training.expert_parallel") == "8");
  CHECK(read.assumed("training.expert_tensor_parallel") == "1");
  CHECK(read.taken("training.dispatch") == "\"deepep\"");
  CHECK(read.assumed("training.context_exchange") == "\"gather\"");
  CHECK(read.taken("training.global_batch") == "1024");
  CHECK(has_part(titan(kStages + "expert_parallel_degree = 8\n").ignored("parallelism.expert_parallel_degree"),
                 "no experts"));
}

TEST_CASE("torchtitan: a model without a preset, unknown keys and 8 bits without a converter") {
  const RecipeReading read = titan(
      "[model]\nname='llama3'\nflavor='debugmodel'\n[parallelism]\ntensor_paralel_degree = 2\n"
      "[float8]\nenable_fsdp_float8_all_gather = true\n");
  CHECK(has_part(read.ignored("model.flavor"), "no preset of this model"));
  CHECK(has_part(read.ignored("parallelism.tensor_paralel_degree"),
                 "did you mean parallelism.tensor_parallel_degree?"));
  CHECK(read.ignored("float8.enable_fsdp_float8_all_gather") == "counts with model.converters alone");
  CHECK(read.value("training.precision").empty());
}

TEST_CASE("torchtitan: what it refuses itself is refused with its place") {
  CHECK(
      has_part(titan_mistakes(
                   "[model]\n[parallelism]\ntensor_parallel_degree = 2\nenable_async_tensor_parallel = true\n"),
               "recipe:4:32: parallelism.enable_async_tensor_parallel: requires compile.enable"));
  CHECK(has_part(titan_mistakes("[model]\n[parallelism]\ndata_parallel_shard_degree = 0\n"), "must be -1"));
  CHECK(has_part(titan_mistakes(kStages + "pipeline_parallel_microbatch_size = 3\n"),
                 "3 does not divide the local batch"));
  CHECK(
      has_part(titan_mistakes(kStages + "pipeline_parallel_schedule = '2F2B'\n"), "no schedule of PyTorch's"));
  CHECK(has_part(titan_mistakes("[activation_checkpoint]\nmode = 'some'\n[model]\n"), "unknown value 'some'"));
  CHECK(has_part(
      titan_mistakes("[model]\n[parallelism]\nexpert_parallel_degree=2\nexpert_tensor_parallel_degree=4\n"),
      "must be 1 or"));
  CHECK(has_part(titan_mistakes("[parallelism\n"), "recipe:1:"));
}

TEST_CASE("torchtitan: files are recognised by their tables, and experiments of c3sim are none") {
  CHECK(is_torchtitan(kSmall));
  CHECK(name_of_format(kSmall) == "torchtitan");
  CHECK_FALSE(is_torchtitan("schema = 1\n[model]\nuse = 'x'\n[training]\nsequence = 1\n[framework]\n"));
}

TEST_CASE("torchtitan: no change of a file does more than be refused") {
  read_mutations(read_torchtitan, kSmall + kStages.substr(kStages.find("[parallelism]") + 13));
}

}  // namespace c3::recipes_torchtitan_test
