#pragma once
/// Keys of [training] in an experiment.

#include "configs/fields/field.hpp"
#include "workloads/training/setup.hpp"

namespace c3::inline configs {

inline constexpr std::int64_t kMostSequences = 65'536;

inline constexpr auto kTrainingFields = std::to_array<Field<TrainingSetup>>({
    number<&TrainingSetup::sequence>("sequence", {1, 16'777'216}, "tokens of one sequence"),
    number<&TrainingSetup::micro_batch>("micro_batch", {1, kMostSequences},
                                        "sequences that a data-parallel rank computes at once"),
    number<&TrainingSetup::micro_batches>("micro_batches", {1, kMostSequences},
                                          "micro-batches of a step, whose gradients add up; or give "
                                          "global_batch")
        .optional(),
    choice<&TrainingSetup::sharding>("sharding",
                                     "what data-parallel ranks divide: nothing (ddp), optimizer state (zero1), "
                                     "gradients too (zero2), parameters too (fsdp)")
        .optional(),
    plain_flag<&TrainingSetup::reshard_after_forward>("reshard_after_forward",
                                                      "whether a layer's parameters are freed between its "
                                                      "passes; requires sharding = \"fsdp\"")
        .optional(),
    number<&TrainingSetup::tensor_parallel>("tensor_parallel", {1, 4096},
                                            "neighbouring ranks that share each weight; must divide heads, "
                                            "kv_heads, ffn and ranks")
        .optional(),
    plain_flag<&TrainingSetup::sequence_parallel>("sequence_parallel",
                                                  "whether tokens are divided between a layer's blocks; "
                                                  "requires tensor_parallel > 1")
        .optional(),
    number<&TrainingSetup::async_chunks>("async_chunks", {1, 64},
                                         "parts into which products and their collectives are cut, so that "
                                         "they overlap; requires tensor_parallel > 1")
        .optional(),
    choice<&TrainingSetup::recompute>("recompute",
                                      "activations that the backward pass computes again instead of reading "
                                      "them from memory")
        .optional(),
    number<&TrainingSetup::recompute_every>("recompute_every", {1, 4096},
                                            "one of this many layers is recomputed; requires recompute")
        .optional(),
});
static_assert(member_count<TrainingSetup>() == kTrainingFields.size() + 4,
              "all but model, framework, host and dtype");

}  // namespace c3::configs
