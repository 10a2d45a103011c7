#pragma once
/// The kernels in which families of HuggingFace models differ.

#include <vector>

#include "gpu/kernels/vector/vector_shape.hpp"
#include "workloads/models/model_dimensions.hpp"

namespace c3 { inline namespace studies {

/// What a family's eager code launches around its products, in HuggingFace transformers 4.36 with PyTorch 2.1.
struct FamilyKernels {
  bool one_projection = false;      ///< queries, keys and values by one GEMM, then split
  bool scales_queries = false;      ///< instead of scores
  bool always_copies = false;       ///< heads next to each other in memory, also where a view would do
  bool drops_scores = false;        ///< in training
  bool drops_ffn = false;           ///< within the feed-forward layer, in training
  bool scales_output = false;       ///< of the last layer, before the logits
  std::vector<VectorOp> on_scores;  ///< before the softmax
};

const FamilyKernels& kernels_of(EagerFamily family);

}}  // namespace c3::studies
