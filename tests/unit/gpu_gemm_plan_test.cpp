// Which tile and split of K a product gets, and what its operands cost.

#include "gpu/kernels/gemm/gemm_choice.hpp"
#include "gpu/kernels/gemm/gemm_shape.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string_view>
#include <vector>

#include "configs/presets/preset_store.hpp"
#include "engine/errors.hpp"
#include "gpu/kernel_time.hpp"
#include "gpu/kernels/gemm/gemm_kernel.hpp"
#include "tests/support/gpu_families.hpp"
#include "tests/support/mi300x_like.hpp"
#include "tests/support/near.hpp"

namespace c3::gpu_gemm_plan_test {

using namespace literals;
using namespace test;

namespace {

const GemmTile kLarge = {.m = 256, .n = 256, .k = 64, .waves = 4};
const GemmTile kSmall = {.m = 64, .n = 64, .k = 64, .waves = 4};
const GemmTile kVector = {.m = 64, .n = 64, .k = 8, .waves = 4};
const GemmTile kBatched = {.m = 32, .n = 128, .k = 8, .waves = 4};

constexpr Hertz kPeakClock{1216e12 / (2.0 * 304 * 1024)};

/// 304 CUs of 2.1 GHz: 2 TFLOP/s of bf16 each by 1,024 products a clock, 64 lanes for fp32; memory that limits
/// nothing and answers at once, and splits that cost no time to begin.
GpuSpec gpu_with(std::vector<GemmTile> matrix_tiles) {
  GpuSpec gpu = mi300x_like_gpu();
  gpu.compute.matrix = {
      {DType::bf16, 1216.0_TFLOPs, 608.0_TFLOPs, 1200.0_MHz, /*from_share=*/false, kPeakClock},
      {DType::fp32, FlopsPerSecond{304 * 64 * 2 * 2.1e9}, FlopsPerSecond{304 * 64 * 2 * 2.1e9}, 2100.0_MHz}};
  gpu.library_kernels.matrix_tiles = std::move(matrix_tiles);
  gpu.library_kernels.vector_tiles = {kVector};
  gpu.library_kernels.batched_vector_tiles = {kBatched};
  gpu.cache.l2_bandwidth = BytesPerSecond{1e21};
  gpu.hbm.read = gpu.hbm.write = gpu.hbm.copy = BytesPerSecond{1e21};
  gpu.hbm.latency = {};
  gpu.kernels.matrix_gemm.split_us = 0.0;
  return gpu;
}

/// The time that is reported.
double time_of(const GemmShape& shape, const GemmPlan& plan, const GpuSpec& gpu) {
  return time_alone(describe_product("product", shape, gpu, plan), gpu, {.launch = LaunchCost::device})
      .time.value;
}

}  // namespace

TEST_CASE("a tile's time is its padded flops at the CU's part of the sustained rate") {
  // 300 x 500 x 1000: 2 x 2 tiles, K padded to 1024, 2 TFLOP/s a CU.
  const GpuSpec gpu = gpu_with({kLarge});
  const GemmPlan plan = plan_gemm({300, 500, 1000, DType::bf16, /*batch=*/3}, gpu);
  CHECK(plan.tile == kLarge);
  CHECK(plan.split == 1);
  CHECK(plan.work_groups == 3 * 4);
  CHECK(plan.k_of_work_group == 1024);
  CHECK(plan.arithmetic.value == near(2.0 * 256 * 256 * 1024 / 2e12));
  CHECK(plan.l2_loads.value == 2.0 * (256 + 256) * 1024);
  CHECK(plan.reduction.value == 0.0);
}

TEST_CASE("filling and draining are steps of K more, and a tile chosen badly costs its factor") {
  GpuSpec gpu = gpu_with({kLarge});
  gpu.kernels.matrix_gemm.split_us = 1e6;
  gpu.kernels.matrix_gemm.prologue_k = 128;
  gpu.kernels.matrix_gemm.choice_loss = 1.25;
  const double best = 2.0 * 256 * 256 * (1024 + 128) / 2e12;
  CHECK(plan_gemm({256, 256, 1024}, gpu).arithmetic.value == near(1.25 * best));
  // The library tunes nothing for a batch.
  CHECK(plan_gemm({256, 256, 1024, DType::bf16, 2}, gpu).arithmetic.value == near(best));
}

TEST_CASE("few wavefronts and steps that wait for one another set a least time") {
  GpuSpec gpu = gpu_with({kLarge});
  gpu.kernels.matrix_gemm.split_us = 1e6;
  gpu.kernels.matrix_gemm.saturating_waves = 6;
  const double alone = 2.0 * 256 * 256 * 1024 / 2e12;
  CHECK(plan_gemm({256, 256, 1024}, gpu).least.value == near(alone * 6 / 4));
  gpu.kernels.matrix_gemm.step_cycles = 1e6;  // a step of 64, at 1216 / (2 x 304 x 1024) = 1.953 GHz
  CHECK(plan_gemm({256, 256, 1024}, gpu).least.value == near(16 * 1e6 / (1216e12 / (2.0 * 304 * 1024))));
}

TEST_CASE("K is split when that is worth the second step, and no further than parts of 128") {
  // One work group alone takes 2 x 256 x 256 x 65536 / 2e12 = 4.295 ms, 16 of them 0.268 ms.
  GpuSpec gpu = gpu_with({kLarge});
  const GemmShape deep{256, 256, 65536};
  const double alone = 2.0 * 256 * 256 * 65536 / 2e12;
  CHECK(plan_gemm(deep, gpu).split == 16);
  CHECK(plan_gemm(deep, gpu).work_groups == 16);
  CHECK(plan_gemm(deep, gpu).k_of_work_group == 4096);
  const double saved_us = (alone - alone / 16) * 1e6;
  gpu.kernels.matrix_gemm.split_us = 0.99 * saved_us;
  CHECK(plan_gemm(deep, gpu).split == 16);
  CHECK(plan_gemm(deep, gpu).reduction.value == near(0.99e-6 * saved_us));
  gpu.kernels.matrix_gemm.split_us = 1.001 * saved_us;
  CHECK(plan_gemm(deep, gpu).split == 1);

  gpu.kernels.matrix_gemm.split_us = 0;
  CHECK(plan_gemm({256, 256, 255}, gpu).split == 1);
  CHECK(plan_gemm({256, 256, 256}, gpu).split == 2);
  CHECK(plan_gemm({256 * 38, 256 * 8, 65536}, gpu).split == 1);         // every CU is busy without
  CHECK(plan_gemm({256, 256, 65536, DType::bf16, 2}, gpu).split == 1);  // a batch is not split
}

TEST_CASE("the parts of a split K are written and read back at twice HBM's rate, in fp32") {
  GpuSpec gpu = gpu_with({kLarge});
  gpu.hbm.read = 5.0_TBps;
  gpu.kernels.matrix_gemm.split_cycles = 1953.125;
  const GemmPlan plan = plan_gemm({256, 256, 65536}, gpu);
  REQUIRE(plan.split == 16);
  const double outputs = 256.0 * 256;
  CHECK(plan.reduction.value == near(1e-6 + (16 * 4 + 2) * outputs / 10e12));
}

TEST_CASE("only tiles of the GPU's lists are chosen: matrix, vector, and batched on vector units") {
  const GpuSpec gpu = gpu_with({kLarge, kSmall});
  CHECK(plan_gemm({64, 64, 64}, gpu).tile == kSmall);
  CHECK(plan_gemm({64, 64, 64, DType::bf16, 8}, gpu).tile == kSmall);
  CHECK(plan_gemm({64, 64, 64, DType::fp32}, gpu).tile == kVector);
  CHECK(plan_gemm({64, 64, 64, DType::fp32, 8}, gpu).tile == kBatched);
  CHECK(tiles_for({1, 1, 1, DType::fp32, 1}, gpu).front() == kVector);
  CHECK(tiles_for({1, 1, 1, DType::fp32, 2}, gpu).front() == kBatched);
  CHECK(&coefficients_for({1, 1, 1, DType::fp32}, gpu) == &gpu.kernels.vector_gemm);
  CHECK(&coefficients_for({1, 1, 1, DType::bf16}, gpu) == &gpu.kernels.matrix_gemm);
}

TEST_CASE("fp32 splits K into parts of at least 64") {
  GpuSpec gpu = gpu_with({kLarge});
  CHECK(plan_gemm({64, 64, 127, DType::fp32}, gpu).split == 1);
  CHECK(plan_gemm({64, 64, 128, DType::fp32}, gpu).split == 2);
  CHECK(plan_gemm({64, 64, 64 * 40, DType::fp32}, gpu).split == 40);
}

TEST_CASE("a GPU without tiles or without the data type cannot plan") {
  GpuSpec gpu = gpu_with({});
  CHECK_THROWS_WITH_AS(plan_gemm({1, 1, 1}, gpu), "gpu 'mi300x-like' has no GEMM tiles for bf16",
                       InfeasibleError);
  gpu.library_kernels.batched_vector_tiles.clear();
  CHECK_NOTHROW(plan_gemm({1, 1, 1, DType::fp32}, gpu));
  CHECK_THROWS_WITH_AS(plan_gemm({1, 1, 1, DType::fp32, 2}, gpu),
                       "gpu 'mi300x-like' has no GEMM tiles for fp32", InfeasibleError);
  CHECK_THROWS_WITH_AS(plan_gemm({1, 1, 1, DType::fp8}, gpu), "gpu 'mi300x-like' has no matrix rate for fp8",
                       InfeasibleError);
}

TEST_CASE("operands cost more beside more multiplications a clock") {
  // c = 16 for 64 lanes, A = 64 x 64 / 128 = 32: sqrt(1 + 1/4). 128 lanes: c = 32, sqrt(2).
  GpuSpec gpu = gpu_with({kLarge});
  gpu.kernels.vector_gemm.operand = 16;
  CHECK(operand_loss(kVector, DType::fp32, gpu) == near(std::sqrt(1.25)));
  gpu.compute.matrix[1].peak = 2.0 * gpu.compute.matrix[1].peak;
  CHECK(operand_loss(kVector, DType::fp32, gpu) == near(std::sqrt(2.0)));

  // Matrix units: c holds for 1024 products of 16 bits a clock from registers, 2048 from shared memory
  // (Hopper); 2048 products of 8 bits cost as much as 1024 of 16. A = 256 / 2 = 128.
  gpu.kernels.matrix_gemm.operand = 64;
  CHECK(operand_loss(kLarge, DType::bf16, gpu) == near(std::sqrt(1.25)));
  gpu.compute.matrix.push_back(
      {DType::fp8, 2432.0_TFLOPs, 1216.0_TFLOPs, 1200.0_MHz, /*from_share=*/false, kPeakClock});
  CHECK(operand_loss(kLarge, DType::fp8, gpu) == near(std::sqrt(1.25)));
  gpu.family = hopper();
  CHECK(operand_loss(kLarge, DType::bf16, gpu) == near(std::sqrt(1.0 + 1.0 / 16)));
  // A pair of CUs for 4096 products, each staging half of the longer side: c = 16, A = 65536 / 384.
  gpu.family = blackwell();
  const double side = 16 * 384.0 / 65536;
  CHECK(operand_loss(kLarge, DType::bf16, gpu) == near(std::sqrt(1.0 + side * side)));
}

TEST_CASE("the sustained rate is that of the best tile, and others lose against it") {
  GpuSpec gpu = gpu_with({kLarge, kSmall});
  gpu.kernels.matrix_gemm.operand = 64;  // losses sqrt(1 + 1/4) and sqrt(1 + 4)
  CHECK(least_operand_loss(DType::bf16, gpu) == near(std::sqrt(1.25)));
  CHECK(plan_gemm({256 * 38, 256 * 8, 64}, gpu).arithmetic.value == near(2.0 * 256 * 256 * 64 / 2e12));
  CHECK(plan_gemm({1, 1, 64}, gpu).arithmetic.value == near(2.0 * 64 * 64 * 64 / 2e12 * std::sqrt(5.0 / 1.25)));
}

TEST_CASE(
    "no tile and split of a preset's lists is faster than the plan by 0.2 %, by the time that is reported") {
  for (const char* name : {"b200-sxm", "h100-sxm", "mi300x", "l40s", "p100-pcie-16gb"}) {
    const GpuSpec gpu = load_gpu(name);
    const DType dtype = std::string_view(name) == "p100-pcie-16gb" ? DType::fp32 : DType::bf16;
    std::set<std::int64_t> chosen;
    for (const std::int64_t m : {1, 100, 3072, 8192})
      for (const std::int64_t n : {64, 300, 4096, 11008})
        for (const std::int64_t k : {8, 500, 8192, 30000}) {
          CAPTURE(name);
          CAPTURE(m);
          CAPTURE(n);
          CAPTURE(k);
          const GemmShape shape{m, n, k, dtype};
          const GemmPlan plan = fastest_plan(shape, gpu);
          chosen.insert(plan.tile.m * 1024 + plan.tile.n);
          const double time = time_of(shape, plan, gpu);
          const GemmPlanner planner(shape, gpu);
          for (const GemmOffer& offer : planner.offers()) {
            const GemmPlan other = planner.plan_of(offer);
            CHECK(planner.least_arithmetic(offer) <= other.arithmetic);
            CHECK(offer.stepping <= other.least);
            const double other_time = time_of(shape, other, gpu);
            CHECK(time <= other_time * 1.002);
            if (other_time <= time) CHECK(other.work_groups >= plan.work_groups);
          }
        }
    CHECK(chosen.size() >= 4);
  }
}

TEST_CASE("a peak holds at its own clock, and units that do more in a clock leave all that is in cycles") {
  GpuSpec gpu = gpu_with({kLarge});
  gpu.kernels.matrix_gemm.launch_cycles = 1953.125;
  gpu.kernels.matrix_gemm.l2_bytes_per_clock = 64;
  const GemmPlan before = plan_gemm({256, 256, 1024}, gpu);
  for (const double factor : {1.25, 1.3, 1.8, 2.5, 3.0}) {
    GpuSpec faster = gpu;
    faster.compute.matrix[0].peak = factor * gpu.compute.matrix[0].peak;
    faster.compute.matrix[0].sustained = factor * gpu.compute.matrix[0].sustained;
    const GemmPlan after = plan_gemm({256, 256, 1024}, faster);
    CHECK(after.launch == before.launch);
    CHECK(after.arithmetic < before.arithmetic);
    CHECK(after.arithmetic.value > after.l2_loads.value / (64 * kPeakClock.value));
  }
}

TEST_CASE("a call costs its class's launch in cycles of the peak's clock") {
  GpuSpec gpu = gpu_with({kLarge});
  gpu.kernels.matrix_gemm.launch_cycles = 1953.125;  // at 1216e12 / (2 x 304 x 1024) = 1.953125 GHz
  CHECK(plan_gemm({1, 1, 1}, gpu).launch.value == near(1e-6));
  CHECK(plan_gemm({1, 1, 1, DType::bf16, 2}, gpu).launch.value == near(1e-6));
}

}  // namespace c3::gpu_gemm_plan_test
