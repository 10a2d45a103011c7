#include "configs/jobs/training_reader.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "configs/fields/training_fields.hpp"
#include "configs/presets/model_reader.hpp"
#include "configs/presets/spec_readers.hpp"
#include "workloads/models/styles/style.hpp"
#include "workloads/models/transformer.hpp"
#include "workloads/training/context_rules.hpp"
#include "workloads/training/expert_rules.hpp"
#include "workloads/training/head_rules.hpp"
#include "workloads/training/offload_rules.hpp"
#include "workloads/training/pipeline_rules.hpp"

namespace c3 { inline namespace configs {
namespace {

constexpr auto kTables = std::to_array<KeyText>({
    {"training", "a training step, whose streams c3sim makes; in place of [[stream]]"},
    {"framework", "overrides of the framework's preset, which training.framework names"},
    {"host", "overrides of the host's preset, which training.host names"},
    {"model", "the model, and what an experiment computes with it"},
});

/// What follows from the other keys where a file leaves it out.
void complete_pipeline(Section& section, PipelineSetup& pipeline) {
  if (!section.holds("schedule") && pipeline.virtual_stages > 1) pipeline.schedule = ScheduleKind::interleaved;
  const bool waits = pipeline.schedule == ScheduleKind::gpipe ||
                     pipeline.schedule == ScheduleKind::one_f_one_b || pipeline.schedule == ScheduleKind::zb_h1;
  if (!section.holds("pipeline_messages"))
    pipeline.messages = waits ? PipelineMessages::batched : PipelineMessages::overlapped;
}

/// A global batch says how many micro-batches there are.
void read_global_batch(Section& section, TrainingSetup& setup, int ranks) {
  const bool is_there = section.has("global_batch");
  section.explain("global_batch", "sequences of a step on all ranks, instead of micro_batches");
  if (!is_there) return;
  const std::int64_t global = section.integer("global_batch", 1, kMostSequences * kMostSequences);
  if (section.has("micro_batches"))
    section.refuse("global_batch", "cannot be combined with micro_batches: either one determines the other");
  const int data_parallel = ranks / (setup.tensor_parallel * setup.pipeline.stages * setup.context.ranks);
  const std::int64_t at_once = setup.micro_batch * data_parallel;
  if (global % at_once != 0)
    section.refuse("global_batch",
                   fmt::format("{} is not a multiple of {}, micro_batch times {} data-parallel ranks", global,
                               at_once, data_parallel));
  setup.micro_batches = std::max<std::int64_t>(1, global / at_once);
}

void check_tensor_overlap(Section& section, const TrainingSetup& setup) {
  const TensorOverlap overlap = setup.tensor_overlap;
  if (overlap != TensorOverlap::none && setup.tensor_parallel == 1)
    section.refuse("tensor_overlap", "requires tensor_parallel > 1 (it is 1)");
  if (overlap != TensorOverlap::none && overlap != TensorOverlap::chunks && !setup.sequence_parallel)
    section.refuse("tensor_overlap",
                   fmt::format("\"{}\" requires sequence_parallel = true (it is false)", name_of(overlap)));
  const bool has_chunks = overlap == TensorOverlap::chunks || overlap == TensorOverlap::user_buffers;
  if (section.has("tensor_chunks") && !has_chunks)
    section.refuse("tensor_chunks", "requires tensor_overlap = \"chunks\" or \"user_buffers\"");
}

void check_quantized_attention(Section& section, const TrainingSetup& setup) {
  if (!setup.precision.attention) return;
  const PrecisionRecipe recipe = setup.precision.recipe;
  if (recipe->dtype != DType::fp8 || recipe->scales_by_direction)
    section.refuse("quantized_attention",
                   fmt::format("requires a precision of 8 bits with one scale a tensor: \"fp8_delayed\" or "
                               "\"fp8_tensorwise\" (it is \"{}\")",
                               name_of(recipe)));
  const AttentionCode code = setup.framework.attention;
  if (code != AttentionCode::cudnn && code != AttentionCode::newest)
    section.refuse("quantized_attention",
                   fmt::format("requires framework.attention = \"cudnn\" or \"newest\" (it is \"{}\")",
                               name_of(setup.framework.attention)));
  if (setup.context.ranks > 1 && setup.context.exchange != ContextExchange::ring)
    section.refuse("quantized_attention",
                   fmt::format("with context_parallel > 1 requires context_exchange = \"ring\" (it is \"{}\")",
                               name_of(setup.context.exchange)));
}

/// What a recipe requires of the step and of \p gpu.
void check_precision(Section& section, const TrainingSetup& setup, const GpuSpec& gpu) {
  const PrecisionSetup& precision = setup.precision;
  if (!precision.recipe->dtype) {
    const auto needs = [&](bool is_set, std::string_view key) {
      if (is_set) section.refuse(key, "requires a precision of 8 or 4 bits (it is \"16bit\")");
    };
    needs(precision.parameters, "quantized_parameters");
    needs(!precision.weight_gradients, "quantized_wgrad");
    needs(!precision.transposes, "kept_transposes");
    needs(precision.attention, "quantized_attention");
    needs(precision.activations, "quantized_activations");
    needs(precision.first_layers > 0, "first_layers_16bit");
    needs(precision.last_layers > 0, "last_layers_16bit");
    return;
  }
  if (setup.dtype == DType::fp32)
    section.refuse("precision", "requires dtype = \"bf16\" or \"fp16\" of the model (it is \"fp32\")");
  const bool is_kept = setup.framework.kernels->keeps_casts || setup.sharding == Sharding::parameters;
  if (precision.parameters && !is_kept)
    section.refuse("quantized_parameters",
                   "requires sharding = \"fsdp\" with this framework, which casts weights for each pass");
  if (precision.first_layers + precision.last_layers > setup.model.layers)
    section.refuse(section.has("last_layers_16bit") ? "last_layers_16bit" : "first_layers_16bit",
                   fmt::format("{} layers at both ends exceed the model's {}",
                               precision.first_layers + precision.last_layers, setup.model.layers));
  if (!precision.transposes && precision.recipe->scales_by_direction)
    section.refuse("kept_transposes", fmt::format("false requires one scale a tensor: \"fp8_delayed\" or "
                                                  "\"fp8_tensorwise\" (precision is \"{}\")",
                                                  name_of(precision.recipe)));
  check_quantized_attention(section, setup);
  if (runs_on(precision.recipe, gpu)) return;
  const bool has_rate = std::ranges::find(gpu.compute.matrix, *precision.recipe->dtype, &MatrixRate::dtype) !=
                        gpu.compute.matrix.end();
  section.refuse("precision",
                 fmt::format("\"{}\" requires {}, which {} does not have; the nearest that it runs is \"{}\"",
                             name_of(precision.recipe),
                             has_rate ? "matrix units that scale blocks of 32 or fewer"
                                      : fmt::format("a rate of {}", name_of(*precision.recipe->dtype)),
                             gpu.name, name_of(nearest_that_runs(precision.recipe, gpu))));
}

/// The host does nothing while a graph runs.
void check_graphs(Section& section, const TrainingSetup& setup) {
  if (setup.graphs != StepGraphs::step) return;
  if (setup.framework.syncs_passes || setup.framework.gathers_wait_on_host)
    section.refuse("graphs",
                   fmt::format("\"step\" requires framework.{} = false",
                               setup.framework.syncs_passes ? "syncs_passes" : "gathers_wait_on_host"));
}

void refuse_all(const Section& section, const BrokenRules& broken) {
  for (const BrokenRule& rule : broken)
    section.refuse(rule.key, rule.what);
}

/// Keys that there were before tensor_overlap.
void refuse_former_keys(Section& section) {
  if (section.holds("async_chunks"))
    section.fail("async_chunks",
                 "is now 'tensor_chunks', with tensor_overlap = \"chunks\" or \"user_buffers\"");
  if (section.holds("async_sums"))
    section.fail("async_sums",
                 "is now 'tensor_overlap': \"user_buffers\" for \"copied\", \"chunks\" for \"reduced\"");
}

/// Without `routing`, every expert is equally busy and nothing is drawn. A file that names a routing may keep
/// the others' keys: a sweep goes through several.
void check_routing(Section& section) {
  if (section.has("routing")) return;
  for (const std::string_view key : {"routing_concentration", "routing_seed"})
    if (section.has(key)) section.refuse(key, "requires routing = \"dirichlet\" (it is not set)");
  if (section.has("routing_shares"))
    section.refuse("routing_shares", "requires routing = \"histogram\" (it is not set)");
}

/// What the keys of [training] require of each other and of \p ranks.
void check_parallelism(Section& section, const TrainingSetup& setup, int ranks) {
  if (section.has("reshard_after_forward") && setup.sharding != Sharding::parameters)
    section.refuse("reshard_after_forward", "requires sharding = \"fsdp\"");
  const bool gathers = setup.sharding == Sharding::optimizer || setup.sharding == Sharding::gradients;
  if (setup.parameter_gather != ParameterGather::after_optimizer && !gathers)
    section.refuse("parameter_gather", fmt::format("\"{}\" requires sharding = \"zero1\" or \"zero2\"",
                                                   name_of(setup.parameter_gather)));
  if (setup.parameter_gather == ParameterGather::aligned &&
      setup.pipeline.schedule != ScheduleKind::interleaved)
    section.refuse("parameter_gather", "\"aligned\" requires schedule = \"interleaved\"");
  if (ranks % setup.tensor_parallel != 0)
    section.refuse("tensor_parallel",
                   fmt::format("{} does not divide the {} ranks of the system", setup.tensor_parallel, ranks));
  const int stages = setup.pipeline.stages;
  if (ranks % setup.tensor_parallel == 0 && ranks % (setup.tensor_parallel * stages) != 0)
    section.refuse("pipeline",
                   fmt::format("{} stages of {} tensor-parallel ranks do not divide the {} ranks of the "
                               "system",
                               stages, setup.tensor_parallel, ranks));
  const int replicas = ranks / (setup.tensor_parallel * stages);
  if (replicas % setup.context.ranks != 0)
    section.refuse("context_parallel",
                   fmt::format("{} does not divide the {} ranks that {} tensor-parallel ranks and {} stages "
                               "leave of {}",
                               setup.context.ranks, replicas, setup.tensor_parallel, stages, ranks));
  if (section.has("shard_group") && setup.sharding == Sharding::none)
    section.refuse("shard_group", "requires sharding = \"zero1\", \"zero2\" or \"fsdp\" (it is \"ddp\")");
  if (setup.shard_group > 0 && replicas % setup.shard_group != 0)
    section.refuse("shard_group",
                   fmt::format("{} does not divide the {} data-parallel ranks", setup.shard_group, replicas));
  if (setup.tensor_parallel == 1 && setup.sequence_parallel)
    section.refuse("sequence_parallel", "requires tensor_parallel > 1 (it is 1)");
  check_tensor_overlap(section, setup);
  if (section.has("recompute_every") && setup.recompute == Recompute::none)
    section.refuse("recompute_every",
                   "requires recompute = \"selective\", \"attention\" or \"full\" (it is \"none\")");
  if (ranks % (setup.tensor_parallel * stages * setup.context.ranks) != 0) section.settle();
}

/// What the model must be for a step of it.
void check_model(Section& section, const TrainingSetup& setup) {
  const ModelDimensions& model = setup.model;
  const int share = setup.tensor_parallel;
  const auto divides = [&](std::string_view what, std::int64_t count) {
    if (count % share == 0) return;
    section.refuse("tensor_parallel", fmt::format("{} does not divide {}, which is {}", share, what, count));
  };
  bool divides_blocks = true;
  for (const BlockDimensions& mixer : mixers_of(model)) {
    for (const DividedCount& divided : mixer.kind->divided(model, mixer.sizes)) {
      divides(fmt::format("{} {}", owner_of(mixer), divided.what), divided.count);
      divides_blocks = divides_blocks && divided.count % share == 0;
    }
  }
  divides("the model's ffn", model.ffn);
  if (setup.sequence_parallel) divides("the tokens of a micro-batch", setup.tokens());
  if (setup.tokens() % setup.product_parts() != 0)
    section.refuse(section.holds("tensor_chunks") ? "tensor_chunks" : "tensor_overlap",
                   fmt::format("{} parts do not divide the tokens of a micro-batch, which are {}",
                               setup.product_parts(), setup.tokens()));
  if (model.positions > 0 && setup.sequence > model.positions)
    section.refuse("sequence", fmt::format("must not exceed the {} positions of the model (it is {})",
                                           model.positions, setup.sequence));
  if (setup.offload.layers > model.layers)
    section.refuse("offload_layers", fmt::format("must not exceed the model's {} layers (it is {})",
                                                 model.layers, setup.offload.layers));
  if (setup.recompute_every > model.layers)
    section.refuse("recompute_every", fmt::format("must not exceed the model's {} layers (it is {})",
                                                  model.layers, setup.recompute_every));
  if (!divides_blocks) section.settle();
}

void check_dimensions(Section& model, const TrainingSetup& setup) {
  const ModelDimensions& dimensions = setup.model;
  if (dimensions.vocabulary == 0)
    model.refuse("vocabulary", "is missing; a training step requires it for the embedding and the logits");
  if (dimensions.structure == Structure::encoder_decoder)
    model.refuse("structure", "encoder-decoder models are not supported in training steps");
  if (dimensions.relative_buckets > 0)
    model.refuse("relative_buckets", "relative position biases are not supported in training steps");
  if (dimensions.position_keys && setup.framework.attention != AttentionCode::products)
    model.refuse("position_keys", fmt::format("requires framework.attention = \"products\" (it is \"{}\")",
                                              name_of(setup.framework.attention)));
  if (dimensions.position_keys && (setup.tensor_parallel > 1 || setup.context.ranks > 1))
    model.refuse("position_keys",
                 fmt::format("requires tensor_parallel = 1 and context_parallel = 1 (they are {} and {})",
                             setup.tensor_parallel, setup.context.ranks));
}

/// Whether a part that only its kind of block has weights, which nothing freezes.
bool has_own_weights(const ModelDimensions& model, const BlockDimensions& block) {
  return std::ranges::any_of(block.kind->parts(model, block.sizes), [](const ModelPart& part) {
    return std::holds_alternative<parts::Own>(part.kind) && parameters(part) > 0;
  });
}

LoraSetup read_lora(Section& training, const TrainingSetup& setup) {
  const bool is_there = training.has("lora");
  training.explain("lora", "fine-tuning: frozen weights, and adapters that are trained");
  if (!is_there) return {};
  Section section = training.table("lora");
  LoraSetup lora;
  read_fields(section, lora, kLoraFields);
  const int tensor_parallel = setup.tensor_parallel;
  const bool is_divided = setup.sequence_parallel && tensor_parallel > 1;
  if (setup.model.latent) training.refuse("lora", "is not supported with [model.latent]");
  for (const BlockDimensions& mixer : mixers_of(setup.model))
    if (has_own_weights(setup.model, mixer))
      training.refuse("lora", fmt::format("is not supported with blocks of kind \"{}\", all of whose weights "
                                          "are trained",
                                          name_of(mixer.kind)));
  if (lora.rank % tensor_parallel != 0)
    section.fail("rank", fmt::format("must be a multiple of tensor_parallel, which is {} (it is {})",
                                     tensor_parallel, lora.rank));
  if (lora.all_to_all && !is_divided)
    section.refuse("all_to_all", "requires training.sequence_parallel = true and tensor_parallel above 1");
  if (!lora.qkv && !lora.out && !lora.gate_up && !lora.down)
    section.refuse("rank", "requires one of qkv, out, gate_up and down to be true");
  section.finish();
  return lora;
}

}  // namespace

PrecisionRecipe read_recipe(Section& section, std::string_view key) {
  std::vector<std::pair<std::string_view, PrecisionRecipe>> recipes;
  for (const PrecisionRecipe recipe : kPrecisionRecipes)
    recipes.emplace_back(name_of(recipe), recipe);
  return section.choice<PrecisionRecipe>(key, recipes);
}

Optimizer read_optimizer(Section& section, std::string_view key) {
  std::vector<std::pair<std::string_view, Optimizer>> optimizers;
  for (const Optimizer optimizer : kOptimizers)
    optimizers.emplace_back(name_of(optimizer), optimizer);
  return section.choice<Optimizer>(key, optimizers);
}

std::string read_layout(Section& section, std::string_view key) { return section.text(key); }

namespace {

std::vector<std::string> read_texts(Section& section, std::string_view key, std::string_view of_what) {
  const Node& written = section.node(key, {ListRule{std::make_shared<Rule>(Rule{TextRule{}})}});
  std::vector<std::string> texts;
  if (const Array* const all = written.array()) {
    for (const Node& one : *all)
      if (one.text() != nullptr) texts.push_back(*one.text());
    if (texts.size() == all->size()) return texts;
  }
  section.fail(key, fmt::format("must be a list of texts, {}", of_what));
}

}  // namespace

std::vector<std::string> read_pipeline_table(Section& section, std::string_view key) {
  return read_texts(section, key, "one for each stage");
}

std::vector<std::string> read_parts(Section& section, std::string_view key) {
  return read_texts(section, key, "names of a layer's parts");
}

std::vector<double> read_shares(Section& section, std::string_view key) {
  const Node& written = section.node(key, {ListRule{std::make_shared<Rule>(Rule{FractionRule{.high = 1e18}})}});
  std::vector<double> shares;
  if (const Array* const numbers = written.array()) {
    for (const Node& number : *numbers) {
      if (const auto* const whole = std::get_if<std::int64_t>(&number.value))
        shares.push_back(static_cast<double>(*whole));
      else if (const auto* const real = std::get_if<double>(&number.value))
        shares.push_back(*real);
    }
    const bool is_sound = shares.size() == numbers->size() && !shares.empty() &&
                          std::ranges::min(shares) >= 0.0 && std::ranges::max(shares) > 0.0;
    if (is_sound) return shares;
  }
  section.fail(key, "must be a list of numbers from 0 on, one for each expert, not all 0");
}

TrainingSetup read_training(Section& root, const Sampling& sampling, const ClusterSpec& cluster) {
  const int ranks = cluster.ranks();
  Section section = root.table("training", sampling);
  Section framework = root.table("framework", sampling);
  Section host = root.table("host", sampling);
  Section model = root.table("model", sampling);
  section.gather_conflicts();
  model.gather_conflicts_with(section);
  TrainingSetup setup;
  if (framework.holds("host"))
    framework.fail("host", "cannot be overridden here: name the host in training.host (c3sim list hosts)");
  setup.framework = read_framework(framework);
  setup.host = read_host(host);
  setup.dtype = read_dtype(model, "dtype");
  root.explain(kTables);
  model.explain("dtype", "data type in which layers compute");
  if (setup.dtype == DType::fp8 || setup.dtype == DType::fp4) {
    model.fail(
        "dtype",
        "a step in fp8 needs a recipe (which products are fp8, how they are scaled, what stays in bf16); use "
        "\"bf16\" with training.precision");
  }
  setup.model = read_model(model);
  refuse_former_keys(section);
  read_fields(section, setup, kTrainingFields);
  read_fields(section, setup.pipeline, kPipelineFields);
  read_fields(section, setup.context, kContextFields);
  setup.lora = read_lora(section, setup);
  read_fields(section, setup.precision, kPrecisionFields);
  read_fields(section, setup.experts, kExpertParallelFields);
  if (setup.experts.dispatch == Dispatch::hybridep) setup.experts.node_ranks = cluster.node.gpus;
  read_fields(section, setup.optimizer, kOptimizerFields);
  read_fields(section, setup.offload, kOffloadFields);
  complete_pipeline(section, setup.pipeline);
  if (!root.is_rehearsal()) check_precision(section, setup, cluster.gpu);
  check_parallelism(section, setup, ranks);
  check_graphs(section, setup);
  check_routing(section);
  if (setup.optimizer.place == Place::pim && !root.is_rehearsal() && cluster.gpu.hbm.pim.units <= 0.0)
    section.refuse("optimizer_place",
                   "\"pim\" requires arithmetic units in memory (gpu.pim_units, which is 0)");
  read_global_batch(section, setup, ranks);
  check_dimensions(model, setup);
  check_model(section, setup);
  for (const BrokenRules& broken : {broken_context_rules(setup), broken_pipeline_rules(setup, ranks),
                                    broken_expert_rules(setup, ranks), broken_head_rules(setup)})
    refuse_all(section, broken);
  if (!root.is_rehearsal()) refuse_all(section, broken_offload_rules(setup));
  section.finish();
  return setup;
}

}}  // namespace c3::configs
