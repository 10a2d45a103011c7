// Plans of products whose kernel the library chose.

#include <doctest/doctest.h>

#include <memory>
#include <optional>
#include <vector>

#include "gpu/kernels/gemm/gemm_choice.hpp"
#include "tests/support/mi300x_like.hpp"
#include "tests/support/near.hpp"

namespace c3::gpu_library_plan_test {

using namespace literals;
using namespace test;

namespace {

/// Takes one kernel for all products of bf16, and has none for others.
class OneKernel final : public LibraryChoice {
 public:
  explicit OneKernel(LibraryGemm kernel) : kernel_(kernel) {}
  std::optional<LibraryGemm> kernel_for(const GemmShape& shape, const GpuSpec& /*gpu*/) const override {
    return shape.dtype == DType::bf16 ? std::optional(kernel_) : std::nullopt;
  }

 private:
  LibraryGemm kernel_;
};

/// 2 TFLOP/s of bf16 and fp16 for each of 304 CUs.
GpuSpec gpu_of_library() {
  GpuSpec gpu = mi300x_like_gpu();
  gpu.compute.matrix = {{DType::bf16, 1216.0_TFLOPs, 608.0_TFLOPs, 1200.0_MHz},
                        {DType::fp16, 1216.0_TFLOPs, 608.0_TFLOPs, 1200.0_MHz}};
  gpu.library_kernels.matrix_tiles = {{.m = 256, .n = 256, .k = 64, .waves = 8},
                                      {.m = 64, .n = 64, .k = 32, .waves = 2}};
  gpu.kernels.matrix_gemm.split_us = 0.0;
  return gpu;
}

}  // namespace

TEST_CASE("a library's kernel is priced as a tile of the list is") {
  // 300 x 500 x 1000 in tiles of 160 x 96: 2 x 6; K padded to 1,024; 2 TFLOP/s a CU.
  const GpuSpec gpu = gpu_of_library();
  const GemmPlan plan =
      plan_by({300, 500, 1000}, gpu, {.tile_m = 160, .tile_n = 96, .depth_k = 32, .split = 1});
  CHECK(plan.work_groups == 2 * 6);
  CHECK(plan.k_of_work_group == 1024);
  CHECK(plan.arithmetic.value == near(2.0 * 160 * 96 * 1024 / 2e12));
  CHECK(plan.l2_loads.value == 2.0 * (160 + 96) * 1024);
  CHECK(plan.reduction.value == 0.0);
}

TEST_CASE("each part of a library's split of K has a step") {
  const GpuSpec gpu = gpu_of_library();
  const auto split_of = [&](std::int64_t k, std::int64_t split) {
    return plan_by({64, 64, k}, gpu, {.tile_m = 64, .tile_n = 64, .depth_k = 64, .split = split}).split;
  };
  CHECK(split_of(1024, 7) == 7);
  CHECK(split_of(1024, 16) == 16);
  CHECK(split_of(1024, 17) == 16);
  CHECK(split_of(200, 304) == 3);
  CHECK(split_of(40, 304) == 1);  // less than one step
}

TEST_CASE("a library's kernel has the wavefronts of the listed tile of its sides, else 4, or 1 if small") {
  const GpuSpec gpu = gpu_of_library();
  const auto waves_of = [&](std::int64_t m, std::int64_t n) {
    return plan_by({512, 512, 512}, gpu, {.tile_m = m, .tile_n = n, .depth_k = 16, .split = 1}).tile.waves;
  };
  CHECK(waves_of(256, 256) == 8);
  CHECK(waves_of(64, 64) == 2);
  CHECK(waves_of(64, 256) == 4);
  CHECK(waves_of(16, 16) == 1);
  CHECK(waves_of(16, 32) == 4);
}

TEST_CASE("a library's split adds the parts of every product of a batch") {
  GpuSpec gpu = gpu_of_library();
  gpu.hbm.read = 5.0_TBps;
  const LibraryGemm kernel{.tile_m = 64, .tile_n = 64, .depth_k = 64, .split = 4};
  // Four parts of 4 B written and read, and 2 B of each result, at twice HBM's rate.
  const double one = (4 * 4 + 2) * 256.0 * 256 / 10e12;
  CHECK(plan_by({256, 256, 1024}, gpu, kernel).reduction.value == near(one));
  const GemmPlan batch = plan_by({256, 256, 1024, DType::bf16, /*batch=*/12}, gpu, kernel);
  CHECK(batch.reduction.value == near(12 * one));
  CHECK(batch.work_groups == 12 * 4 * 4 * 4);
}

TEST_CASE("products take the library's choice where there is one, and else the fastest") {
  GpuSpec gpu = gpu_of_library();
  const GemmShape shape{4096, 4096, 4096};
  const GemmPlan fastest = plan_gemm(shape, gpu);
  gpu.library_choice =
      std::make_shared<OneKernel>(LibraryGemm{.tile_m = 128, .tile_n = 32, .depth_k = 16, .split = 2});
  const GemmPlan taken = plan_gemm(shape, gpu);
  CHECK(taken.tile == GemmTile{.m = 128, .n = 32, .k = 16, .waves = 4});
  CHECK(taken.split == 2);
  CHECK(fastest_plan(shape, gpu).tile == fastest.tile);
  GemmShape not_learned = shape;
  not_learned.dtype = DType::fp16;
  CHECK(plan_gemm(not_learned, gpu).tile == fastest.tile);
}

TEST_CASE("tuning for a part of the GPU compares the preset's tiles, whatever the library takes") {
  GpuSpec gpu = gpu_of_library();
  const GemmShape shape{1024, 1024, 1024};
  const KernelSlice quarter{
      .cus = gpu.compute.cus_per_xcd / 4 * gpu.compute.xcds, .cache = 0.25, .launch = LaunchCost::device};
  const GemmTile tuned = fastest_plan(shape, gpu, quarter).tile;
  gpu.library_choice =
      std::make_shared<OneKernel>(LibraryGemm{.tile_m = 16, .tile_n = 16, .depth_k = 16, .split = 1});
  REQUIRE(plan_gemm(shape, gpu).tile.m == 16);
  CHECK(fastest_plan(shape, gpu, quarter).tile == tuned);
}

}  // namespace c3::gpu_library_plan_test
