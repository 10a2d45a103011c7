// Scales of 16 numbers, 8 bits each, and one of a tensor, whose maximum a pass finds before. The copy for
// gradients of weights is of the tensor's random Hadamard transform, made in the kernel that casts (bf16,
// sizes that are multiples of 64 and 128; of weights, scales of 16 x 16, without it). Source:
// NVIDIA/TransformerEngine @d0067d0d, common/recipe (NVFP4BlockScaling) and pytorch/csrc/quantizer.cpp
// (hadamard_transform_amax, quantize_with_hadamard_transform). Wrong when: the transform or stochastic rounding
// costs more than the tensor's bytes.

#include "workloads/models/precision/recipe.hpp"

namespace c3 { inline namespace workloads {

namespace {
constexpr TensorCasts kOf16 = {
    .rows = VectorOp::quantize_nv, .both = VectorOp::quantize_nv_both, .searches = true};
}

extern constexpr RecipeEntry kNvfp4 = {.name = "nvfp4",
                                       .dtype = DType::fp4,
                                       .scales = GemmScales::nv,
                                       .inputs = kOf16,
                                       .weights = kOf16,
                                       .gradients = kOf16,
                                       .scales_by_direction = true,
                                       .needs_scaling_units = true};

}}  // namespace c3::workloads
