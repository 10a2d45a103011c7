// Keys of relative positions (XLNet): products, parameters and kernels of a layer.

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <vector>

#include "gpu/kernels/gemm/gemm_shape.hpp"
#include "gpu/kernels/vector/vector_shape.hpp"
#include "tests/support/near.hpp"
#include "tests/unit/training_setups.hpp"

namespace c3::training_position_keys_test {

using namespace test;

namespace {

/// 8 heads of 64, 2 sequences of 128, a layer of width 512 and its feed-forward of 2,048.
TrainingSetup position_setup(bool has_keys = true) {
  TrainingSetup setup = gpt_setup();
  setup.model.positions = 0;
  setup.model.norm_after = true;
  setup.model.structure = Structure::encoder;
  setup.model.position_keys = has_keys;
  return setup;
}

std::vector<std::array<std::int64_t, 4>> matrix_shapes(const std::vector<PartKernel>& kernels) {
  std::vector<std::array<std::int64_t, 4>> shapes;
  for (const PartKernel& kernel : kernels) {
    if (const auto* gemm = kernel.op.as<GemmShape>())
      shapes.push_back({gemm->batch, gemm->m, gemm->n, gemm->k});
  }
  return shapes;
}

std::int64_t kernels_of_op(const std::vector<PartKernel>& kernels, VectorOp op) {
  return std::ranges::count_if(kernels, [op](const PartKernel& kernel) {
    const auto* shape = kernel.op.as<VectorShape>();
    return shape != nullptr && shape->chain.first() == op;
  });
}

}  // namespace

TEST_CASE("scores by positions and segments are four products beside that by tokens") {
  const StepBlock layer = layer_kernels(position_setup());
  CHECK(matrix_shapes(layer.forward) == std::vector<std::array<std::int64_t, 4>>{{1, 256, 3 * 512, 512},
                                                                                 {16, 128, 128, 64},
                                                                                 {1, 2 * 256, 512, 512},
                                                                                 {16, 128, 2 * 128, 64},
                                                                                 {16, 128, 2, 64},
                                                                                 {2 * 128, 8, 128, 2},
                                                                                 {16, 128, 64, 128},
                                                                                 {1, 256, 512, 512},
                                                                                 {1, 256, 2048, 512},
                                                                                 {1, 256, 512, 2048}});
  // Six layers' products without keys have two gradients each; that of the positions' keys has the weight's
  // alone.
  CHECK(matrix_shapes(layer.backward).size() == 2 * 6 + 1 + 3 * 2);
  const StepBlock without = layer_kernels(position_setup(false));
  const auto more = [&](VectorOp op) {
    return kernels_of_op(layer.forward, op) - kernels_of_op(without.forward, op);
  };
  CHECK(more(VectorOp::copy) == 1);  // the shift
  CHECK(more(VectorOp::add) == 2);
}

TEST_CASE(
    "keys of positions have a weight, queries three biases, both segments a key, and projections no bias") {
  const std::int64_t with = layer_kernels(position_setup()).parameters;
  const std::int64_t without = layer_kernels(position_setup(false)).parameters;
  CHECK(with - without == 512 * 512 + (3 + 2) * 512 - (3 * 512 + 512));
}

TEST_CASE("attention in one kernel has no keys of positions") {
  TrainingSetup setup = position_setup();
  setup.framework.attention = AttentionCode::flash2;
  CHECK_THROWS_WITH_AS(layer_kernels(setup), doctest::Contains("the framework has no kernels for 'attn"),
                       std::invalid_argument);
}

}  // namespace c3::training_position_keys_test
