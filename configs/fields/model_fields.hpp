#pragma once
/// Keys of a model (configs/models/*.toml).

#include "configs/fields/field.hpp"
#include "workloads/models/model_dimensions.hpp"

namespace c3 { inline namespace configs {

inline constexpr auto kWidest = static_cast<double>(kWidestBlock);
inline constexpr std::int64_t kMostLayers = kMostBlockHeads;  // also heads and experts
inline constexpr std::int64_t kMostTokens = kMostBlockTokens;

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
    plain_flag<&ModelDimensions::attention_sinks>("attention_sinks", "whether each head has a learned sink")
        .optional(),
    plain_flag<&ModelDimensions::position_keys>("position_keys",
                                                "whether relative positions have keys, as in XLNet")
        .optional(),
    plain_flag<&ModelDimensions::output_norm>("output_norm", "whether blocks' outputs have norms of their own")
        .optional(),
    plain_flag<&ModelDimensions::blocks_apart>(
        "blocks_apart", "whether each name of layer_pattern is a layer, without a feed-forward block behind it")
        .optional(),
});
static_assert(member_count<ModelDimensions>() == kModelFields.size() + 5,
              "all but name, experts, latent, blocks and layer_pattern");

inline constexpr auto kExpertFields = std::to_array<Field<ExpertDimensions>>({
    number<&ExpertDimensions::experts>("count", {1, kMostLayers}, "experts of a layer"),
    number<&ExpertDimensions::capacity>("capacity", {1, kMostTokens},
                                        "tokens of one sequence that an expert takes; default: all")
        .optional(),
    number<&ExpertDimensions::interval>("interval", {1, kMostLayers},
                                        "every how many layers there are experts; must divide layers")
        .optional(),
    number<&ExpertDimensions::per_token>("per_token", {1, kMostLayers}, "experts to which a token goes")
        .optional(),
    number<&ExpertDimensions::width>("width", {1, kWidest}, "width of one expert; default: ffn").optional(),
    number<&ExpertDimensions::shared_width>("shared_width", {1, kWidest},
                                            "width of the shared experts together; default: none")
        .optional(),
    number<&ExpertDimensions::dense_layers>("dense_layers", {0, kMostLayers}, "first layers, without experts")
        .optional(),
    number<&ExpertDimensions::groups>("groups", {1, kMostLayers}, "groups of experts").optional(),
    number<&ExpertDimensions::groups_per_token>("groups_per_token", {1, kMostLayers},
                                                "groups from which a token's experts are chosen")
        .optional(),
    choice<&ExpertDimensions::scores>("scores", "what the router makes of its logits").optional(),
    plain_flag<&ExpertDimensions::router_bias>("router_bias", "whether the router has a bias").optional(),
    number<&ExpertDimensions::latent_width>(
        "latent_width", {1, kWidest},
        "elements that a projection makes of a token for its experts, as in Nemotron 3; default: hidden")
        .optional(),
});
static_assert(member_count<ExpertDimensions>() == kExpertFields.size());

inline constexpr auto kLatentFields = std::to_array<Field<LatentDimensions>>({
    number<&LatentDimensions::query_rank>("query_rank", {1, kWidest},
                                          "elements of the vector from which queries are made; default: none")
        .optional(),
    number<&LatentDimensions::kv_rank>("kv_rank", {1, kWidest}, "the same of keys and values"),
    number<&LatentDimensions::plain_dim>("plain_dim", {1, kWidest}, "elements of a head that are not rotated"),
    number<&LatentDimensions::rotated_dim>("rotated_dim", {1, kWidest}, "elements of a head that are rotated"),
    number<&LatentDimensions::value_dim>("value_dim", {1, kWidest}, "elements of a head's values"),
});
static_assert(member_count<LatentDimensions>() == kLatentFields.size());

}}  // namespace c3::configs
