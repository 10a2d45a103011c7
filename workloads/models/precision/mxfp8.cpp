// Scales of 32 numbers along the direction of each product, exponents of 8 bits: one kernel makes both
// copies from 16 bits. Parameters that are kept cast are gathered in 16 bits, since a rank's part has no whole
// columns (NVIDIA/Megatron-LM
// @d98e8a64, megatron/core/distributed/param_and_grad_buffer.py: reuse_grad_buf_for_mxfp8_param_ag). Source:
// NVIDIA/TransformerEngine @d0067d0d, common/recipe (MXFP8BlockScaling), which requires compute
// capability 10.0.

#include "workloads/models/precision/recipe.hpp"

namespace c3 { inline namespace workloads {

namespace {
constexpr TensorCasts kOf32 = {.rows = VectorOp::quantize_mx, .both = VectorOp::quantize_mx_both};
}

extern constexpr RecipeEntry kMxfp8 = {.name = "mxfp8",
                                       .dtype = DType::fp8,
                                       .scales = GemmScales::mx,
                                       .inputs = kOf32,
                                       .weights = kOf32,
                                       .gradients = kOf32,
                                       .scales_by_direction = true,
                                       .gathers_16_bits = true,
                                       .needs_scaling_units = true};

}}  // namespace c3::workloads
