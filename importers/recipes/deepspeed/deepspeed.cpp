#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/json.hpp"
#include "base/small_letters.hpp"
#include "importers/recipes/file_keys.hpp"
#include "importers/recipes/key_table.hpp"
#include "importers/recipes/recipe_kinds.hpp"
#include "importers/recipes/recipes.hpp"

namespace c3 { inline namespace importers {
namespace {

constexpr std::string_view kDeepSpeedDefaults =
    "DeepSpeed's default (deepspeed/runtime/config.py, constants.py and zero/config.py @edaa7221)";

// deepspeedai/DeepSpeed @edaa7221: deepspeed/runtime/config.py, runtime/constants.py, runtime/zero/config.py,
// runtime/zero/offload_config.py.
constexpr auto kDeepSpeedRows = std::to_array<RecipeRow>({
    {"train_batch_size", As::rule, "training.global_batch", "sequences of a step on all ranks"},
    {"train_micro_batch_size_per_gpu", As::whole, "training.micro_batch", "sequences of a rank at once"},
    {"gradient_accumulation_steps", As::rule, "training.micro_batches", "1 by default"},
    {"bf16.enabled|bfloat16.enabled", As::rule, "model.dtype", "bf16"},
    {"fp16.enabled", As::rule, "model.dtype", "fp16; neither: fp32"},
    {"zero_optimization.stage|zero_optimization", As::rule, "training.sharding",
     "0: ddp, 1: zero1, 2: zero2, 3: fsdp; true: 1"},
    {"zero_optimization.overlap_comm", As::rule, "framework.overlaps_gradients",
     "false by default, of stage 3 true"},
    {"zero_optimization.reduce_bucket_size", As::rule, "framework.bucket", "numbers, 5e8 by default"},
    {"zero_optimization.mics_shard_size", As::rule, "training.shard_group",
     "ranks of a group that has all shards; of stage 3"},
    {"zero_optimization.offload_optimizer.device", As::rule, "training.offload_optimizer",
     "cpu, or none by default"},
    {"zero_optimization.offload_optimizer.ratio", As::rule, "training.offload_optimizer", "1 by default"},
    {"zero_optimization.cpu_offload", As::rule, "training.offload_optimizer", "1, of older releases"},
    {"gradient_clipping", As::rule, "framework.clips_gradients", "1.0 by default"},
    {"optimizer.type", As::rule, "training.optimizer", "Adam, AdamW, Lamb or SGD"},
    {"data_types.grad_accum_dtype", As::rule, "framework.gradient_dtype", "by default that of layers"},
    {"tensor_parallel.autotp_size", As::whole, "training.tensor_parallel", "ranks that share each weight"},
    {"sequence_parallel_size", As::rule, "training.context_parallel", "all-to-alls of heads: ulysses"},

    {"zero_optimization.offload_param.device", As::rule, "", "not modelled: parameters in the host's memory"},
    {"zero_optimization.zero_hpz_partition_size", As::rule, "",
     "not modelled: a second copy of shards within a node"},
    {"zero_optimization.zero_quantized_weights", As::not_modelled, "parameters gathered in 8 bits"},
    {"zero_optimization.zero_quantized_gradients", As::not_modelled, "gradients reduced in 4 bits"},
    {"zero_optimization.stage3_prefetch_bucket_size|zero_optimization.prefetch_bucket_size", As::unrelated,
     "c3sim counts layers that are gathered ahead (framework.prefetch)"},
    {"zero_optimization.stage3_param_persistence_threshold|zero_optimization.param_persistence_threshold",
     As::unrelated, "small parameters that stay whole hardly change times"},
    {"activation_checkpointing.partition_activations", As::not_modelled,
     "kept inputs divided among tensor-parallel ranks"},
    {"activation_checkpointing.cpu_checkpointing", As::not_modelled, "kept inputs in the host's memory"},
    {"communication_data_type", As::not_modelled, "gradients reduced in another type than they are kept in"},
    {"torch_autocast.enabled", As::not_modelled,
     "types chosen operator by operator; give model.dtype yourself"},
    {"amp.enabled", As::not_modelled, "types chosen operator by operator; give model.dtype yourself"},
    {"sparse_gradients", As::not_modelled, "gradients of embeddings as rows"},
    {"pipeline", As::not_modelled,
     "the program says how many stages there are; give training.pipeline yourself"},
});

constexpr auto kDeepSpeedUnrelated = std::to_array<UnrelatedKeys>({
    {"fp16.", "numbers of the loss"},
    {"bf16.", "details of 16 bits"},
    {"optimizer.", "numbers of the optimizer"},
    {"scheduler.", "numbers of the optimizer"},
    {"steps_per_print", "logging"},
    {"wall_clock_breakdown", "logging"},
    {"memory_breakdown", "logging"},
    {"dump_state", "logging"},
    {"log_level", "logging"},
    {"tensorboard.", "logging"},
    {"wandb.", "logging"},
    {"csv_monitor.", "logging"},
    {"comet.", "logging"},
    {"comms_logger.", "logging"},
    {"flops_profiler.", "profiling"},
    {"autotuning.", "tuning"},
    {"elasticity.", "how many ranks may leave"},
    {"checkpoint.", "checkpoints"},
    {"nebula.", "checkpoints"},
    {"data_efficiency.", "data"},
    {"curriculum_learning.", "data"},
    {"dataloader_drop_last", "data"},
    {"aio.", "disks"},
    {"zero_allow", "checks"},
    {"zero_force", "checks"},
    {"prescale_gradients", "where a division is done"},
    {"gradient_predivide_factor", "where a division is done"},
    {"activation_checkpointing.", "details of recomputation, which the program turns on"},
    {"zero_optimization.stage3_", "details of stage 3"},
    {"zero_optimization.allgather_", "c3sim gathers parameters by units"},
    {"zero_optimization.reduce_scatter", "c3sim reduces to the rank that updates"},
    {"zero_optimization.contiguous_gradients", "c3sim keeps gradients side by side"},
    {"zero_optimization.sub_group_size", "how parameters are updated in parts"},
    {"zero_optimization.offload_", "details of offloading"},
    {"zero_optimization.round_robin", "order of copies to the host"},
    {"zero_optimization.", "details of ZeRO"},
    {"hybrid_engine.", "inference"},
    {"compression_training.", "compression"},
    {"tensor_parallel.", "details of tensor parallelism"},
    {"torch_autocast.", "details of types"},
    {"amp.", "details of types"},
});

struct DeepSpeedReader {
  RecipeKeys& keys;
  std::int64_t stage = 0;
  std::string dtype = {};

  static std::string why() { return std::string(kDeepSpeedDefaults); }
};

void deepspeed_batches(RecipeKeys& keys) {
  const auto all = keys.whole("train_batch_size"), micro = keys.whole("train_micro_batch_size_per_gpu"),
             steps = keys.whole("gradient_accumulation_steps");
  const bool is_open =
      keys.is_in_doubt("train_batch_size") || keys.is_in_doubt("train_micro_batch_size_per_gpu");
  if (!all && !micro && !is_open)
    keys.refuse("train_micro_batch_size_per_gpu", "must be given, or train_batch_size");
  if (all && micro) {
    const std::int64_t sequences_per_rank = bounded_product({*micro, steps.value_or(1)});
    if (*all % sequences_per_rank != 0)
      return keys.refuse("train_batch_size",
                         fmt::format("{} is no multiple of {} sequences x {} gradient accumulation steps", *all,
                                     *micro, steps.value_or(1)));
    if (steps) keys.fact(fmt::format("{} data-parallel ranks", *all / sequences_per_rank));
  }
  if (all) {
    keys.take("train_batch_size", "training.global_batch", {*all, {}});
    if (!micro) keys.fact("the file says nothing of sequences of one GPU: give training.micro_batch");
    return keys.join("gradient_accumulation_steps", "training.global_batch");
  }
  if (!keys.is_in_doubt("train_batch_size"))
    keys.take_or_assume({"gradient_accumulation_steps"}, "training.micro_batches", {steps.value_or(1), {}},
                        DeepSpeedReader::why());
}

std::string deepspeed_types(RecipeKeys& keys) {
  const bool bf16 = keys.flag_or("bf16.enabled", false), fp16 = keys.flag_or("fp16.enabled", false);
  if (bf16 && fp16) keys.refuse("fp16.enabled", "cannot be combined with bf16");
  const std::string dtype = bf16 ? "bf16" : fp16 ? "fp16" : "fp32";
  const std::string_view first = bf16 ? "bf16.enabled" : "fp16.enabled",
                         second = bf16 ? "fp16.enabled" : "bf16.enabled";
  keys.take_or_assume({first, second}, "model.dtype", {dtype, {}}, DeepSpeedReader::why());
  static constexpr std::string_view kTypes[] = {"fp32", "fp16", "bf16"};
  const auto kept = keys.choice("data_types.grad_accum_dtype", kTypes).value_or(dtype);
  keys.take_or_assume({"data_types.grad_accum_dtype"}, "framework.gradient_dtype", {kept, {}},
                      "that of layers: " + DeepSpeedReader::why());
  keys.assume("framework.master_copy", {dtype != "fp32", {}},
              "ZeRO's optimizer keeps fp32 copies beside 16-bit parameters");
  return kept;
}

std::int64_t deepspeed_stage(RecipeKeys& keys) {
  constexpr std::string_view kStage = "zero_optimization.stage";
  static constexpr std::string_view kOurs[] = {"ddp", "zero1", "zero2", "fsdp"};
  const auto word = keys.word(kStage);
  const bool is_flag = word == "true" || word == "false";
  const std::int64_t stage = is_flag ? (word == "true" ? 1 : 0) : keys.whole(kStage, 0).value_or(0);
  if (stage > 3) {
    keys.refuse(kStage, fmt::format("must be 0, 1, 2 or 3, not {}", stage));
    return 0;
  }
  keys.take_or_assume({kStage}, "training.sharding", {std::string(kOurs[stage]), {}}, DeepSpeedReader::why());
  return stage;
}

void deepspeed_buckets(DeepSpeedReader reader) {
  RecipeKeys& keys = reader.keys;
  constexpr std::string_view kOverlap = "zero_optimization.overlap_comm",
                             kBucket = "zero_optimization.reduce_bucket_size";
  if (reader.stage == 3) {
    keys.ignore(kOverlap, "stage 3 gathers and reduces beside layers");
    return keys.ignore(kBucket, "c3sim reduces gradients of stage 3 by layers");
  }
  keys.take_or_assume({kOverlap}, "framework.overlaps_gradients", {keys.flag_or(kOverlap, false), {}},
                      reader.why());
  const std::int64_t numbers = keys.whole(kBucket).value_or(500'000'000);
  const std::string size = fmt::format("{} B", numbers * (reader.dtype == "fp32" ? 4 : 2));
  keys.take_or_assume({kBucket}, "framework.bucket", {size, {}}, reader.why());
  keys.assume("framework.first_bucket", {size, {}}, "as framework.bucket");
}

void deepspeed_offload(DeepSpeedReader reader) {
  RecipeKeys& keys = reader.keys;
  constexpr std::string_view kDevice = "zero_optimization.offload_optimizer.device",
                             kRatio = "zero_optimization.offload_optimizer.ratio";
  constexpr std::string_view kParameters = "zero_optimization.offload_param.device",
                             kKey = "training.offload_optimizer";
  static constexpr std::string_view kDevices[] = {"none", "cpu", "nvme"};
  const auto device = keys.choice(kDevice, kDevices).value_or("none");
  const double share = keys.number(kRatio).value_or(1.0);
  if (share < 0 || share > 1) keys.refuse(kRatio, "must be 0 to 1");
  if (share < 1 && device != "none" && reader.stage != 3) keys.refuse(kRatio, "below 1 requires stage 3");
  if (device == "nvme") keys.unmodelled({"states of the optimizer on disks; taken as in the host's memory"});
  if (device != "none") {
    keys.take(kDevice, kKey, {share, {}});
    keys.join(kRatio, kKey);
  } else if (keys.flag_or("zero_optimization.cpu_offload", false)) {
    keys.take("zero_optimization.cpu_offload", kKey, {1.0, {}});
  }
  for (const std::string_view name : {kDevice, kRatio, std::string_view("zero_optimization.cpu_offload")})
    keys.ignore(name, "nothing is offloaded");
  if (keys.choice(kParameters, kDevices).value_or("none") == "none")
    return keys.ignore(kParameters, "nothing is offloaded");
  if (reader.stage != 3) keys.refuse(kParameters, "requires stage 3");
  keys.not_modelled(kParameters, "parameters in the host's memory");
  keys.unmodelled({"parameters in the host's memory, copied before each use"});
}

void deepspeed_groups(DeepSpeedReader reader) {
  RecipeKeys& keys = reader.keys;
  constexpr std::string_view kMics = "zero_optimization.mics_shard_size",
                             kHpz = "zero_optimization.zero_hpz_partition_size";
  const double group = keys.number(kMics).value_or(-1);
  if (group > 1 && reader.stage == 3)
    keys.take(kMics, "training.shard_group", {keys.whole(kMics).value_or(2), {}});
  keys.ignore(kMics, "all ranks are one group");
  if (keys.whole_or(kHpz, 1) > 1)
    keys.not_modelled(kHpz, "a second copy of shards within a node, from which the backward pass gathers");
  keys.ignore(kHpz, "one, as without it");
  if (const auto ranks = keys.whole("sequence_parallel_size")) {
    keys.take("sequence_parallel_size", "training.context_parallel", {*ranks, {}});
    if (*ranks > 1)
      keys.assume("training.context_exchange", {"ulysses", {}},
                  "DeepSpeed-Ulysses exchanges heads by all-to-alls");
  }
}

void deepspeed_optimizer(DeepSpeedReader reader) {
  RecipeKeys& keys = reader.keys;
  const std::string kind = in_small_letters(keys.word("optimizer.type").value_or("adam"));
  const bool is_adam = kind == "adam" || kind == "adamw";
  if (is_adam || kind == "lamb" || kind == "sgd")
    keys.take_or_assume({"optimizer.type"}, "training.optimizer", {is_adam ? "adam" : kind, {}},
                        "the program chooses where the file does not");
  else
    keys.not_modelled("optimizer.type", fmt::format("{}; taken as adam", kind));
  if (keys.has("optimizer.type"))
    keys.assume("framework.fused_optimizer", {true, {}}, "DeepSpeed's own optimizers are fused kernels");
  const double norm = keys.number("gradient_clipping").value_or(1.0);
  keys.take_or_assume({"gradient_clipping"}, "framework.clips_gradients", {norm > 0, {}}, reader.why());
  keys.assume("training.framework", {"pytorch-eager", {}}, "the program's model is not in this file");
  keys.fact("the file says nothing of the sequence: give training.sequence");
}

/// JSON with its mistakes, which a reader of YAML would forgive.
void refuse_broken_json(const ForeignFile& file) {
  try {
    Json::parse(file.text);
  } catch (const JsonError& error) {
    throw ConfigError({std::make_shared<const std::string>(file.name), 1, 1}, "file",
                      fmt::format("cannot be read as JSON: {}", error.what()));
  }
}

}  // namespace

bool is_deepspeed(std::string_view text) { return recipe_kind_of(text) == RecipeKind::deepspeed; }

FileReading read_deepspeed(const ForeignFile& file) {
  std::vector<RecipeKey> given = keys_of_yaml(file);
  refuse_broken_json(file);
  name_by_table(given, kDeepSpeedRows);
  for (RecipeKey& key : given)
    if (key.value && key.value->text() && *key.value->text() == "auto")
      key.doubt = "auto, which depends on the run";
  RecipeKeys keys(file, kDeepSpeedFile, std::move(given));
  take_rows(keys, kDeepSpeedRows, kDeepSpeedDefaults);
  deepspeed_batches(keys);
  const std::string dtype = deepspeed_types(keys);
  const DeepSpeedReader reader{keys, deepspeed_stage(keys), dtype};
  deepspeed_buckets(reader);
  deepspeed_offload(reader);
  deepspeed_groups(reader);
  deepspeed_optimizer(reader);
  leave_others(keys, kDeepSpeedRows, kDeepSpeedUnrelated);
  return keys.finish();
}

}}  // namespace c3::importers
