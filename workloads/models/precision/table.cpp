// The table of recipes: one line each, from the widest type to the narrowest.

#include <algorithm>
#include <array>

#include "workloads/models/precision/recipe.hpp"

namespace c3 { inline namespace workloads {

extern const RecipeEntry kFp8Delayed, kFp8Tensorwise, kFp8Blockwise, kMxfp8, kNvfp4;

namespace {

constexpr std::array kTable = {
    PrecisionRecipe(k16Bit),          // as layers compute
    PrecisionRecipe(kFp8Delayed),     // TransformerEngine's first
    PrecisionRecipe(kFp8Tensorwise),  // current scaling; torchao's default
    PrecisionRecipe(kFp8Blockwise),   // DeepSeek's
    PrecisionRecipe(kMxfp8),          // OCP microscaling
    PrecisionRecipe(kNvfp4),          // 4 bits
};

}  // namespace

constinit const std::span<const PrecisionRecipe> kPrecisionRecipes = kTable;

std::string_view name_of(PrecisionRecipe recipe) { return recipe->name; }

bool runs_on(PrecisionRecipe recipe, const GpuSpec& gpu) {
  if (!recipe->dtype) return true;
  const bool has_rate =
      std::ranges::find(gpu.compute.matrix, *recipe->dtype, &MatrixRate::dtype) != gpu.compute.matrix.end();
  return has_rate && (!recipe->needs_scaling_units || gpu.kernels.matrix_gemm.mx_ops <= 0.0);
}

PrecisionRecipe nearest_that_runs(PrecisionRecipe recipe, const GpuSpec& gpu) {
  PrecisionRecipe nearest = PrecisionRecipe::in_16_bits;
  for (const PrecisionRecipe candidate : kPrecisionRecipes) {
    if (candidate == recipe) break;
    if (runs_on(candidate, gpu)) nearest = candidate;
  }
  return nearest;
}

}}  // namespace c3::workloads
