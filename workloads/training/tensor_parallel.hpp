#pragma once
/// What tensor parallelism does to the parts of a model: what each rank has of them, and which collectives
/// stand before and after their products.

#include <cstdint>
#include <span>
#include <vector>

#include "gpu/kernels/operator.hpp"
#include "workloads/models/parts.hpp"
#include "workloads/training/setup.hpp"

namespace c3 { inline namespace workloads {

/// Whether ranks have some of the outputs of a projection each, and so all inputs; of attn.out and mlp.down it
/// is the reverse.
bool splits_outputs(PartId part);

/// What one of \p ranks that share each weight has of \p parts: its heads, its part of the feed-forward width,
/// and its words, rounded up. Norms, tables of positions and biases that follow a sum it has whole. \pre \p
/// ranks divides heads, kv_heads and ffn.
std::vector<ModelPart> share_of(std::span<const ModelPart> parts, int ranks);

/// What one of \p ranks among which experts are divided, and of \p sharers that share each weight of these,
/// has of \p parts. All but experts it has whole. \pre \p ranks divides them, \p sharers their width
std::vector<ModelPart> share_of_experts(std::span<const ModelPart> parts, int ranks, int sharers);

/// Collectives of one part of a layer in one pass. All are of every token of a micro-batch times
/// exchanged_width().
struct PartCollectives {
  bool gathers = false;        ///< before: each rank has a part of the tokens
  bool reduces = false;        ///< after: each rank has a part of the sum
  bool gathers_input = false;  ///< before gradients of weights: each rank has kept a part of the tokens
};

/// Forward, `attn.out` and `mlp.down` end in a sum over ranks; backward, `attn.qkv`, `mlp.gate_up` and
/// `head.logits`. With sequence parallelism the sum is scattered by tokens, and the parts that the sums' owners
/// feed begin with a gather (arXiv 1909.08053, section 3; arXiv 2205.05198, section 4). Megatron-LM keeps a
/// rank's part of what it gathered and gathers it once more for gradients of weights (section 4.2.2 there). Of
/// latent attention each rank makes its tokens' latent vectors; these and the rotated part of keys are gathered
/// before heads are made of them (megatron/core/transformer/multi_latent_attention.py). Wrong when: sequence
/// parallelism, which also sums gradients of norms' weights over ranks, a small all-reduce.
PartCollectives collectives_of(const TrainingSetup& setup, PartId part, Pass pass);

/// Numbers of a token in the collectives of \p part.
std::int64_t exchanged_width(const ModelDimensions& model, PartId part);

/// Parameters of those of \p parts that are weights of products which every tensor-parallel rank has whole and
/// multiplies with its own tokens: their gradients are summed over these ranks.
std::int64_t whole_parameters(std::span<const ModelPart> parts);

/// Whether \p part makes heads of latent vectors, or keys of their parts.
bool is_of_latent(const ModelDimensions& model, PartId part);

}}  // namespace c3::workloads
