// Current scaling: a pass finds the maximum of a tensor, another one casts it. Norms find the maximum of their
// output. Source: NVIDIA/TransformerEngine @d0067d0d, common/recipe (Float8CurrentScaling),
// pytorch/csrc/quantizer.cpp (compute_amax, compute_scale_from_amax, quantize), normalization.cpp
// (FUSED_NORM_AMAX_FP8); pytorch/ao, float8. Wrong when: tensor-parallel ranks agree on a scale before they
// gather, a small all-reduce that is left out.

#include "workloads/models/precision/recipe.hpp"

namespace c3 { inline namespace workloads {

namespace {
constexpr TensorCasts kMaxima = {.searches = true};
}

extern constexpr RecipeEntry kFp8Tensorwise = {.name = "fp8_tensorwise",
                                               .dtype = DType::fp8,
                                               .inputs = kMaxima,
                                               .weights = kMaxima,
                                               .gradients = kMaxima,
                                               .norm = NormCast::scale};

}}  // namespace c3::workloads
