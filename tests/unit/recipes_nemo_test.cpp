// Configurations of NeMo and of Megatron-Bridge in YAML. The files are written for these tests.

#include <doctest/doctest.h>

#include <string>

#include "importers/recipes/recipes.hpp"
#include "tests/support/recipe_reading.hpp"

namespace c3::recipes_nemo_test {

using namespace test;

namespace {

const std::string kBridge = R"(model:
  tensor_model_parallel_size: 4
  pipeline_model_parallel_size: 2
  virtual_pipeline_model_parallel_size: 2
  sequence_parallel: true
  seq_length: 4096
  bf16: false
  recompute_granularity: null
train:
  micro_batch_size: 1
  global_batch_size: 128
  train_iters: 10
ddp:
  use_distributed_optimizer: true
  overlap_grad_reduce: false
comm_overlap:
  tp_comm_overlap: true
  overlap_grad_reduce: true
  overlap_param_gather: true
mixed_precision: bf16_with_fp8_current_scaling_mixed
checkpoint:
  save: /tmp/x
)";

// A whole model, of the first release.
const std::string kFirst = R"(name: small
trainer:
  devices: 8
  num_nodes: 2
  precision: bf16
  gradient_clip_val: 0.0
exp_manager:
  name: small
model:
  micro_batch_size: 2
  global_batch_size: 64
  tensor_model_parallel_size: 2
  pipeline_model_parallel_size: 1
  sequence_parallel: true
  encoder_seq_length: 2048
  max_position_embeddings: ${.encoder_seq_length}
  num_layers: 12
  hidden_size: 1024
  ffn_hidden_size: 4096
  num_attention_heads: 16
  num_query_groups: null
  normalization: rmsnorm
  position_embedding_type: rope
  activation: fast-swiglu
  bias: false
  share_embeddings_and_output_weights: false
  hidden_dropout: 0.0
  attention_dropout: 0.0
  activations_checkpoint_granularity: full
  activations_checkpoint_method: uniform
  activations_checkpoint_num_layers: 1
  make_vocab_size_divisible_by: ${multiply:${model.hidden_size},2}
  optim:
    name: distributed_fused_adam
    lr: 1e-4
    overlap_grad_sync: true
)";

const std::string kSecond = R"(trainer:
  devices: 8
  num_nodes: 4
  strategy:
    _target_: nemo.lightning.MegatronStrategy
    tensor_model_parallel_size: 2
    sequence_parallel: true
    ddp:
      use_distributed_optimizer: true
      grad_reduce_in_fp32: true
  plugins:
    precision: bf16-mixed
    fp8: hybrid
    fp8_recipe: delayed
  callbacks:
  - _target_: overlap
    tp_comm_overlap: true
data:
  seq_length: 8192
  micro_batch_size: 1
  global_batch_size: 512
optim:
  config:
    optimizer: adam
    lr: 0.1
)";

}  // namespace

TEST_CASE("Megatron-Bridge: sections, and recipes of precision by their names") {
  const RecipeReading read = reading_of(read_megatron_bridge, kBridge);
  CHECK(read.taken("training.tensor_parallel") == "4");
  CHECK(read.taken("training.virtual_stages") == "2");
  CHECK(read.taken("training.tensor_overlap") == "\"user_buffers\"");
  CHECK(read.taken("training.precision") == "\"fp8_tensorwise\"");
  CHECK(read.assumed("training.quantized_parameters") == "true");
  CHECK(read.assumed("training.first_layers_16bit") == "1");
  CHECK(read.taken("training.sharding") == "\"zero1\"");
  CHECK(read.taken("training.parameter_gather") == "\"aligned\"");
  CHECK(read.taken("framework.overlaps_gradients") == "true");  // comm_overlap prevails
  CHECK(read.ignored("ddp.overlap_grad_reduce") == "given again further down");
  CHECK(read.ignored("checkpoint.save") == "checkpoints");
  CHECK(read.value("framework.dropout").empty());  // the preset's
  CHECK(read.assumed("training.framework") == "\"megatron-bridge\"");
  CHECK(read.has_fact("lies on a recipe in Python"));
  CHECK(read.accounts_for("model.recompute_granularity"));
  CHECK(read.gives_each_key_once());
}

TEST_CASE("Megatron-Bridge: what Megatron-Core refuses is refused, but not what a recipe in Python may say") {
  CHECK(has_part(
      mistakes_of(
          read_megatron_bridge,
          "model: {sequence_parallel: true, tensor_model_parallel_size: 1}\ntrain: {micro_batch_size: 1}\n"),
      "model.sequence_parallel: requires tensor_model_parallel_size above 1"));
  CHECK(mistakes_of(read_megatron_bridge, "model: {sequence_parallel: true}\ntrain: {micro_batch_size: 1}\n")
            .empty());
}

TEST_CASE("NeMo: a whole model of the first release, with references") {
  const RecipeReading read = reading_of(read_nemo, kFirst);
  CHECK(read.taken("nodes") == "2");
  CHECK(read.taken("training.sharding").empty());
  CHECK(read.assumed("training.sharding") == "\"zero1\"");
  CHECK(read.taken("training.optimizer") == "\"adam\"");
  CHECK(read.taken("framework.overlaps_gradients") == "true");
  CHECK(read.taken("framework.clips_gradients") == "false");
  CHECK(read.taken("model.activation") == "\"silu\"");
  CHECK(read.value("model.gated") == "true");
  CHECK(read.taken("model.biases") == "false");
  CHECK(read.taken("model.tied_embedding") == "false");
  CHECK(read.assumed("model.kv_heads") == "16");
  CHECK(read.taken("training.recompute") == "\"full\"");
  CHECK(read.taken("model.dtype") == "\"bf16\"");
  CHECK(has_part(read.ignored("model.make_vocab_size_divisible_by"), "not expanded"));
  CHECK(read.ignored("model.max_position_embeddings") == "no table of positions");
  CHECK(read.has_fact("16 GPUs: 2 tensor x 1 context x 8 data x 1 pipeline parallel"));
  CHECK(read.has_fact("4 micro-batches of 2 sequences"));
  CHECK(read.gives_each_key_once());
  CHECK_NOTHROW(read.load("system = \"h100-sxm-8\"\nmodel.vocabulary = 32000\n"));
}

TEST_CASE("NeMo: strategies, plug-ins and callbacks of the second release") {
  const RecipeReading read = reading_of(read_nemo, kSecond);
  CHECK(read.taken("training.tensor_parallel") == "2");
  CHECK(read.taken("training.tensor_overlap") == "\"user_buffers\"");
  CHECK(read.taken("training.precision") == "\"fp8_delayed\"");
  CHECK(read.taken("framework.gradient_dtype") == "\"fp32\"");
  CHECK(read.taken("training.sequence") == "8192");
  CHECK(read.ignored("optim.config.lr") == "numbers of the optimizer");
  CHECK(read.ignored("trainer.strategy._target_") == "names of classes");
  CHECK(has_part(mistakes_of(read_nemo, "trainer: {strategy: {sequence_parallel: true}}\n"),
                 "requires tensor_model_parallel_size"));
}

TEST_CASE("NeMo and Megatron-Bridge: files are recognised by their sections") {
  CHECK(name_of_format(kBridge) == "megatron-bridge");
  CHECK(name_of_format(kFirst) == "nemo");
  CHECK(name_of_format(kSecond) == "nemo");
}

TEST_CASE("NeMo and Megatron-Bridge: no change of a file does more than be refused") {
  read_mutations(read_megatron_bridge, kBridge);
  read_mutations(read_nemo, kFirst);
  read_mutations(read_nemo, kSecond);
}

}  // namespace c3::recipes_nemo_test
