#pragma once
/// Dimensions of a transformer, and what its layers are made of.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/enum_names.hpp"
#include "workloads/models/blocks/block_kind.hpp"

namespace c3 { inline namespace workloads {

enum class Structure {
  decoder,          ///< layers of self-attention and feed-forward, a token sees those before it
  encoder,          ///< the same, a token sees all
  encoder_decoder,  ///< `layers` of each; the decoder's also attend to the encoder's output
};
constexpr auto enum_names(Structure) {
  return std::to_array<EnumName<Structure>>({{"decoder", Structure::decoder},
                                             {"encoder", Structure::encoder},
                                             {"encoder-decoder", Structure::encoder_decoder}});
}

enum class Norm { layernorm, rmsnorm };
constexpr auto enum_names(Norm) {
  return std::to_array<EnumName<Norm>>({{"layernorm", Norm::layernorm}, {"rmsnorm", Norm::rmsnorm}});
}

enum class Activation {
  relu,
  gelu,
  gelu_tanh,  ///< the approximation by tanh, which eager code computes in eight kernels
  silu,
};
constexpr auto enum_names(Activation) {
  return std::to_array<EnumName<Activation>>({{"relu", Activation::relu},
                                              {"gelu", Activation::gelu},
                                              {"gelu-tanh", Activation::gelu_tanh},
                                              {"silu", Activation::silu}});
}

/// Model family of HuggingFace transformers whose eager code runs. Families differ in the kernels between the
/// two products of attention, and in whether queries, keys and values come from one GEMM (`kernels_of`).
enum class EagerFamily { bert, gpt2, opt, t5 };
constexpr auto enum_names(EagerFamily) {
  return std::to_array<EnumName<EagerFamily>>({{"bert", EagerFamily::bert},
                                               {"gpt2", EagerFamily::gpt2},
                                               {"opt", EagerFamily::opt},
                                               {"t5", EagerFamily::t5}});
}

/// What a router makes of its logits, before it chooses.
enum class RouterScores {
  softmax,
  sigmoid,  ///< of each expert by itself (DeepSeek-V3)
};
constexpr auto enum_names(RouterScores) {
  return std::to_array<EnumName<RouterScores>>(
      {{"softmax", RouterScores::softmax}, {"sigmoid", RouterScores::sigmoid}});
}

/// A mixture of experts in place of a feed-forward layer.
struct ExpertDimensions {
  std::int64_t experts = 0;
  std::int64_t capacity = 0;      ///< tokens of one sequence that an expert takes, the others pass by; 0: all
  std::int64_t interval = 1;      ///< every how many layers
  std::int64_t per_token = 1;     ///< experts to which a token goes
  std::int64_t width = 0;         ///< of one expert; 0: the model's ffn
  std::int64_t shared_width = 0;  ///< of the experts to which all tokens go, together; 0: none
  std::int64_t dense_layers = 0;  ///< first layers, which have no experts
  std::int64_t groups = 1;        ///< of experts, neighbours
  std::int64_t groups_per_token = 1;  ///< from which a token's experts are chosen
  RouterScores scores = RouterScores::softmax;
  bool router_bias = false;       ///< one number for each expert
  std::int64_t latent_width = 0;  ///< of what experts read and make of a token; 0: the model's hidden

  /// Whether layer \p layer, counted from 0, has experts.
  bool are_in(std::int64_t layer) const { return layer >= dense_layers && (layer + 1) % interval == 0; }
  bool operator==(const ExpertDimensions&) const = default;
};

/// Multi-head latent attention (arXiv 2405.04434, section 2.1): queries are made from one short vector of a
/// token, keys and values from another. A part of each head's query and key is rotated; that of the key is one
/// for all heads.
struct LatentDimensions {
  std::int64_t query_rank = 0;  ///< 0: queries are made from the token
  std::int64_t kv_rank = 0;
  std::int64_t plain_dim = 0;    ///< of a head, not rotated
  std::int64_t rotated_dim = 0;  ///< of a head
  std::int64_t value_dim = 0;    ///< of a head

  bool operator==(const LatentDimensions&) const = default;
};

/// Blocks that every model has by these names.
inline constexpr std::string_view kOwnAttention = "attention";  ///< of the model's own sizes
inline constexpr std::string_view kDenseBlock = "mlp";
inline constexpr std::string_view kExpertsBlock = "experts";

/// One transformer. What has a default here may be left unsaid in a preset; the defaults are LLaMA's.
struct ModelDimensions {
  std::string name;
  std::int64_t hidden = 0;
  std::int64_t ffn = 0;  ///< width of the feed-forward layer, or of one expert
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;  ///< < heads with grouped-query attention
  std::int64_t layers = 0;    ///< of each stack
  bool gated = false;         ///< gate and up projections, computed by one GEMM of twice the width

  std::int64_t own_head_dim = 0;      ///< 0: hidden / heads
  std::int64_t vocabulary = 0;        ///< 0: not said
  std::int64_t positions = 0;         ///< rows of a learned position table; 0: none
  std::int64_t token_types = 0;       ///< rows of BERT's segment table; 0: none
  std::int64_t relative_buckets = 0;  ///< T5's relative positions, a bias of each head; 0: none
  Structure structure = Structure::decoder;
  Norm norm = Norm::rmsnorm;
  bool norm_after =
      false;  ///< after the residual sum, as in BERT; else in front of each block, and once at the end
  bool head_norm = false;      ///< of queries and keys, head by head, before they are rotated
  bool biases = false;         ///< of every projection
  bool tied_embedding = true;  ///< the head's weights are the embedding's
  Activation activation = Activation::silu;
  std::optional<EagerFamily> family =
      std::nullopt;  ///< absent: there is no list of operators of the whole model
  std::optional<ExpertDimensions> experts = std::nullopt;
  std::optional<LatentDimensions> latent = std::nullopt;
  bool attention_sinks = false;  ///< a weight of each head to which a query may attend instead of a key
  bool position_keys = false;    ///< of relative positions, beside those of tokens (arXiv 1901.02860, XLNet)
  bool output_norm = false;      ///< of what a block makes, before it is added to what runs past it

  std::vector<BlockDimensions> blocks = {};  ///< that layers may have where others have attention
  /// Names of blocks, one for each layer, from the first one on again where layers are more: of `blocks`, or
  /// kOwnAttention. Empty: all layers have attention. With `blocks_apart` also kDenseBlock and kExpertsBlock.
  std::vector<std::string> layer_pattern = {};
  bool blocks_apart = false;  ///< each name of the pattern is a layer; else feed-forward or experts follow it

  /// Width of the queries and keys of one head.
  std::int64_t head_dim() const {
    if (latent) return latent->plain_dim + latent->rotated_dim;
    return own_head_dim > 0 ? own_head_dim : hidden / heads;
  }
  std::int64_t value_dim() const { return latent ? latent->value_dim : head_dim(); }
  std::int64_t attention_width() const { return heads * head_dim(); }  ///< of all queries of a token
  /// Width of what a token sends to its experts.
  std::int64_t routed_width() const {
    return experts && experts->latent_width > 0 ? experts->latent_width : hidden;
  }
  /// Whether positions are said by rotating queries and keys.
  bool has_rotation() const { return positions == 0 && relative_buckets == 0 && !position_keys; }
  std::int64_t expert_width() const { return experts && experts->width > 0 ? experts->width : ffn; }

  bool operator==(const ModelDimensions&) const = default;
};

}}  // namespace c3::workloads
