#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "importers/recipes/file_keys.hpp"
#include "importers/recipes/key_table.hpp"
#include "importers/recipes/recipe_kinds.hpp"
#include "importers/recipes/recipes.hpp"

namespace c3 { inline namespace importers {
namespace {

constexpr std::string_view kAccelerateDefaults =
    "Accelerate's default (src/accelerate/utils/dataclasses.py and commands/config/config_args.py @16cb6eb8)";

// huggingface/accelerate @16cb6eb8: src/accelerate/commands/config/config_args.py,
// src/accelerate/utils/dataclasses.py, src/accelerate/utils/constants.py.
constexpr auto kAccelerateRows = std::to_array<RecipeRow>({
    {"distributed_type", As::rule, "training.sharding", "FSDP, DEEPSPEED, MULTI_GPU: ddp, MEGATRON_LM, NO"},
    {"mixed_precision", As::rule, "model.dtype", "no: fp32, fp16, bf16; fp8: bf16 with a recipe"},
    {"num_machines", As::rule, "nodes", "1 by default"},
    {"num_processes", As::rule, "nodes", "GPUs of all nodes"},
    {"gradient_accumulation_steps|deepspeed_config.gradient_accumulation_steps|megatron_lm_config.megatron_lm_"
     "num_micro_batches",
     As::whole, "training.micro_batches", "micro-batches of a step"},
    {"dynamo_config.dynamo_backend|dynamo_backend", As::rule, "training.framework",
     "INDUCTOR: pytorch-compiled"},
    {"fp8_config.backend", As::rule, "training.precision", "TE: fp8_delayed, AO: fp8_tensorwise"},
    {"fsdp_config.fsdp_version", As::rule, "framework.flat_parameters",
     "1 by default, whose parameters are flat"},
    {"fsdp_config.fsdp_sharding_strategy", As::rule, "training.sharding",
     "FULL_SHARD by default; SHARD_GRAD_OP, NO_SHARD, HYBRID_SHARD, HYBRID_SHARD_ZERO2"},
    {"fsdp_config.fsdp_reshard_after_forward", As::rule, "training.reshard_after_forward",
     "of version 2, true by default; of version 1 a strategy"},
    {"fsdp_config.fsdp_offload_params", As::rule, "training.offload_optimizer",
     "1.0; parameters are offloaded, too, which is not modelled"},
    {"fsdp_config.fsdp_activation_checkpointing", As::rule, "training.recompute", "full"},
    {"fsdp_config.fsdp_backward_prefetch|fsdp_config.fsdp_backward_prefetch_policy", As::rule,
     "framework.prefetch", "BACKWARD_PRE: 1; NO_PREFETCH, by default: 0"},
    {"fsdp_config.fsdp_forward_prefetch", As::not_modelled,
     "a gather of the next layer in the forward pass beside that of the backward pass"},
    {"parallelism_config.parallelism_config_tp_size", As::whole, "training.tensor_parallel",
     "ranks that share each weight"},
    {"parallelism_config.parallelism_config_cp_size", As::whole, "training.context_parallel",
     "ranks that have a part of a sequence"},
    {"parallelism_config.parallelism_config_cp_comm_strategy", As::rule, "training.context_exchange",
     "allgather: gather, by default; alltoall: ring"},
    {"parallelism_config.parallelism_config_dp_replicate_size", As::rule, "training.shard_group",
     "replicas of shards"},
    {"parallelism_config.parallelism_config_dp_shard_size", As::rule, "training.shard_group",
     "ranks that have a shard each"},
    {"deepspeed_config.zero_stage", As::rule, "training.sharding",
     "0: ddp, 1: zero1, 2: zero2, by default, 3: fsdp"},
    {"deepspeed_config.offload_optimizer_device", As::rule, "training.offload_optimizer", "cpu"},
    {"deepspeed_config.offload_param_device", As::rule, "", "not modelled: parameters in the host's memory"},
    {"deepspeed_config.gradient_clipping|megatron_lm_config.megatron_lm_gradient_clipping", As::rule,
     "framework.clips_gradients", "above 0"},
    {"deepspeed_config.deepspeed_config_file", As::unrelated,
     "a file of its own: read it in place of this one"},
    {"megatron_lm_config.megatron_lm_tp_degree", As::rule, "training.tensor_parallel",
     "ranks that share each weight"},
    {"megatron_lm_config.megatron_lm_pp_degree", As::rule, "training.pipeline", "stages"},
    {"megatron_lm_config.megatron_lm_sequence_parallelism", As::rule, "training.sequence_parallel",
     "tokens divided between blocks"},
    {"megatron_lm_config.megatron_lm_recompute_activations", As::rule, "training.recompute", "attention"},
    {"megatron_lm_config.megatron_lm_use_distributed_optimizer", As::rule, "training.sharding", "zero1"},
});

constexpr auto kAccelerateUnrelated = std::to_array<UnrelatedKeys>({
    {"compute_environment", "how processes start"},
    {"machine_rank", "how processes meet"},
    {"main_process", "how processes meet"},
    {"rdzv", "how processes meet"},
    {"same_network", "how processes meet"},
    {"main_training_function", "how processes start"},
    {"gpu_ids", "how processes start"},
    {"enable_cpu_affinity", "how processes start"},
    {"use_cpu", "how processes start"},
    {"tpu_", "other hardware"},
    {"downcast_bf16", "other hardware"},
    {"ipex_config", "other hardware"},
    {"mpirun_config", "how processes start"},
    {"command", "how processes start"},
    {"debug", "debugging"},
    {"dynamo_config.", "how layers are compiled"},
    {"fp8_config.", "details of 8 bits"},
    {"fsdp_config.fsdp_state_dict", "checkpoints"},
    {"fsdp_config.fsdp_sync_module", "how weights begin"},
    {"fsdp_config.fsdp_cpu_ram", "how weights begin"},
    {"fsdp_config.fsdp_auto_wrap", "c3sim gathers layer by layer"},
    {"fsdp_config.fsdp_transformer_layer", "c3sim gathers layer by layer"},
    {"fsdp_config.fsdp_min_num", "c3sim gathers layer by layer"},
    {"fsdp_config.fsdp_use_orig", "how parameters are named"},
    {"fsdp_config.", "details of FSDP"},
    {"deepspeed_config.zero3_init", "how weights begin"},
    {"deepspeed_config.zero3_save", "checkpoints"},
    {"deepspeed_config.", "details of DeepSpeed"},
    {"parallelism_config.", "details of parallelism"},
});

/// GPUs of a node and nodes, where the file says both.
struct AccelerateRanks {
  std::int64_t nodes = 1;
  std::int64_t all = 0;  ///< 0: not said

  std::int64_t of_node() const { return all / nodes; }
};

AccelerateRanks accelerate_ranks(RecipeKeys& keys) {
  AccelerateRanks ranks{keys.whole("num_machines").value_or(1), keys.number("num_processes").value_or(-1) > 0
                                                                    ? keys.whole("num_processes").value_or(0)
                                                                    : 0};
  keys.take_or_assume({"num_machines"}, "nodes", {ranks.nodes, {}}, std::string(kAccelerateDefaults));
  if (ranks.all % ranks.nodes != 0)
    keys.refuse("num_processes", fmt::format("{} do not divide among {} machines", ranks.all, ranks.nodes));
  if (ranks.all > 0) keys.fact(fmt::format("{} GPUs on {} nodes", ranks.all, ranks.nodes));
  keys.ignore("num_processes", "the system says how many GPUs a node has");
  return ranks;
}

void accelerate_precision(RecipeKeys& keys) {
  static constexpr std::string_view kTypes[] = {"no", "fp16", "bf16", "fp8", "fp32"};
  // Without quotes, YAML's no is false.
  const bool is_no = keys.word("mixed_precision").value_or("false") == "false";
  const std::string type = is_no ? "no" : keys.choice("mixed_precision", kTypes).value_or("no");
  const std::string dtype = type == "no" ? "fp32" : type == "fp8" ? "bf16" : type;
  keys.take_or_assume({"mixed_precision"}, "model.dtype", {dtype, {}}, std::string(kAccelerateDefaults));
  if (type == "fp8") {
    static constexpr std::string_view kBackends[] = {"TE", "MSAMP", "AO"};
    const auto backend = keys.choice("fp8_config.backend", kBackends).value_or("TE");
    keys.take_or_assume({"fp8_config.backend"}, "training.precision",
                        {backend == "AO" ? "fp8_tensorwise" : "fp8_delayed", {}},
                        "mixed_precision is fp8; TransformerEngine's usual recipe");
  }
  keys.ignore("fp8_config.backend", "mixed_precision is not fp8");
}

struct FsdpStrategy {
  bool is_sharded = true, reshards = true, is_hybrid = false;
};

/// The strategy by its name, or by PyTorch's number.
std::optional<FsdpStrategy> fsdp_strategy(RecipeKeys& keys, std::string_view name) {
  static constexpr std::string_view kNames[] = {
      "FULL_SHARD", "SHARD_GRAD_OP", "NO_SHARD", "HYBRID_SHARD", "HYBRID_SHARD_ZERO2", "1", "2", "3", "4", "5"};
  const auto word = keys.choice(name, kNames);
  if (!word) return std::nullopt;
  const auto place = (std::ranges::find(kNames, *word) - std::begin(kNames)) % 5;
  return FsdpStrategy{.is_sharded = place != 2, .reshards = place == 0 || place == 3, .is_hybrid = place >= 3};
}

void fsdp_offload(RecipeKeys& keys) {
  constexpr std::string_view kOffload = "fsdp_config.fsdp_offload_params";
  if (keys.flag_or(kOffload, false)) {
    keys.take(kOffload, "training.offload_optimizer", {1.0, {}});
    keys.unmodelled({"parameters in the host's memory, copied before each use"});
  }
  keys.ignore(kOffload, "off");
  constexpr std::string_view kAgain = "fsdp_config.fsdp_activation_checkpointing";
  const bool again = keys.flag_or(kAgain, false);
  keys.take_or_assume({kAgain}, "training.recompute", {again ? "full" : "none", {}},
                      std::string(kAccelerateDefaults));
}

/// PyTorch's first FSDP, whose parameters of a layer are one tensor.
void first_fsdp(RecipeKeys& keys) {
  keys.take_or_assume({"fsdp_config.fsdp_version"}, "framework.flat_parameters", {true, {}},
                      "fsdp_version is 1: " + std::string(kAccelerateDefaults));
  keys.assume("framework.gathers_wait_on_host", {true, {}},
              "limit_all_gathers: " + std::string(kAccelerateDefaults));
  constexpr std::string_view kPrefetch = "fsdp_config.fsdp_backward_prefetch";
  static constexpr std::string_view kPolicies[] = {"BACKWARD_PRE", "BACKWARD_POST", "NO_PREFETCH", "1", "2"};
  const auto policy = keys.choice(kPrefetch, kPolicies).value_or("NO_PREFETCH");
  const bool is_ahead = policy == "BACKWARD_PRE" || policy == "1";
  keys.take_or_assume({kPrefetch}, "framework.prefetch", {std::int64_t{is_ahead ? 1 : 0}, {}},
                      std::string(kAccelerateDefaults));
}

void fsdp_rule(RecipeKeys& keys, const AccelerateRanks& ranks) {
  constexpr std::string_view kStrategy = "fsdp_config.fsdp_sharding_strategy",
                             kReshard = "fsdp_config.fsdp_reshard_after_forward";
  const std::int64_t version = keys.whole("fsdp_config.fsdp_version").value_or(1);
  if (version > 2) keys.refuse("fsdp_config.fsdp_version", "must be 1 or 2");
  FsdpStrategy strategy;
  if (version == 2) {
    strategy.reshards = keys.flag_or(kReshard, true);
    keys.ignore(kStrategy, "of version 1; fsdp_reshard_after_forward counts");
    keys.ignore("fsdp_config.fsdp_version", "2, as the framework's preset has it");
    keys.ignore("fsdp_config.fsdp_backward_prefetch", "version 2 gathers ahead by itself");
  } else {
    const bool says_strategy = keys.has(kStrategy);
    strategy = fsdp_strategy(keys, says_strategy ? kStrategy : kReshard).value_or(strategy);
    first_fsdp(keys);
  }
  keys.take_or_assume({kStrategy}, "training.sharding", {strategy.is_sharded ? "fsdp" : "ddp", {}},
                      std::string(kAccelerateDefaults));
  if (strategy.is_sharded)
    keys.take_or_assume({kReshard}, "training.reshard_after_forward", {strategy.reshards, {}},
                        "as the strategy says: " + std::string(kAccelerateDefaults));
  keys.ignore(kReshard, "nothing is sharded");
  if (strategy.is_hybrid && ranks.nodes > 1 && ranks.of_node() > 1)
    keys.assume("training.shard_group", {ranks.of_node(), {}},
                "HYBRID_SHARD divides parameters among the GPUs of a node");
  fsdp_offload(keys);
}

void parallelism_rule(RecipeKeys& keys, const AccelerateRanks& ranks) {
  constexpr std::string_view kReplicas = "parallelism_config.parallelism_config_dp_replicate_size",
                             kShards = "parallelism_config.parallelism_config_dp_shard_size";
  constexpr std::string_view kExchange = "parallelism_config.parallelism_config_cp_comm_strategy";
  const std::int64_t replicas = keys.whole(kReplicas).value_or(1), shards = keys.whole(kShards).value_or(1);
  if (replicas > 1 && shards > 1) keys.take(kShards, "training.shard_group", {shards, {}});
  keys.ignore(kReplicas, replicas > 1 && shards > 1 ? "a part of what training.shard_group says"
                                                    : "as many as there are ranks");
  keys.ignore(kShards, "as many as there are ranks");
  const std::int64_t tensor = keys.whole("parallelism_config.parallelism_config_tp_size").value_or(1),
                     context = keys.whole("parallelism_config.parallelism_config_cp_size").value_or(1);
  const bool says_all = keys.has(kReplicas) || keys.has(kShards);
  const std::int64_t product = bounded_product({replicas, shards, tensor, context});
  if (says_all && ranks.all > 0 && product != ranks.all)
    keys.refuse(
        keys.has(kShards) ? kShards : kReplicas,
        fmt::format("{} replicas x {} shards x {} tensor x {} context parallel ranks are not {} processes",
                    replicas, shards, tensor, context, ranks.all));
  static constexpr std::string_view kKinds[] = {"allgather", "alltoall"};
  const auto kind = keys.choice(kExchange, kKinds).value_or("allgather");
  if (context > 1)
    keys.take_or_assume({kExchange}, "training.context_exchange", {kind == "alltoall" ? "ring" : "gather", {}},
                        std::string(kAccelerateDefaults));
  keys.ignore(kExchange, "there is no context parallelism");
}

void zero_rule(RecipeKeys& keys) {
  static constexpr std::string_view kOurs[] = {"ddp", "zero1", "zero2", "fsdp"};
  const std::int64_t stage = keys.whole("deepspeed_config.zero_stage", 0).value_or(2);
  if (stage > 3) return keys.refuse("deepspeed_config.zero_stage", "must be 0, 1, 2 or 3");
  if (keys.has("deepspeed_config.deepspeed_config_file"))
    keys.fact("DeepSpeed has a file of its own, which says the stage: read it in place of this one");
  else
    keys.take_or_assume({"deepspeed_config.zero_stage"}, "training.sharding", {std::string(kOurs[stage]), {}},
                        std::string(kAccelerateDefaults));
  constexpr std::string_view kDevice = "deepspeed_config.offload_optimizer_device",
                             kParameters = "deepspeed_config.offload_param_device";
  const std::string device = keys.word(kDevice).value_or("none"),
                    parameters = keys.word(kParameters).value_or("none");
  if (device == "cpu" || device == "nvme") keys.take(kDevice, "training.offload_optimizer", {1.0, {}});
  keys.ignore(kDevice, "nothing is offloaded");
  if (parameters == "cpu" || parameters == "nvme")
    keys.not_modelled(kParameters, "parameters in the host's memory");
  keys.ignore(kParameters, "nothing is offloaded");
}

void megatron_plugin(RecipeKeys& keys) {
  const bool divides = keys.flag_or("megatron_lm_config.megatron_lm_use_distributed_optimizer", false);
  keys.take_or_assume({"megatron_lm_config.megatron_lm_use_distributed_optimizer"}, "training.sharding",
                      {divides ? "zero1" : "ddp", {}}, std::string(kAccelerateDefaults));
  for (const auto& [name, key] :
       {std::pair{"megatron_lm_config.megatron_lm_tp_degree", "training.tensor_parallel"},
        std::pair{"megatron_lm_config.megatron_lm_pp_degree", "training.pipeline"}})
    if (const auto degree = keys.whole(name)) keys.take(name, key, {*degree, {}});
  if (const auto flag = keys.flag("megatron_lm_config.megatron_lm_sequence_parallelism"))
    keys.take("megatron_lm_config.megatron_lm_sequence_parallelism", "training.sequence_parallel", {*flag, {}});
  const bool again = keys.flag_or("megatron_lm_config.megatron_lm_recompute_activations", false);
  keys.take_or_assume({"megatron_lm_config.megatron_lm_recompute_activations"}, "training.recompute",
                      {again ? "attention" : "none", {}}, std::string(kAccelerateDefaults));
}

void distribution_rule(RecipeKeys& keys, const AccelerateRanks& ranks) {
  static constexpr std::string_view kTypes[] = {"FSDP",      "DEEPSPEED", "MULTI_GPU", "MEGATRON_LM", "NO",
                                                "MULTI_CPU", "MULTI_XPU", "XLA",       "TPU"};
  const bool is_no = keys.word("distributed_type") == "false";
  const std::string type = is_no ? "NO" : keys.choice("distributed_type", kTypes).value_or("NO");
  if (!keys.has("distributed_type")) keys.refuse("distributed_type", "is missing");
  if (type == "FSDP") fsdp_rule(keys, ranks);
  if (type == "DEEPSPEED") zero_rule(keys);
  if (type == "MEGATRON_LM") megatron_plugin(keys);
  if (type == "MULTI_GPU" || type == "NO") keys.take("distributed_type", "training.sharding", {"ddp", {}});
  if (const auto norm = keys.number("deepspeed_config.gradient_clipping"))
    keys.take("deepspeed_config.gradient_clipping", "framework.clips_gradients", {*norm > 0, {}});
  keys.ignore("distributed_type", "the keys of its plug-in say what it means");
  for (const RecipeRow& row : kAccelerateRows) {
    const std::string_view name = row.theirs.substr(0, row.theirs.find('|'));
    const bool is_of_other = (name.starts_with("fsdp_config.") && type != "FSDP") ||
                             (name.starts_with("deepspeed_config.") && type != "DEEPSPEED") ||
                             (name.starts_with("megatron_lm_config.") && type != "MEGATRON_LM");
    if (is_of_other) keys.ignore(name, fmt::format("counts with another distributed_type than {}", type));
  }
  const std::string backend = keys.word("dynamo_config.dynamo_backend").value_or("NO");
  const bool compiles = backend == "INDUCTOR" || backend == "inductor";
  const char* const framework = type == "MEGATRON_LM" ? "megatron-core"
                                : compiles            ? "pytorch-compiled"
                                                      : "pytorch-eager";
  keys.take_or_assume({"dynamo_config.dynamo_backend"}, "training.framework", {framework, {}},
                      "the program's model is not in this file");
}

}  // namespace

bool is_accelerate(std::string_view text) { return recipe_kind_of(text) == RecipeKind::accelerate; }

FileReading read_accelerate(const ForeignFile& file) {
  std::vector<RecipeKey> given = keys_of_yaml(file);
  name_by_table(given, kAccelerateRows);
  for (RecipeKey& key : given)
    if (key.value && key.value->text() && *key.value->text() == "auto")
      key.doubt = "auto, which depends on the run";
  RecipeKeys keys(file, kAccelerateFile, std::move(given));
  take_rows(keys, kAccelerateRows, kAccelerateDefaults);
  const AccelerateRanks ranks = accelerate_ranks(keys);
  accelerate_precision(keys);
  parallelism_rule(keys, ranks);
  distribution_rule(keys, ranks);
  keys.fact("the file says nothing of batches and sequences: give training.micro_batch and training.sequence");
  leave_others(keys, kAccelerateRows, kAccelerateUnrelated);
  return keys.finish();
}

}}  // namespace c3::importers
