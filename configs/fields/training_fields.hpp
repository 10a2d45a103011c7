#pragma once
/// Keys of [training] in an experiment.

#include <string>
#include <vector>

#include "configs/fields/field.hpp"
#include "workloads/training/setup.hpp"

namespace c3 { inline namespace configs {

inline constexpr std::int64_t kMostSequences = 65'536;

inline constexpr auto kTrainingFields = std::to_array<Field<TrainingSetup>>({
    number<&TrainingSetup::sequence>("sequence", {1, 16'777'216}, "tokens of one sequence"),
    number<&TrainingSetup::micro_batch>("micro_batch", {1, kMostSequences},
                                        "sequences that a data-parallel rank computes at once"),
    number<&TrainingSetup::micro_batches>("micro_batches", {1, kMostSequences},
                                          "micro-batches of a step, whose gradients add up; or give "
                                          "global_batch")
        .optional(),
    choice<&TrainingSetup::sharding>(
        "sharding",
        "what data-parallel ranks divide: nothing, optimizer state (zero1), gradients too (zero2), all (fsdp)")
        .optional(),
    number<&TrainingSetup::shard_group>("shard_group", {2, 1'048'576},
                                        "data-parallel ranks that sharding divides among (HSDP)")
        .optional(),
    choice<&TrainingSetup::parameter_gather>("parameter_gather", "when zero1 and zero2 gather parameters")
        .optional(),
    plain_flag<&TrainingSetup::reshard_after_forward>(
        "reshard_after_forward", "whether fsdp frees a layer's parameters between its passes")
        .optional(),
    number<&TrainingSetup::tensor_parallel>("tensor_parallel", {1, 4096},
                                            "neighbouring ranks that share each weight")
        .optional(),
    plain_flag<&TrainingSetup::sequence_parallel>("sequence_parallel",
                                                  "whether tokens are divided between a layer's blocks")
        .optional(),
    choice<&TrainingSetup::tensor_overlap>("tensor_overlap",
                                           "how products overlap with tensor-parallel collectives")
        .optional(),
    number<&TrainingSetup::tensor_chunks>("tensor_chunks", {2, 64},
                                          "parts of a product (chunks, user_buffers); by default one a rank")
        .by_others(),
    choice<&TrainingSetup::recompute>("recompute", "activations that the backward pass computes again")
        .optional(),
    number<&TrainingSetup::recompute_every>("recompute_every", {1, 4096},
                                            "one of this many layers is recomputed")
        .optional(),
    choice<&TrainingSetup::head>("head", "what follows the last layer").optional(),
    number<&TrainingSetup::predictions>("predictions", {1, 16'777'216},
                                        "words of a sequence that the head predicts; default: all")
        .by_others(),
    choice<&TrainingSetup::graphs>("graphs", "passes that are launched whole, as CUDA graphs").optional(),
});
static_assert(member_count<TrainingSetup>() == kTrainingFields.size() + 12,
              "all but model, framework, host, dtype, pipeline, context, lora, packed_keys, precision, "
              "experts, optimizer, offload");

std::vector<std::string> read_parts(Section& section, std::string_view key);

/// Keys of [training]: offloading.
inline constexpr auto kOffloadFields = std::to_array<Field<OffloadSetup>>({
    number<&OffloadSetup::layers>("offload_layers", {0, 4096},
                                  "first layers of a chunk whose activations wait in the host's memory")
        .optional(),
    read_by<&OffloadSetup::parts, read_parts>("offload_parts",
                                              "of these layers, such as attn.qkv; default: all")
        .by_others(),
    number<&OffloadSetup::optimizer>("offload_optimizer", {0, 1},
                                     "share of the optimizer's states in the host's memory, updated there")
        .optional(),
});
static_assert(member_count<OffloadSetup>() == kOffloadFields.size());

Optimizer read_optimizer(Section& section, std::string_view key);

/// Keys of [training]: the optimizer.
inline constexpr auto kOptimizerFields = std::to_array<Field<OptimizerSetup>>({
    read_by<&OptimizerSetup::kind, read_optimizer>("optimizer", "what updates parameters; default: adam")
        .optional(),
    choice<&OptimizerSetup::place>("optimizer_place", "units that update parameters: the GPU's, or in memory")
        .optional(),
});
static_assert(member_count<OptimizerSetup>() == kOptimizerFields.size() + 1, "all but the GPU's HBM");

PrecisionRecipe read_recipe(Section& section, std::string_view key);

/// Keys of [training]: precision.
inline constexpr auto kPrecisionFields = std::to_array<Field<PrecisionSetup>>({
    read_by<&PrecisionSetup::recipe, read_recipe>("precision",
                                                  "recipe by which layers' products run in 8 or 4 bits")
        .optional(),
    plain_flag<&PrecisionSetup::parameters>("quantized_parameters",
                                            "whether these products' weights are kept in that type alone")
        .optional(),
    plain_flag<&PrecisionSetup::weight_gradients>("quantized_wgrad",
                                                  "whether gradients of weights are such products, too")
        .optional(),
    plain_flag<&PrecisionSetup::transposes>(
        "kept_transposes", "whether copies of these weights along their columns stay between passes")
        .optional(),
    plain_flag<&PrecisionSetup::attention>("quantized_attention", "whether attention reads and writes 8 bits")
        .optional(),
    plain_flag<&PrecisionSetup::activations>("quantized_activations",
                                             "whether inputs of activation functions are kept in 8 bits")
        .optional(),
    number<&PrecisionSetup::first_layers>("first_layers_16bit", {0, 4096}, "first layers that stay in 16 bits")
        .optional(),
    number<&PrecisionSetup::last_layers>("last_layers_16bit", {0, 4096}, "last layers that stay in 16 bits")
        .optional(),
});
static_assert(member_count<PrecisionSetup>() == kPrecisionFields.size() + 1, "all but what the GPU says");

std::vector<double> read_shares(Section& section, std::string_view key);

/// Keys of [training]: expert parallelism.
inline constexpr auto kExpertParallelFields = std::to_array<Field<ExpertSetup>>({
    number<&ExpertSetup::ranks>("expert_parallel", {1, 4096}, "ranks among which experts are divided")
        .optional(),
    number<&ExpertSetup::tensor>("expert_tensor_parallel", {1, 4096},
                                 "ranks that share each expert's weights; default: tensor_parallel")
        .by_others(),
    choice<&ExpertSetup::dispatch>("dispatch", "how tokens come to experts on other ranks").optional(),
    plain_flag<&ExpertSetup::fp8_dispatch>("fp8_dispatch", "whether tokens travel to their experts in FP8")
        .optional(),
    number<&ExpertSetup::capacity_factor>("capacity_factor", {0.01, 1024},
                                          "tokens of an expert over an even share; default: all")
        .by_others(),
    plain_flag<&ExpertSetup::shared_overlap>("shared_expert_overlap",
                                             "whether shared experts run beside dispatch")
        .optional(),
    plain_flag<&ExpertSetup::micro_batch_overlap>("micro_batch_overlap",
                                                  "whether a micro-batch's kernels run beside another's tokens")
        .optional(),
    plain_flag<&ExpertSetup::delayed_weight_gradients>(
        "delayed_weight_gradients", "with micro_batch_overlap: make weights' gradients when tokens' have left")
        .optional(),
    number<&ExpertSetup::padding>("expert_padding", {1, 65'536}, "multiple of an expert's tokens").optional(),
    choice<&ExpertSetup::routing>("routing", "how tokens are spread over experts").optional(),
    number<&ExpertSetup::concentration>("routing_concentration", {0.01, 1e6},
                                        "of the Dirichlet distribution of experts' shares")
        .optional(),
    number<&ExpertSetup::routing_seed>("routing_seed", {0, 1e9}, "of what is drawn of routing").optional(),
    read_by<&ExpertSetup::shares, read_shares>("routing_shares", "share of each expert, with histogram")
        .by_others(),
});
static_assert(member_count<ExpertSetup>() == kExpertParallelFields.size() + 1, "all but what the cluster says");

std::string read_layout(Section& section, std::string_view key);
std::vector<std::string> read_pipeline_table(Section& section, std::string_view key);

/// Keys of [training]: the pipeline.
inline constexpr auto kPipelineFields = std::to_array<Field<PipelineSetup>>({
    number<&PipelineSetup::stages>("pipeline", {1, 1024}, "stages into which layers are divided").optional(),
    number<&PipelineSetup::virtual_stages>("virtual_stages", {1, 64},
                                           "chunks of layers that a stage has (interleaved, zb-v)")
        .optional(),
    choice<&PipelineSetup::schedule>("schedule",
                                     "order of passes; default: 1f1b, interleaved with virtual_stages")
        .by_others(),
    number<&PipelineSetup::group>("micro_batch_group", {1, 65'536},
                                  "micro-batches that go through a chunk together; default: one a stage")
        .by_others(),
    choice<&PipelineSetup::messages>(
        "pipeline_messages", "how stages exchange messages; default: batched with gpipe, 1f1b and zb-h1")
        .by_others(),
    plain_flag<&PipelineSetup::scatter_gather>("scatter_gather",
                                               "whether tensor-parallel ranks each send a part, and gather")
        .optional(),
    number<&PipelineSetup::deferred_head_gradients>(
        "deferred_head_gradients", {0, 65'536}, "micro-batches whose head's gradients wait for the last pass")
        .optional(),
    number<&PipelineSetup::first_layers>("first_stage_layers", {1, 4096}, "layers of the first stage")
        .by_others(),
    number<&PipelineSetup::last_layers>("last_stage_layers", {1, 4096}, "layers of the last stage").by_others(),
    plain_flag<&PipelineSetup::embedding_in_split>("embedding_in_split",
                                                   "whether the embedding counts as a layer of the first stage")
        .optional(),
    plain_flag<&PipelineSetup::loss_in_split>(
        "loss_in_split", "whether the head and the loss count as a layer of the last stage")
        .optional(),
    read_by<&PipelineSetup::layout, read_layout>("pipeline_layout",
                                                 "layers of each virtual stage, as Megatron-Core writes them")
        .by_others(),
    read_by<&PipelineSetup::table, read_pipeline_table>("pipeline_table",
                                                        "with schedule = \"table\", for each stage its passes "
                                                        "in order: \"F0 F1 B0 W0 B1 W1\"")
        .by_others(),
});
static_assert(member_count<PipelineSetup>() == kPipelineFields.size());

/// Keys of [training]: context parallelism.
inline constexpr auto kContextFields = std::to_array<Field<ContextSplit>>({
    number<&ContextSplit::ranks>("context_parallel", {1, 65'536},
                                 "ranks that have a part of every sequence each")
        .optional(),
    choice<&ContextSplit::exchange>("context_exchange",
                                    "how their queries meet the other ranks' keys and values")
        .optional(),
    number<&ContextSplit::inner>("context_inner", {2, 65'536},
                                 "hierarchical: neighbours that exchange by all-to-alls")
        .by_others(),
});
static_assert(member_count<ContextSplit>() == kContextFields.size());

/// Keys of [training.lora].
inline constexpr auto kLoraFields = std::to_array<Field<LoraSetup>>({
    number<&LoraSetup::rank>("rank", {1, 65'536}, "of adapters"),
    plain_flag<&LoraSetup::qkv>("qkv", "whether the projections to queries, keys and values have adapters")
        .optional(),
    plain_flag<&LoraSetup::out>("out", "whether attention's projection has one").optional(),
    plain_flag<&LoraSetup::gate_up>("gate_up", "whether the feed-forward layer's first projections have them")
        .optional(),
    plain_flag<&LoraSetup::down>("down", "whether its second one has one").optional(),
    plain_flag<&LoraSetup::dropout>("dropout", "whether what adapters multiply is dropped out").optional(),
    plain_flag<&LoraSetup::all_to_all>(
        "all_to_all", "with sequence_parallel, whether tokens of outputs are exchanged, not gathered")
        .optional(),
});
static_assert(member_count<LoraSetup>() == kLoraFields.size());

}}  // namespace c3::configs
