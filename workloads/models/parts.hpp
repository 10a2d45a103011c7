#pragma once
/// The parts that models are made of, whoever runs them: ids, kinds with their dimensions, weights.
/// Widths are in numbers a token.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "base/enum_names.hpp"
#include "workloads/models/model_dimensions.hpp"

namespace c3 { inline namespace workloads {

class OwnPart;

/// The block of a model that a part belongs to.
enum class BlockId : std::uint8_t {
  embedding,
  self_attention,
  linear_attention,  ///< in its place
  state_space,       ///< the same
  cross_attention,   ///< of a decoder, to what the encoder makes
  feed_forward,      ///< or experts in its place
  experts,           ///< kernels of those, under training frameworks
  shared_experts,    ///< to which all tokens go, beside those
  stack_end,         ///< after the last layer
  head,
  loss,
};
constexpr auto enum_names(BlockId) {
  return std::to_array<EnumName<BlockId>>({{"embedding", BlockId::embedding},
                                           {"attn", BlockId::self_attention},
                                           {"linear", BlockId::linear_attention},
                                           {"ssm", BlockId::state_space},
                                           {"cross", BlockId::cross_attention},
                                           {"mlp", BlockId::feed_forward},
                                           {"experts", BlockId::experts},
                                           {"shared", BlockId::shared_experts},
                                           {"final", BlockId::stack_end},
                                           {"head", BlockId::head},
                                           {"loss", BlockId::loss}});
}

/// What a part does there. Frameworks divide attention and experts: their kernels have roles of their own.
enum class Role : std::uint8_t {
  whole,  ///< the only part of its block
  norm,
  compress,     ///< projections to the latent vectors of queries, and of keys and values
  latent_norm,  ///< of these
  widen,        ///< from the vectors that experts make to those of tokens
  expand,       ///< projection from that of queries to heads
  expand_kv,    ///< the same of keys and values
  output_norm,  ///< of what the block makes
  index,        ///< which tokens are attended to
  bias,         ///< of relative positions
  qkv,          ///< projections to queries, keys and values
  head_norm,    ///< of queries and keys
  rope,         ///< rotates queries and keys by their positions
  attention,
  kernel,  ///< all of attention in one kernel
  copy,    ///< heads put where a product can read them
  scores,
  scale_mask,
  softmax,
  dropout,
  values,
  output_gate,  ///< times what attention makes
  convolution,  ///< along the sequence
  scan,         ///< a recurrence over the tokens
  out,
  router,
  experts,
  dispatch,  ///< tokens brought to their experts
  arrange,   ///< tokens that have arrived put in the order of their experts
  gate_up,
  activation,
  down,
  restore,  ///< experts' outputs put back into the order in which their tokens arrived
  combine,  ///< experts' outputs brought back to their tokens
  residual,
  pick,  ///< of tokens whose words are predicted
  transform,
  classes,
  logits,
  qkv_adapter,  ///< LoRA's, beside the projection of that role
  out_adapter,
  gate_up_adapter,
  down_adapter,
};
constexpr auto enum_names(Role) {
  return std::to_array<EnumName<Role>>({{"", Role::whole},
                                        {"norm", Role::norm},
                                        {"compress", Role::compress},
                                        {"latent_norm", Role::latent_norm},
                                        {"widen", Role::widen},
                                        {"expand", Role::expand},
                                        {"expand_kv", Role::expand_kv},
                                        {"output_norm", Role::output_norm},
                                        {"index", Role::index},
                                        {"bias", Role::bias},
                                        {"qkv", Role::qkv},
                                        {"head_norm", Role::head_norm},
                                        {"rope", Role::rope},
                                        {"attention", Role::attention},
                                        {"kernel", Role::kernel},
                                        {"copy", Role::copy},
                                        {"scores", Role::scores},
                                        {"scale_mask", Role::scale_mask},
                                        {"softmax", Role::softmax},
                                        {"dropout", Role::dropout},
                                        {"values", Role::values},
                                        {"output_gate", Role::output_gate},
                                        {"conv", Role::convolution},
                                        {"scan", Role::scan},
                                        {"out", Role::out},
                                        {"router", Role::router},
                                        {"experts", Role::experts},
                                        {"dispatch", Role::dispatch},
                                        {"arrange", Role::arrange},
                                        {"gate_up", Role::gate_up},
                                        {"activation", Role::activation},
                                        {"down", Role::down},
                                        {"restore", Role::restore},
                                        {"combine", Role::combine},
                                        {"residual", Role::residual},
                                        {"pick", Role::pick},
                                        {"transform", Role::transform},
                                        {"classes", Role::classes},
                                        {"logits", Role::logits},
                                        {"qkv_adapter", Role::qkv_adapter},
                                        {"out_adapter", Role::out_adapter},
                                        {"gate_up_adapter", Role::gate_up_adapter},
                                        {"down_adapter", Role::down_adapter}});
}

struct PartId {
  BlockId block = BlockId::embedding;
  Role role = Role::whole;

  bool operator==(const PartId&) const = default;
};

/// The part's name in tables, files and traces: "attn.qkv", "embedding".
std::string name_of(PartId part);

struct ModelPart;

/// The kinds of parts.
namespace parts {

/// The sum of a row of each table for every token.
struct Embedding {
  std::vector<std::int64_t> rows;  ///< of each table: of words, then of positions and token types
  std::int64_t width = 0;
  bool is_shared = false;   ///< the tables are another stack's
  bool is_divided = false;  ///< of the first table, this rank has a part
  bool is_frozen = false;   ///< its weights get no gradients
};

/// T5's: a bias for each head and pair of tokens, which all layers of a stack add to their scores.
struct RelativeBias {
  std::int64_t buckets = 0;
  std::int64_t heads = 0;
};

struct Norm {
  c3::Norm formula = c3::Norm::rmsnorm;
  std::int64_t width = 0;
  bool is_of_sum = true;  ///< its input is a residual sum, or runs past the blocks like one
  bool is_frozen = false;
  bool reads_layer_input = false;  ///< what the layer before has made
};

/// Tokens times a weight, or several weights that have the same input.
struct Projection {
  std::int64_t inputs = 0;
  std::vector<std::int64_t> outputs;  ///< of each weight, e.g. queries, keys, values
  bool has_bias = false;
  bool is_tied = false;         ///< its weight is the embedding's
  bool is_crossed = false;      ///< all but the first read what the encoder makes
  bool output_is_kept = false;  ///< the backward pass of the next part needs it
  bool is_frozen = false;
  bool feeds_adapter = false;  ///< whose gradients need the input of both
};

/// LoRA's beside a frozen projection (arXiv 2106.09685): the tokens' product with inputs x rank weights,
/// and that product's with rank x outputs weights, are added to the projection's outputs.
struct Adapter {
  std::int64_t inputs = 0;
  std::vector<std::int64_t> outputs;  ///< of each pair of weights
  std::int64_t rank = 0;
  bool drops = false;           ///< inputs, before it multiplies them
  bool exchanges = false;       ///< all-to-all where outputs would be gathered
  int ranks = 1;                ///< that share it, as they share the projection
  bool splits_outputs = false;  ///< of the projection; else they have a part of its inputs each
};

/// Queries and keys, each head by itself; all heads have the same weights.
struct HeadNorm {
  c3::Norm formula = c3::Norm::rmsnorm;
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t head_dim = 0;
  bool is_frozen = false;
};

/// RoPE: queries and keys are rotated, values are not.
struct Rotation {
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t head_dim = 0;
};

/// The same of queries and keys of which a part is rotated, and the key's part is one for all heads: keys are
/// put together of both.
struct LatentRotation {
  std::int64_t heads = 0;
  std::int64_t plain_dim = 0;
  std::int64_t rotated_dim = 0;
  std::int64_t value_dim = 0;
};

/// softmax(Q K^T) V.
struct Attention {
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;  ///< a divisor of `heads`
  std::int64_t head_dim = 0;
  bool is_causal = false;      ///< a token sees those before it; else all
  bool is_biased = false;      ///< by relative positions
  std::int64_t value_dim = 0;  ///< of a head's values; 0: head_dim
  bool has_sinks = false;      ///< a weight of each head
  /// Width of the inputs from which keys of relative positions are made, without a bias; queries are biased
  /// towards keys of tokens, of positions and of segments. 0: there are none.
  std::int64_t position_inputs = 0;
  std::int64_t window = 0;  ///< tokens that one sees, its own and those right before it; 0: all before it
  std::int64_t chunk = 0;   ///< tokens among which attention stays; 0: a whole sequence
};

struct Activation {
  c3::Activation function = c3::Activation::silu;
  std::int64_t width = 0;
  bool is_gated = false;  ///< times the other half of what the projection before it makes
};

/// What comes through the block is added to what runs past it.
struct Residual {
  std::int64_t width = 0;
};

struct Dropout {
  std::int64_t width = 0;
};

/// Chooses the experts of every token.
struct Router {
  std::int64_t width = 0;
  std::int64_t experts = 0;
  std::int64_t per_token = 1;
  RouterScores scores = RouterScores::softmax;
  bool has_bias = false;
  bool has_groups = false;  ///< of experts, of which the best are chosen first
  bool is_frozen = false;
};

/// Feed-forward blocks with weights of their own; each runs the tokens that were sent to it.
struct Experts {
  std::int64_t count = 0;
  std::int64_t capacity = 0;  ///< tokens of one sequence that an expert takes, the others pass by; 0: all
  std::int64_t width = 0;
  std::vector<ModelPart> expert_parts;  ///< parts of one expert; adapters among them are one for all on a GPU
  std::int64_t per_token = 1;           ///< experts to which a token goes
};

/// Pools one token of each sequence and classifies it.
struct Classes {
  std::int64_t width = 0;
  std::int64_t classes = 0;
};

/// Tokens whose words are predicted, so many of each sequence: what follows is of these alone.
struct Picked {
  std::int64_t width = 0;
  std::int64_t of_sequence = 0;
};

/// Cross entropy over all words.
struct Loss {
  std::int64_t words = 0;
};

/// What only one kind of block has.
struct Own {
  std::shared_ptr<const OwnPart> part;  ///< never null
};

}  // namespace parts

using PartKind = std::variant<parts::Embedding, parts::RelativeBias, parts::Norm, parts::Projection,
                              parts::HeadNorm, parts::Rotation, parts::LatentRotation, parts::Attention,
                              parts::Activation, parts::Residual, parts::Dropout, parts::Router, parts::Experts,
                              parts::Classes, parts::Loss, parts::Adapter, parts::Picked, parts::Own>;

struct ModelPart {
  PartId id;
  PartKind kind;
};

/// Weights and biases, in numbers.
std::int64_t parameters(const ModelPart& part);
std::int64_t parameters(std::span<const ModelPart> parts);
/// Parameters with which one token is computed: of the experts, only those that it goes to.
std::int64_t active_parameters(std::span<const ModelPart> parts);

}}  // namespace c3::workloads
