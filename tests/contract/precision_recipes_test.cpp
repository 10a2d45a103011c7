// Every recipe of low precision, under every style of kernels, computes the same products and casts each
// operand once for each product that wants it.

#include <doctest/doctest.h>

#include <set>
#include <string>
#include <vector>

#include "configs/presets/preset_store.hpp"
#include "gpu/kernels/gemm/gemm_shape.hpp"
#include "gpu/kernels/operator_table.hpp"
#include "gpu/kernels/vector/vector_shape.hpp"
#include "tests/support/near.hpp"
#include "tests/unit/training_setups.hpp"
#include "workloads/models/styles/style.hpp"

namespace c3::precision_recipes_test {

using namespace test;

namespace {

TrainingSetup setup_of(PrecisionRecipe recipe, KernelStyle style) {
  TrainingSetup setup = llama_setup(2);
  setup.framework.kernels = style;
  setup.framework.separate_projections = false;
  setup.sharding = Sharding::none;
  setup.precision.recipe = recipe;
  return setup;
}

struct Totals {
  double flops = 0.0;            ///< of all products
  double narrow_operands = 0.0;  ///< numbers of A and B of products in the recipe's type
  double outputs = 0.0;          ///< of these products
  double cast = 0.0;             ///< numbers that kernels cast
  double written = 0.0;          ///< bytes, by these
};

Totals totals(const std::vector<PartKernel>& kernels, PrecisionRecipe recipe) {
  Totals sum;
  for (const PartKernel& kernel : kernels) {
    sum.flops += matrix_flops(kernel.op).value;
    const auto* const gemm = kernel.op.as<GemmShape>();
    if (gemm != nullptr && recipe->dtype && gemm->dtype == *recipe->dtype) {
      sum.narrow_operands += static_cast<double>(gemm->m * gemm->k + gemm->k * gemm->n);
      sum.outputs += static_cast<double>(gemm->m * gemm->n);
      CHECK(gemm->scales == recipe->scales);
    }
    const auto* const vector = kernel.op.as<VectorShape>();
    if (vector == nullptr) continue;
    const VectorOp op = vector->chain.first();
    const bool is_cast = op >= VectorOp::quantize && op <= VectorOp::quantize_nv_both;
    if (!is_cast && op != VectorOp::rmsnorm_quantize) continue;
    sum.cast += static_cast<double>(vector->rows * vector->cols);
    sum.written += output_bytes(*vector).value;
  }
  return sum;
}

}  // namespace

TEST_CASE("every recipe casts each operand of each product, and computes the products of 16 bits") {
  for (const KernelStyle style : kKernelStyles) {
    const StepBlock wide = layer_kernels(setup_of(PrecisionRecipe::in_16_bits, style));
    const double forward_flops = totals(wide.forward, PrecisionRecipe::in_16_bits).flops;
    const double backward_flops = totals(wide.backward, PrecisionRecipe::in_16_bits).flops;
    for (const PrecisionRecipe recipe : kPrecisionRecipes) {
      if (!recipe->dtype) continue;
      CAPTURE(name_of(style));
      CAPTURE(name_of(recipe));
      const StepBlock block = layer_kernels(setup_of(recipe, style));
      const Totals forward = totals(block.forward, recipe), backward = totals(block.backward, recipe);
      CHECK(forward.flops == forward_flops);
      CHECK(backward.flops == backward_flops);
      // Forward A and B of each product; backward the gradients of outputs and, where casts do not stay, both
      // again.
      CHECK(forward.cast == forward.narrow_operands);
      CHECK(backward.cast == forward.outputs + (style->keeps_casts ? 0.0 : forward.narrow_operands));
      // A copy or two, of the recipe's bytes and no more than 4 of scales for 32 numbers.
      const double copy = element_size(*recipe->dtype).value;
      CHECK(forward.written >= copy * forward.cast);
      CHECK(forward.written <= 2 * (copy + 1.0 / 8) * forward.cast);
    }
  }
}

TEST_CASE("the nearest recipe that a GPU runs has no higher peak than the recipe asked for") {
  for (const char* name : {"h100-sxm", "b200-sxm", "gb300", "mi355x"}) {
    const GpuSpec gpu = load_gpu(name);
    const auto peak = [&](PrecisionRecipe recipe) {
      return matrix_rate(gpu, recipe->dtype.value_or(DType::bf16)).peak;
    };
    for (const PrecisionRecipe recipe : kPrecisionRecipes) {
      CAPTURE(name);
      CAPTURE(name_of(recipe));
      const PrecisionRecipe nearest = nearest_that_runs(recipe, gpu);
      CHECK(runs_on(nearest, gpu));
      if (!runs_on(recipe, gpu)) continue;
      CHECK(peak(recipe) >= peak(nearest));
    }
  }
}

TEST_CASE(
    "a recipe that a GPU has no rate or no scaling for is refused, and the nearest that it runs is known") {
  const auto named = [](const std::string& name) {
    for (const PrecisionRecipe recipe : kPrecisionRecipes)
      if (name_of(recipe) == name) return recipe;
    throw std::invalid_argument(name);
  };
  const auto nearest = [&](const char* recipe, const char* gpu) {
    const GpuSpec spec = load_gpu(gpu);
    return runs_on(named(recipe), spec) ? "runs" : std::string(name_of(nearest_that_runs(named(recipe), spec)));
  };
  CHECK(nearest("fp8_tensorwise", "a100-sxm-80gb") == "16bit");
  CHECK(nearest("nvfp4", "a100-sxm-80gb") == "16bit");
  CHECK(nearest("mxfp8", "h100-sxm") == "fp8_blockwise");
  CHECK(nearest("nvfp4", "h100-sxm") == "fp8_blockwise");
  CHECK(nearest("fp8_blockwise", "h100-sxm") == "runs");
  CHECK(nearest("mxfp8", "mi355x") == "runs");
  CHECK(nearest("nvfp4", "mi355x") == "mxfp8");
  CHECK(nearest("nvfp4", "gb200") == "runs");
}

TEST_CASE("recipes have names of their own, the first of which casts nothing") {
  std::set<std::string_view> names;
  for (const PrecisionRecipe recipe : kPrecisionRecipes)
    names.insert(name_of(recipe));
  CHECK(names.size() == kPrecisionRecipes.size());
  CHECK(kPrecisionRecipes.front() == PrecisionRecipe::in_16_bits);
  CHECK_FALSE(PrecisionRecipe::in_16_bits->dtype.has_value());
}

}  // namespace c3::precision_recipes_test
