// Scales of 1 x 128 numbers of activations and gradients and of 128 x 128 of weights (DeepSeek-V3, arXiv
// 2412.19437, section 3.3.2), which a kernel finds as it casts. Source: NVIDIA/TransformerEngine @d0067d0d,
// common/recipe (Float8BlockScaling). Wrong when: Blackwell, where the library runs it as mxfp8.

#include "workloads/models/precision/recipe.hpp"

namespace c3 { inline namespace workloads {

namespace {
constexpr TensorCasts kRows = {.rows = VectorOp::quantize_rows, .both = VectorOp::quantize_rows_both};
constexpr TensorCasts kBlocks = {.rows = VectorOp::quantize_blocks, .both = VectorOp::quantize_blocks_both};
}  // namespace

extern constexpr RecipeEntry kFp8Blockwise = {.name = "fp8_blockwise",
                                              .dtype = DType::fp8,
                                              .scales = GemmScales::block,
                                              .inputs = kRows,
                                              .weights = kBlocks,
                                              .gradients = kRows,
                                              .scales_by_direction = true};

}}  // namespace c3::workloads
