// Arguments of Megatron-LM in scripts and in YAML. The scripts are written for these tests.

#include <doctest/doctest.h>

#include <string>

#include "importers/recipes/recipes.hpp"
#include "tests/support/recipe_reading.hpp"

namespace c3::recipes_megatron_test {

using namespace test;

namespace {

const std::string kDense = R"(#!/bin/bash
#SBATCH --nodes=2
# A model of 1 GPU in 16.
export CUDA_DEVICE_MAX_CONNECTIONS=1
TP=4
PP=${PP:-2}
DATA=$1
MODEL_ARGS=(
  --num-layers 24   # of one stack
  --hidden-size 2048
  --num-attention-heads 16
  --group-query-attention --num-query-groups 8
  --ffn-hidden-size 5632
  --swiglu
  --normalization RMSNorm
  --position-embedding-type rope
  --max-position-embeddings 8192
  --seq-length 4096
  --untie-embeddings-and-output-weights
  --disable-bias-linear
  --vocab-size 32000
  --attention-dropout 0.0 --hidden-dropout 0.0
)
TRAIN_ARGS="--micro-batch-size 1 \
  --global-batch-size 64 --bf16 --lr 3e-4"
if [ "$TP" -gt 1 ]; then
  MODEL_ARGS+=(--sequence-parallel)
else
  MODEL_ARGS+=(--no-masked-softmax-fusion)
fi
torchrun --nnodes 2 --nproc_per_node 8 pretrain_gpt.py "${MODEL_ARGS[@]}" $TRAIN_ARGS \
  --tensor-model-parallel-size $TP --pipeline-model-parallel-size "$PP" \
  --use-distributed-optimizer --overlap-grad-reduce --overlap-param-gather --data-path ${DATA}
)";

RecipeReading script(const std::string& text) { return reading_of(read_megatron_script, text); }

std::string script_mistakes(const std::string& text) { return mistakes_of(read_megatron_script, text); }

/// Arguments that describe no model.
const std::string kStep = "--micro-batch-size 1 --seq-length 4096 --bf16 ";

}  // namespace

TEST_CASE("a Megatron script's arrays, variables and branches become keys") {
  const RecipeReading read = script(kDense);
  CHECK(read.taken("training.tensor_parallel") == "4");
  CHECK(read.taken("training.pipeline") == "2");
  CHECK(read.taken("training.sequence_parallel") == "true");
  CHECK(read.taken("training.sharding") == "\"zero1\"");
  CHECK(read.taken("training.parameter_gather") == "\"overlapped\"");
  CHECK(read.taken("framework.overlaps_gradients") == "true");
  CHECK(read.taken("training.global_batch") == "64");
  CHECK(read.taken("nodes") == "2");
  CHECK(read.taken("model.kv_heads") == "8");
  CHECK(read.taken("model.tied_embedding") == "false");
  CHECK(read.taken("model.biases") == "false");
  CHECK(read.taken("model.vocabulary") == "32256");  // whole 128 x 4 tensor-parallel ranks
  CHECK(read.value("model.gated") == "true");
  CHECK(read.taken("framework.dropout") == "false");
  CHECK(read.taken("framework.hardware_queues") == "1");
  CHECK(read.assumed("training.framework") == "\"megatron-core\"");
  CHECK(read.ignored("--no-masked-softmax-fusion") == "in a branch that is not taken");
  CHECK(read.ignored("--data-path") == "not expanded: $1");
  CHECK(read.ignored("--lr") == "numbers of the optimizer");
  CHECK(read.has_fact("16 GPUs: 4 tensor x 1 context x 2 data x 2 pipeline parallel"));
  CHECK(read.has_fact("32 micro-batches of 1 sequences"));
  CHECK(read.gives_each_key_once());
}

TEST_CASE("what a Megatron script gives is an experiment") {
  CHECK_NOTHROW(script(kDense).load("system = \"h100-sxm-8\"\n"));
}

TEST_CASE("what a Megatron script leaves out has Megatron-LM's defaults, with their source") {
  const RecipeReading read = script(
      "--num-layers 12 --hidden-size 768 --num-attention-heads 12 --seq-length 1024 "
      "--max-position-embeddings 1024 --micro-batch-size 4 --fp16 --vocab-size 50257");
  CHECK(read.assumed("model.ffn") == "3072");
  CHECK(read.assumed("model.kv_heads") == "12");
  CHECK(read.assumed("model.norm") == "\"layernorm\"");
  CHECK(read.assumed("model.biases") == "true");
  CHECK(read.assumed("model.tied_embedding") == "true");
  CHECK(read.assumed("model.activation") == "\"gelu\"");
  CHECK(read.taken("model.positions") == "1024");
  CHECK(read.taken("model.vocabulary") == "50304");
  CHECK(read.taken("model.dtype") == "\"fp16\"");
  CHECK(read.assumed("framework.gradient_dtype") == "\"fp16\"");
  CHECK(read.assumed("framework.dropout") == "true");
  CHECK(read.assumed("training.sharding") == "\"ddp\"");
  CHECK(read.assumed("training.micro_batches") == "1");
  CHECK(read.assumed("training.recompute") == "\"none\"");
  for (const AssumedKey& key : read.whole().assumed)
    CHECK_MESSAGE(
        (has_part(key.why, "Megatron-LM") || key.key == "training.framework" || key.key == "model.name"),
        key.key, ": ", key.why);
  CHECK_NOTHROW(read.load("system = \"a100-sxm-80gb-8\"\n"));
}

TEST_CASE("swiglu without a width has two thirds of four widths in whole 64") {
  const RecipeReading read =
      script("--num-layers 2 --hidden-size 4096 --num-attention-heads 32 --swiglu --bf16 --seq-length 128");
  CHECK(read.assumed("model.ffn") == "10880");  // 4 x 4096 x 2 / 3 = 10922, of which 170 x 64
  CHECK(read.taken("model.activation") == "\"silu\"");
}

TEST_CASE("a script without a command is read by its variables") {
  const RecipeReading read =
      script("MLM_ARGS=\"\n  --num-layers 4\n --hidden-size 512 --num-attention-heads 8\n\"\n");
  CHECK(read.taken("model.layers") == "4");
  CHECK(read.taken("model.hidden") == "512");
}

TEST_CASE("what a script computes is not expanded, and never run") {
  const RecipeReading read =
      script(kStep +
             "--tensor-model-parallel-size $(touch /tmp/c3_never) --context-parallel-size "
             "$((2*2)) --global-batch-size $GBS $EXTRA");
  CHECK(has_part(read.ignored("--tensor-model-parallel-size"), "not expanded: $(touch /tmp/c3_never); give"));
  CHECK(has_part(read.ignored("--context-parallel-size"), "not expanded: $((2*2))"));
  CHECK(has_part(read.ignored("--global-batch-size"), "give training.global_batch yourself"));
  CHECK(read.value("training.tensor_parallel").empty());
  CHECK(read.value("training.micro_batches").empty());
}

TEST_CASE("an argument of a script has its default where the script has one") {
  const RecipeReading read =
      script("MODE=${2:-\"fp8\"}\nif [[ \"$MODE\" == fp8 ]]; then ARGS=(--fp8-format hybrid); fi\ntrain " +
             kStep + "${ARGS[@]} --global-batch-size ${1:-32}");
  CHECK(read.taken("training.global_batch") == "32");
  CHECK(read.taken("training.precision") == "\"fp8_delayed\"");
}

TEST_CASE("options of branches that depend on the run, and of other commands, are reported") {
  const RecipeReading read = script(R"(ARGS=(--micro-batch-size 2 --seq-length 128)
if [ -n "$USE_FP8" ]; then ARGS+=(--fp8-format hybrid); fi
UNUSED=(--recompute-activations)
pip install --upgrade something
python pretrain_gpt.py "${ARGS[@]}")");
  CHECK(has_part(read.ignored("--fp8-format"), "in a branch that depends on the run"));
  CHECK(read.ignored("--recompute-activations") == "in UNUSED, which the command does not use");
  CHECK(has_part(read.ignored("--upgrade"), "of another command"));
  CHECK(read.value("training.precision").empty());
  CHECK(read.taken("training.micro_batch") == "2");
}

TEST_CASE("experts, latent attention and their dispatch") {
  const RecipeReading read = script(
      "--num-layers 4 --hidden-size 1024 --num-attention-heads 8 --ffn-hidden-size 4096 --swiglu --seq-length "
      "1024 --bf16 "
      "--micro-batch-size 1 --normalization RMSNorm --position-embedding-type rope --vocab-size 1024 "
      "--num-experts 16 "
      "--moe-router-topk 4 --moe-ffn-hidden-size 512 --moe-shared-expert-intermediate-size 1024 "
      "--moe-layer-freq '([0]*1+[1]*3)' --moe-router-num-groups 4 --moe-router-group-topk 2 "
      "--moe-router-score-function sigmoid --moe-router-enable-expert-bias --moe-token-dispatcher-type flex "
      "--moe-flex-dispatcher-backend hybridep --expert-model-parallel-size 8 --multi-latent-attention "
      "--q-lora-rank 256 "
      "--kv-lora-rank 128 --qk-head-dim 64 --qk-pos-emb-head-dim 32 --v-head-dim 64 --disable-bias-linear");
  CHECK(read.taken("model.experts.count") == "16");
  CHECK(read.taken("model.experts.dense_layers") == "1");
  CHECK(read.taken("model.experts.groups_per_token") == "2");
  CHECK(read.taken("model.experts.scores") == "\"sigmoid\"");
  CHECK(read.taken("model.latent.query_rank") == "256");
  CHECK(read.taken("model.latent.kv_rank") == "128");
  CHECK(read.taken("training.dispatch") == "\"hybridep\"");
  CHECK_NOTHROW(read.load("system = \"h100-sxm-8\"\n"));
}

TEST_CASE("recipes of 8 and 4 bits") {
  const RecipeReading delayed =
      script(kStep + "--fp8-format hybrid --fp8-param-gather --use-distributed-optimizer");
  CHECK(delayed.taken("training.precision") == "\"fp8_delayed\"");
  CHECK(delayed.taken("training.quantized_parameters") == "true");
  const RecipeReading mx = script(
      kStep + "--fp8-format e4m3 --fp8-recipe mxfp8 --first-last-layers-bf16 --num-layers-at-start-in-bf16 2");
  CHECK(mx.taken("training.precision") == "\"mxfp8\"");
  CHECK(mx.taken("training.first_layers_16bit") == "2");
  CHECK(mx.assumed("training.last_layers_16bit") == "1");
  CHECK(script(kStep + "--fp4-format e2m1").taken("training.precision") == "\"nvfp4\"");
  CHECK(script(kStep + "--fp8-recipe mxfp8").value("training.precision").empty());
  CHECK(has_part(script_mistakes(kStep + "--fp8-format hybrid --fp4-format e2m1"),
                 "cannot be combined with fp8"));
}

TEST_CASE("virtual stages come from layers of a chunk, their number, or a layout") {
  const std::string model =
      "--num-layers 16 --hidden-size 512 --num-attention-heads 8 --vocab-size 512 --seq-length 512 "
      "--micro-batch-size 1 --global-batch-size 32 --bf16 --pipeline-model-parallel-size 4 "
      "--position-embedding-type rope ";
  const RecipeReading layers = script(model + "--num-layers-per-virtual-pipeline-stage 2");
  CHECK(layers.taken("training.virtual_stages") == "2");
  CHECK(layers.assumed("training.pipeline_messages") == "\"steady\"");
  CHECK_NOTHROW(layers.load("system = \"h100-sxm-8\"\n"));
  CHECK(script(model + "--num-virtual-stages-per-pipeline-rank 4").taken("training.virtual_stages") == "4");
  const RecipeReading layout = script(model + "--pipeline-model-parallel-layout 'Ett|(tt|)*6,ttL'");
  CHECK(layout.assumed("training.virtual_stages") == "2");
  CHECK_NOTHROW(layout.load("system = \"h100-sxm-8\"\n"));
  CHECK(has_part(script_mistakes(model + "--pipeline-model-parallel-layout 'Et|(tt|)*6,ttL'"),
                 "has 15 layers, and num_layers is 16"));
  CHECK(has_part(script_mistakes(model + "--pipeline-model-parallel-layout 'Et*8|t*7|tL'"), "has 3 chunks"));
  CHECK(has_part(script_mistakes(model + "--pipeline-model-parallel-layout 'Emt*16L'"),
                 "is no layout that c3sim reads"));
  const RecipeReading apart =
      script(model + "--num-virtual-stages-per-pipeline-rank 2 --no-overlap-p2p-communication");
  CHECK(apart.taken("training.pipeline_messages") == "\"batched\"");
  CHECK(has_part(script_mistakes(model + "--num-layers-per-virtual-pipeline-stage 3"),
                 "do not divide the 16 layers"));
  CHECK(has_part(
      script_mistakes(model +
                      "--num-layers-per-virtual-pipeline-stage 2 --num-virtual-stages-per-pipeline-rank 2"),
      "at most one of"));
}

TEST_CASE("the order of a step: recomputation, sharding, offloading, graphs, exchange") {
  CHECK(script(kStep + "--recompute-granularity full --recompute-method uniform --recompute-num-layers 1")
            .taken("training.recompute") == "\"full\"");
  CHECK(script(kStep + "--recompute-activations").taken("training.recompute") == "\"attention\"");
  const RecipeReading block = script(
      "--num-layers 32 --hidden-size 512 --num-attention-heads 8 --bf16 "
      "--pipeline-model-parallel-size 4 --recompute-granularity full "
      "--recompute-method block --recompute-num-layers 2");
  CHECK(block.taken("training.recompute_every") == "4");  // 2 of the 8 layers of a stage
  const RecipeReading parts =
      script(kStep + "--recompute-granularity selective --recompute-modules moe layernorm");
  CHECK(has_part(parts.ignored("--recompute-modules"), "not modelled"));
  CHECK(script(kStep + "--use-megatron-fsdp --data-parallel-sharding-strategy optim_grads")
            .taken("training.sharding") == "\"zero2\"");
  CHECK(script(kStep + "--use-megatron-fsdp").taken("training.sharding") == "\"fsdp\"");
  CHECK(script(kStep + "--use-torch-fsdp2 --torch-fsdp2-no-reshard-after-forward")
            .taken("training.reshard_after_forward") == "false");
  CHECK(script(kStep + "--optimizer-cpu-offload").taken("training.offload_optimizer") == "1.0");
  CHECK(script(kStep + "--cuda-graph-impl full_iteration").taken("training.graphs") == "\"step\"");
  CHECK(script(kStep + "--context-parallel-size 2 --cp-comm-type a2a").taken("training.context_exchange") ==
        "\"ulysses\"");
  CHECK(script(kStep + "--ddp-bucket-size 1000 ").taken("framework.bucket") == "\"4000 B\"");
  const RecipeReading groups = script("torchrun --nnodes 4 --nproc-per-node 8 train.py " + kStep +
                                      "--use-distributed-optimizer --num-distributed-optimizer-instances 4");
  CHECK(groups.taken("training.shard_group") == "8");
}

TEST_CASE("what Megatron-LM itself refuses is refused with its place, all at once") {
  const std::string gpus = "torchrun --nnodes 1 --nproc_per_node 8 pretrain_gpt.py " + kStep;
  CHECK(has_part(script_mistakes(gpus + "--tensor-model-parallel-size 3"), "do not divide 8 GPUs"));
  CHECK(has_part(script_mistakes(gpus + "--global-batch-size 12"), "is no multiple of 1 sequences"));
  CHECK(has_part(script_mistakes(kStep + "--overlap-param-gather"), "requires use_distributed_optimizer"));
  CHECK(has_part(script_mistakes(kStep + "--tp-comm-overlap --tensor-model-parallel-size 2"),
                 "requires sequence_parallel"));
  CHECK(has_part(script_mistakes(kStep + "--fp16"), "cannot be combined with bf16"));
  CHECK(has_part(script_mistakes(kStep + "--recompute-granularity selective --recompute-method block"),
                 "not supported"));
  CHECK(
      has_part(script_mistakes(kStep + "--use-torch-fsdp2 --pipeline-model-parallel-size 2"), "not supported"));
  CHECK(has_part(script_mistakes("--num-layers 2 --hidden-size 64 --num-attention-heads 3 --bf16"),
                 "do not divide 64 elements"));
  CHECK(has_part(script_mistakes("--num-layers 2 --hidden-size 64 --num-attention-heads 4 --seq-length 10 "
                                 "--max-position-embeddings 5"),
                 "is less than seq_length"));
  const std::string both =
      script_mistakes("train --micro-batch-size zero \\\n  --seq-length -1 --recompute-granularity some");
  CHECK(has_part(both, "recipe:1:7: --micro-batch-size: must be a whole number of 1 or more, not \"zero\""));
  CHECK(has_part(both, "recipe:2:3: --seq-length"));
  CHECK(has_part(both, "--recompute-granularity"));
}

TEST_CASE("sequence parallelism without tensor parallelism is turned off, as Megatron-LM does") {
  const RecipeReading read = script(kStep + "--sequence-parallel");
  CHECK(read.ignored("--sequence-parallel") == "turned off without tensor parallelism");
}

TEST_CASE("unknown options are reported with what may have been meant") {
  const RecipeReading read =
      script(kStep + "--tensor-model-paralel-size 2 --completely-else 3 --micro-batch-size 4");
  CHECK(has_part(read.ignored("--tensor-model-paralel-size"), "did you mean tensor_model_parallel_size?"));
  CHECK(read.ignored("--completely-else") == "unknown to this reader");
  CHECK(read.ignored("--micro-batch-size") == "given again further down");
  CHECK(read.taken("training.micro_batch") == "4");
}

TEST_CASE("quotes and brackets of a script that do not end are refused with their place") {
  CHECK(has_part(script_mistakes("A=1\nB=\"--num-layers 2"),
                 "recipe:2:3: file: a quote or a bracket does not end"));
  CHECK(has_part(script_mistakes("A=(--num-layers 2 --hidden-size 3"), "an array does not end"));
  std::string deep = "A=";
  for (int i = 0; i < 100; ++i)
    deep += "${A:-";
  deep += "1" + std::string(100, '}') + " --num-layers 1 --hidden-size 2";
  CHECK(has_part(script_mistakes(deep), "nested too deeply"));
  std::string growing = "A=xxxxxxxxxxxxxxxx\n";
  for (int i = 0; i < 40; ++i)
    growing += "A=$A$A\n";
  CHECK(has_part(script_mistakes(growing), "expand to more than 8 MiB"));
}

TEST_CASE("Megatron's arguments in YAML, nested or not") {
  const RecipeReading read = reading_of(read_megatron_yaml, R"(
modules:
  pre_trainer:
    overrides:
      tensor_model_parallel_size: 2
      sequence_parallel: true
      micro_batch_size: 2
      global_batch_size: 128
      seq_length: 8192
      recompute_num_layers: null
      swiglu: true
      num_layers: 8
      hidden_size: 1024
      num_attention_heads: 8
      num_query_groups: 2
      fp8: hybrid
      fp8_recipe: delayed
      bf16: true
      log_interval: 1
)");
  const std::string prefix = "modules.pre_trainer.overrides.";
  CHECK(read.taken("training.tensor_parallel") == "2");
  CHECK(read.taken("training.precision") == "\"fp8_delayed\"");
  CHECK(read.taken("model.kv_heads") == "2");
  CHECK(read.ignored(prefix + "log_interval") == "logging");
  CHECK(has_part(read.ignored(prefix + "recompute_num_layers"), "nothing is recomputed"));
  CHECK(read.accounts_for(prefix + "fp8_recipe"));
  CHECK(read.gives_each_key_once());
}

TEST_CASE("YAML that is broken, deep, twice or many documents is refused") {
  const auto mistakes = [](const std::string& text) { return mistakes_of(read_megatron_yaml, text); };
  CHECK(has_part(mistakes("a: [1, 2"), "cannot be read"));
  CHECK(has_part(mistakes("a: 1\na: 2\n"), "recipe:2:1: a: is given twice"));
  CHECK(has_part(mistakes("a: 1\n---\nb: 2\n"), "must be one document"));
  // A loop without end in yaml-cpp's own search for documents.
  CHECK_FALSE(mistakes("{\n\"a\": {}\n},\n\"b\": { \"c\": 1 },\n\"d\": 2\n}\n").empty());
  CHECK(has_part(mistakes("- 1\n- 2\n"), "must be a table"));
  std::string deep;
  for (int i = 0; i < 100; ++i)
    deep += "{a: ";
  CHECK(has_part(mistakes(deep + "1" + std::string(100, '}')), "is nested deeper than 64 levels"));
  CHECK_FALSE(mistakes(deep + deep + deep + deep + deep + deep).empty());
  std::string laughs = "a0: &a0 [x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 12; ++i) {
    const std::string before = "*a" + std::to_string(i - 1);
    laughs += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
    for (int k = 0; k < 8; ++k)
      laughs += before + ", ";
    laughs += before + "]\n";
  }
  CHECK(has_part(mistakes(laughs), "more than 100000 values"));
}

TEST_CASE("Megatron's files are recognised by what they hold") {
  CHECK(is_megatron_script(kDense));
  CHECK(is_megatron_script("--num-layers 2 --hidden-size 4"));
  CHECK_FALSE(is_megatron_script("num_layers: 2\nhidden_size: 4\n"));
  CHECK(is_megatron_yaml("num_layers: 2\nhidden_size: 4\n"));
  CHECK_FALSE(is_megatron_yaml("# num_layers\nhidden_size: 4\n"));
  CHECK_FALSE(is_megatron_yaml("{\"num_layers\": 2, \"hidden_size\": 3}"));
  CHECK(name_of_format(kDense) == "megatron-script");
}

TEST_CASE("no change of a Megatron script or its YAML does more than be refused") {
  read_mutations(read_megatron_script, kDense);
  read_mutations(read_megatron_yaml,
                 "model:\n  num_layers: 4\n  hidden_size: 64\n  num_attention_heads: 4\n  bf16: true\n"
                 "  seq_length: &s 128\n  max_position_embeddings: *s\n  moe_layer_freq: '[0]*1+[1]*3'\n"
                 "  num_experts: 8\nlist: [{a: 1}, {b: \"x\"}]\n");
}

}  // namespace c3::recipes_megatron_test
