#pragma once
/// Keys of a model (configs/models/*.toml).

#include "configs/fields/field.hpp"
#include "workloads/models/model_dimensions.hpp"

namespace c3::inline configs {

inline constexpr double kWidest = 1'048'576;
inline constexpr std::int64_t kMostLayers = 4096;  // also heads and experts
inline constexpr std::int64_t kMostTokens = 16'777'216;

inline constexpr auto kModelFields = std::to_array<Field<ModelDimensions>>({
    number<&ModelDimensions::hidden>("hidden", {1, kWidest}, "elements of a token between layers"),
    number<&ModelDimensions::ffn>("ffn", {1, kWidest}, "width of the feed-forward layer, or of one expert"),
    number<&ModelDimensions::heads>("heads", {1, kMostLayers}, "query heads of attention"),
    number<&ModelDimensions::kv_heads>("kv_heads", {1, kMostLayers},
                                       "key and value heads; fewer than heads with grouped-query attention"),
    number<&ModelDimensions::layers>("layers", {1, kMostLayers}, "layers of each stack"),
    plain_flag<&ModelDimensions::gated>("gated",
                                        "whether the feed-forward layer has a gate beside its up projection"),
    number<&ModelDimensions::own_head_dim>("head_dim", {1, kWidest},
                                           "elements of a head; default: hidden / heads")
        .optional(),
    number<&ModelDimensions::vocabulary>("vocabulary", {1, kMostTokens},
                                         "tokens of the vocabulary; training steps require it")
        .optional(),
    number<&ModelDimensions::positions>("positions", {1, kMostTokens},
                                        "rows of a learned position table; default: none")
        .optional(),
    number<&ModelDimensions::token_types>("token_types", {1, kMostTokens},
                                          "rows of BERT's segment table; default: none")
        .optional(),
    number<&ModelDimensions::relative_buckets>("relative_buckets", {1, kMostTokens},
                                               "buckets of T5's relative positions; default: none")
        .optional(),
    choice<&ModelDimensions::structure>("structure", "which stacks of layers the model has").optional(),
    choice<&ModelDimensions::norm>("norm", "kind of normalisation").optional(),
    plain_flag<&ModelDimensions::norm_after>("norm_after", "whether norms follow the residual sum, as in BERT")
        .optional(),
    plain_flag<&ModelDimensions::head_norm>("head_norm", "whether queries and keys have norms of their own")
        .optional(),
    plain_flag<&ModelDimensions::biases>("biases", "whether every projection has a bias").optional(),
    plain_flag<&ModelDimensions::tied_embedding>("tied_embedding",
                                                 "whether the output layer shares the embedding's weights")
        .optional(),
    choice<&ModelDimensions::activation>("activation", "function between the feed-forward projections")
        .optional(),
    choice<&ModelDimensions::family>("family",
                                     "HuggingFace model code whose kernels are listed for the whole model")
        .optional(),
});
static_assert(member_count<ModelDimensions>() == kModelFields.size() + 2, "all but name and experts");

inline constexpr auto kExpertFields = std::to_array<Field<ExpertDimensions>>({
    number<&ExpertDimensions::experts>("count", {1, kMostLayers}, "experts of a layer"),
    number<&ExpertDimensions::capacity>("capacity", {1, kMostTokens},
                                        "tokens of one sequence that an expert takes; the others skip it"),
    number<&ExpertDimensions::interval>("interval", {1, kMostLayers},
                                        "every how many layers there are experts; must divide layers"),
});
static_assert(member_count<ExpertDimensions>() == kExpertFields.size());

}  // namespace c3::configs
