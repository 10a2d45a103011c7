// What trees are told of a problem.

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "configs/presets/preset_store.hpp"
#include "gpu/kernels/describe.hpp"
#include "gpu/selection/problem_features.hpp"

namespace c3::selection_features_test {

namespace {

const GpuSpec& mi100() {
  static const GpuSpec kGpu = load_gpu("mi100");
  return kGpu;
}

ConvolutionShape square() {
  return {.batch = 32, .channels = 64, .filters = 96, .image = {56, 56}, .filter = {3, 3}, .pad = {1, 1}};
}

}  // namespace

TEST_CASE("all problems have the same number of features, and all are finite") {
  const std::vector<float> plain = features_of(square(), mi100());
  for (const ConvolutionPass pass :
       {ConvolutionPass::forward, ConvolutionPass::data, ConvolutionPass::weight}) {
    ConvolutionShape shape = square();
    shape.pass = pass;
    shape.dtype = DType::fp32;
    shape.groups = 4;
    shape.stride = {2, 1};
    const std::vector<float> features = features_of(shape, mi100());
    CHECK(features.size() == plain.size());
    CHECK(std::ranges::all_of(features, [](float feature) { return std::isfinite(feature); }));
  }
  CHECK(features_of(GemmShape{.m = 7, .n = 5, .k = 3}, mi100()).size() ==
        features_of(GemmShape{.m = 4096, .n = 512, .k = 64, .batch = 8}, mi100()).size());
}

TEST_CASE("sizes come first, as logarithms: batch, channels and filters of a group, groups") {
  ConvolutionShape shape = square();
  shape.groups = 2;
  const std::vector<float> features = features_of(shape, mi100());
  CHECK(features[0] == 5.0F);
  CHECK(features[1] == 5.0F);  // 64 / 2
  CHECK(features[2] == doctest::Approx(std::log2(48.0)));
  CHECK(features[3] == 1.0F);
}

TEST_CASE("the last feature of a convolution is the least time of our solvers, in us, as a logarithm") {
  // Five solvers before it: one of them takes 0 more than the least.
  const std::vector<float> features = features_of(square(), mi100());
  const auto relative = std::vector<float>(features.end() - 6, features.end() - 1);
  CHECK(std::ranges::min(relative) == 0.0F);
  CHECK(relative.back() == 3.0F);  // FFT cannot run it
  ConvolutionShape larger = square();
  larger.batch = 320;
  CHECK(features_of(larger, mi100()).back() > features.back() + 2.0F);
}

TEST_CASE(
    "features of a convolution do not follow the GPU's choice of products, which its trees have not seen") {
  // Solver gemm multiplies a matrix of patches, here by a tile of rocBLAS that is not the fastest by the model.
  ConvolutionShape shape = square();
  shape.filters = 200;
  shape.solver = ConvolutionSolver::gemm;
  const GpuSpec fastest = load_gpu("mi100", std::vector<std::string>{"gpu.gemm_choice=fastest"});
  REQUIRE(time_of(shape, mi100()).time != time_of(shape, fastest).time);
  CHECK(features_of(shape, mi100()) == features_of(shape, fastest));
}

TEST_CASE("kinds name what decides which kernels can run") {
  ConvolutionShape shape = square();
  CHECK(kind_of(shape) == "fp16 3x3");
  shape.stride = {2, 2};
  shape.dilation = {1, 2};
  shape.groups = 32;
  shape.dtype = DType::fp32;
  CHECK(kind_of(shape) == "fp32 3x3 strided dilated grouped");
  shape.batch = 1;
  CHECK(kind_of(shape) == "fp32 3x3 strided dilated grouped");
  CHECK(kind_of(GemmShape{.m = 1, .n = 1, .k = 1, .dtype = DType::bf16}) == "bf16");
}

}  // namespace c3::selection_features_test
