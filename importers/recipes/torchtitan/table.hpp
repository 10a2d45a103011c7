#pragma once
/// The keys of torchtitan as a table, which is their documentation.

#include <array>

#include "importers/recipes/key_table.hpp"

namespace c3 { inline namespace importers {

inline constexpr std::string_view kTitanDefaults =
    "torchtitan's default (torchtitan/config/job_config.py @238fa995)";

// pytorch/torchtitan @238fa995, the last commit that reads TOML: torchtitan/config/job_config.py,
// distributed/parallel_dims.py, distributed/pipeline_parallel.py, distributed/activation_checkpoint.py,
// train.py. Other spellings are of releases before.
inline constexpr auto kTitanRows = std::to_array<RecipeRow>({
    {"model.name", As::rule, "model.use", "with model.flavor"},
    {"model.flavor", As::rule, "model.use", "a preset, where c3sim has one"},
    {"model.converters", As::rule, "training.precision", "whether layers' products run in 8 bits"},
    {"training.local_batch_size|training.batch_size", As::rule, "training.micro_batch",
     "sequences of a data-parallel rank; with a pipeline, of its micro-batches together"},
    {"training.global_batch_size", As::rule, "training.global_batch",
     "-1, the default: one local batch a rank"},
    {"training.seq_len", As::whole, "training.sequence", "tokens", "2048"},
    {"training.max_norm", As::rule, "framework.clips_gradients", "1.0 by default"},
    {"training.dtype", As::rule, "framework.parameter_dtype", "of parameters; float32 by default"},
    {"training.mixed_precision_param", As::rule, "model.dtype", "of layers' products; bfloat16 by default"},
    {"training.mixed_precision_reduce", As::rule, "framework.gradient_dtype", "float32, the only one"},
    {"training.enable_cpu_offload", As::rule, "training.offload_optimizer",
     "1.0; parameters are offloaded, too, which is not modelled"},
    {"parallelism.data_parallel_replicate_degree", As::rule, "training.sharding",
     "ddp where it stands alone, shard_group with the one below"},
    {"parallelism.data_parallel_shard_degree", As::rule, "training.sharding",
     "fsdp; -1, the default: all ranks that are left"},
    {"parallelism.fsdp_reshard_after_forward", As::rule, "training.reshard_after_forward",
     "default: true without a pipeline"},
    {"parallelism.tensor_parallel_degree|training.tensor_parallel_degree", As::whole,
     "training.tensor_parallel", "with sequence parallelism", "1"},
    {"parallelism.enable_async_tensor_parallel", As::rule, "training.tensor_overlap", "ring"},
    {"parallelism.disable_loss_parallel", As::not_modelled, "logits that are gathered before the loss"},
    {"parallelism.pipeline_parallel_degree", As::whole, "training.pipeline", "stages", "1"},
    {"parallelism.pipeline_parallel_schedule", As::rule, "training.schedule", "1F1B by default"},
    {"parallelism.pipeline_parallel_schedule_csv", As::not_modelled,
     "a schedule in a file of its own; [training] pipeline_table takes one"},
    {"parallelism.pipeline_parallel_microbatch_size", As::rule, "training.micro_batch", "1 by default"},
    {"parallelism.pipeline_parallel_layers_per_stage", As::rule, "training.virtual_stages",
     "layers of a chunk"},
    {"parallelism.pipeline_parallel_first_stage_less_layers", As::rule, "training.pipeline_layout",
     "1 by default: the embedding counts as a layer"},
    {"parallelism.pipeline_parallel_last_stage_less_layers", As::rule, "training.pipeline_layout",
     "1 by default: the head counts as a layer"},
    {"parallelism.module_fqns_per_model_part", As::not_modelled,
     "modules of each chunk by their names; [training] pipeline_layout takes letters"},
    {"parallelism.pipeline_parallel_expert_parallel_overlap", As::unrelated, "counts with DualPipeV alone"},
    {"parallelism.context_parallel_degree", As::whole, "training.context_parallel",
     "ranks that have a part of a sequence", "1"},
    {"parallelism.context_parallel_rotate_method", As::rule, "training.context_exchange",
     "allgather: gather, by default; alltoall: ring"},
    {"parallelism.context_parallel_load_balancer", As::unrelated, "c3sim balances parts of sequences"},
    {"parallelism.expert_parallel_degree", As::rule, "training.expert_parallel", "ranks that divide experts"},
    {"parallelism.expert_tensor_parallel_degree", As::rule, "training.expert_tensor_parallel", "1 by default"},
    {"parallelism.expert_parallel_comm_backend", As::rule, "training.dispatch",
     "standard: alltoall, or deepep"},
    {"activation_checkpoint.mode", As::rule, "training.recompute", "selective by default"},
    {"activation_checkpoint.selective_ac_option", As::rule, "training.recompute_every",
     "op, or every so many layers, 2 by default"},
    {"activation_checkpoint.memory_budget", As::unrelated, "counts with mode memory_budget alone"},
    {"compile.enable|training.compile", As::rule, "training.framework", "torchtitan, without: pytorch-eager"},
    {"compile.components", As::rule, "training.framework", "model among them"},
    {"optimizer.name", As::rule, "training.optimizer", "Adam or AdamW"},
    {"optimizer.implementation", As::rule, "framework.fused_optimizer", "fused by default"},
    {"optimizer.early_step_in_backward", As::not_modelled, "an update as soon as a gradient is there"},
    {"quantize.linear.float8.recipe_name|float8.recipe_name", As::rule, "training.precision",
     "tensorwise by default; rowwise is not modelled"},
    {"quantize.linear.float8.enable_fsdp_float8_all_gather|float8.enable_fsdp_float8_all_gather", As::rule,
     "training.quantized_parameters", "parameters gathered in 8 bits"},
    {"quantize.linear.mx.recipe_name|mx.recipe_name", As::rule, "training.precision", "mxfp8"},
    {"debug.moe_force_load_balance", As::rule, "training.routing", "balanced"},
    {"debug.deterministic", As::not_modelled, "kernels that always add in one order"},
});

inline constexpr auto kTitanUnrelated = std::to_array<UnrelatedKeys>({
    {"job.", "names and folders"},
    {"profiling.", "profiling"},
    {"metrics.", "logging"},
    {"checkpoint.", "checkpoints"},
    {"validation.", "evaluation"},
    {"lr_scheduler.", "numbers of the optimizer"},
    {"optimizer.", "numbers of the optimizer"},
    {"comm.", "how processes meet"},
    {"memory_estimation.", "profiling"},
    {"fault_tolerance.", "monitoring"},
    {"experimental.", "code of one's own"},
    {"debug.", "debugging"},
    {"training.dataset", "data"},
    {"training.dataloader", "data"},
    {"training.steps", "when training ends"},
    {"training.gc_", "Python's garbage"},
    {"training.seed", "how weights begin"},
    {"training.deterministic", "debugging"},
    {"model.hf_assets", "the tokenizer"},
    {"model.tokenizer", "the tokenizer"},
    {"model.print", "logging"},
    {"compile.", "how layers are compiled"},
    {"activation_checkpoint.", "details of recomputation"},
    {"quantize.", "details of 8 bits"},
    {"float8.", "details of 8 bits"},
    {"mx.", "details of 8 bits"},
});

/// A flavour of a model that is one of c3sim's presets.
struct TitanModel {
  std::string_view name, flavor, preset;
  std::int64_t layers;
  bool has_experts = false;
};

// torchtitan/models/*/__init__.py of the same commit.
inline constexpr auto kTitanModels = std::to_array<TitanModel>({
    {"llama3", "8B", "llama-3-8b", 32},
    {"llama3", "70B", "llama-3-70b", 80},
    {"llama3", "405B", "llama-405b", 126},
    {"llama4", "17bx16e", "llama-4-scout", 48, true},
    {"llama4", "17bx128e", "llama-4-maverick", 48, true},
    {"deepseek_v3", "671B", "deepseek-v3", 61, true},
    {"qwen3", "0.6B", "qwen3-0.6b", 28},
    {"qwen3", "1.7B", "qwen3-1.7b", 28},
    {"qwen3", "4B", "qwen3-4b", 36},
    {"qwen3", "8B", "qwen3-8b", 36},
    {"qwen3", "14B", "qwen3-14b", 40},
    {"qwen3", "32B", "qwen3-32b", 64},
    {"qwen3", "30B-A3B", "qwen3-30b-a3b", 48, true},
    {"qwen3", "235B-A22B", "qwen3-235b-a22b", 94, true},
    {"gpt_oss", "20b", "gpt-oss-20b", 24, true},
    {"gpt_oss", "120b", "gpt-oss-120b", 36, true},
});

}}  // namespace c3::importers
