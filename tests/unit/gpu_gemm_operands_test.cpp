// How a product's operands lie, what the caches still hold of them, and how wide their loads are.

#include <doctest/doctest.h>

#include "configs/presets/preset_store.hpp"
#include "gpu/kernel_time.hpp"
#include "gpu/kernels/describe.hpp"
#include "gpu/kernels/gemm/gemm_choice.hpp"
#include "gpu/kernels/gemm/gemm_kernel.hpp"
#include "gpu/kernels/gemm/gemm_shape.hpp"
#include "gpu/kernels/vector/vector_instructions.hpp"
#include "gpu/kernels/vector/vector_shape.hpp"
#include "tests/support/mi300x_like.hpp"
#include "tests/support/near.hpp"

namespace c3::gpu_gemm_operands_test {

using namespace literals;
using namespace test;

namespace {

GpuSpec with_fp32() {
  GpuSpec gpu = mi300x_like_gpu();
  gpu.compute.matrix.push_back({DType::fp32, 160.0_TFLOPs, 110.0_TFLOPs, 2100.0_MHz});
  gpu.library_kernels.vector_tiles = {{.m = 128, .n = 128, .k = 8, .waves = 8}};
  return gpu;
}

}  // namespace

TEST_CASE("activations that the caches hold are not read from HBM, weights still are") {
  const GpuSpec gpu = mi300x_like_gpu();
  GemmShape shape{.m = 4096, .n = 64, .k = 512, .dtype = DType::bf16};  // 4 MiB, 64 KiB and 512 KiB
  const KernelTime cold = time_of(shape, gpu);
  shape.warm = WarmOperands::activations;
  const KernelTime warm = time_of(shape, gpu);
  CHECK(cold.hbm_read.value >= 2.0 * (4096 + 64) * 512);
  CHECK(warm.hbm_read.value < 0.1 * cold.hbm_read.value);
  CHECK(warm.hbm_read.value >= 2.0 * 64 * 512);
  shape.warm = WarmOperands::all;
  CHECK(time_of(shape, gpu).hbm_read < warm.hbm_read);
  CHECK(describe_gemm("g", shape, gpu).compulsory.value == 2.0 * 4096 * 64);
}

TEST_CASE("activations much larger than the caches are as good as cold") {
  const GpuSpec gpu = mi300x_like_gpu();
  GemmShape shape{.m = 1 << 20, .n = 256, .k = 4096, .dtype = DType::bf16};  // 8 GiB
  const KernelTime cold = time_of(shape, gpu);
  shape.warm = WarmOperands::activations;
  CHECK(time_of(shape, gpu).hbm_read / cold.hbm_read > 0.95);
}

TEST_CASE("only the gradient of the weights pays for its layout") {
  GpuSpec gpu = mi300x_like_gpu();
  gpu.kernels.matrix_gemm.nt_loss = 1.25;
  GemmShape shape{.m = 4096, .n = 4096, .k = 4096, .dtype = DType::bf16};
  const Seconds forward = plan_gemm(shape, gpu).arithmetic;
  shape.layout = GemmLayout::nn;
  CHECK(plan_gemm(shape, gpu).arithmetic == forward);
  shape.layout = GemmLayout::nt;
  CHECK(plan_gemm(shape, gpu).arithmetic.value == near(1.25 * forward.value));
}

TEST_CASE("the gradients of a product have the layouts of backpropagation") {
  const auto [of_a, of_b] = backward(GemmShape{.m = 2, .n = 3, .k = 5});
  CHECK(of_a == GemmShape{.m = 2, .n = 5, .k = 3, .layout = GemmLayout::nn});
  CHECK(of_b == GemmShape{.m = 5, .n = 3, .k = 2, .layout = GemmLayout::nt});
}

TEST_CASE("a product that adds to memory reads its results once, and every wave waits for them") {
  const GpuSpec gpu = mi300x_like_gpu();
  GemmShape shape{.m = 8192, .n = 8192, .k = 4096, .layout = GemmLayout::nt};
  const double results = 8192.0 * 8192.0;
  const auto timed = [&](GemmResult result) {
    shape.result = result;
    return time_of(shape, gpu);
  };
  const KernelTime rounded = timed(GemmResult::rounded);
  const KernelTime wide = timed(GemmResult::fp32);
  const KernelTime added = timed(GemmResult::added_fp32);
  CHECK(wide.hbm_write.value == near(2.0 * rounded.hbm_write.value));
  CHECK((added.hbm_read - wide.hbm_read).value == near(4.0 * results));
  CHECK((added.time - wide.time).value == near(4.0 * results / gpu.hbm.read.value, 0.1));
  CHECK(timed(GemmResult::added).hbm_read.value == near(rounded.hbm_read.value + 2.0 * results));
  const Bytes operands = 2.0 * Bytes{(8192.0 + 8192.0) * 4096.0};
  shape.result = GemmResult::added_fp32;
  CHECK(describe_gemm("g", shape, gpu).compulsory == operands + Bytes{8.0 * results});
}

TEST_CASE("the kernel that adds up the parts of a split K loads what they are added to") {
  const GpuSpec gpu = load_gpu("h100-sxm");
  GemmShape shape{.m = 256, .n = 256, .k = 65536};
  const KernelDescription rounded = describe_gemm("g", shape, gpu);
  REQUIRE(rounded.split > 1);
  shape.result = GemmResult::added;
  const KernelDescription added = describe_gemm("g", shape, gpu);
  CHECK(added.added_to == Bytes{});
  CHECK((added.overhead - rounded.overhead).value == near(2.0 * 256 * 256 / gpu.hbm.read.value));
}

TEST_CASE("rows that do not begin at multiples of 16 B are loaded and stored in narrower pieces") {
  // bf16 rows of 4,097 elements begin at multiples of 2 B: an eighth of 16 B at a time. Nothing but loads
  // counts.
  GpuSpec gpu = mi300x_like_gpu();
  gpu.kernels.matrix_gemm.l2_bytes_per_clock = 8.0;
  gpu.kernels.matrix_gemm.operand = 0.5;
  const GemmPlan even = plan_gemm({.m = 4096, .n = 4096, .k = 4096, .dtype = DType::bf16}, gpu);
  const GemmPlan odd = plan_gemm({.m = 4096, .n = 4096, .k = 4097, .dtype = DType::bf16}, gpu);
  CHECK(odd.arithmetic / even.arithmetic > 6.0);
  const GemmPlan rows = plan_gemm({.m = 4097, .n = 4096, .k = 4096, .dtype = DType::bf16}, gpu);
  CHECK(rows.arithmetic == even.arithmetic);  // m is no pitch where rows run along k
}

TEST_CASE("rows of odd multiples of 2 B are multiplied in tiles of 128 x 128, however narrow the result") {
  GpuSpec gpu = mi300x_like_gpu();
  gpu.library_kernels.matrix_tiles = {{.m = 256, .n = 64, .k = 64, .waves = 4},
                                      {.m = 128, .n = 128, .k = 64, .waves = 4}};
  GemmShape shape{.m = 4096, .n = 64, .k = 3136, .dtype = DType::bf16, .layout = GemmLayout::nn};
  CHECK(plan_gemm(shape, gpu).tile.n == 64);
  shape.k = 3138;  // 4 B at a time
  CHECK(plan_gemm(shape, gpu).tile.n == 64);
  shape.k = 3137;
  CHECK(plan_gemm(shape, gpu).tile.n == 128);
  gpu.library_kernels.matrix_tiles.pop_back();  // a library without that tile
  CHECK(plan_gemm(shape, gpu).tile.n == 64);
}

TEST_CASE("attention over 3,137 tokens as products is as slow as in a trace of an H100") {
  // AMD-AGI/TraceLens commit 171dd747, h100_facebook_timesformer: 1,897 us for scores, 1,694 us for values.
  const GpuSpec gpu = load_gpu("h100-sxm");
  const GemmShape scores{.m = 3137, .n = 3137, .k = 64, .dtype = DType::bf16, .batch = 96};
  const GemmShape values{
      .m = 3137, .n = 64, .k = 3137, .dtype = DType::bf16, .batch = 96, .layout = GemmLayout::nn};
  CHECK(time_of(scores, gpu).time.value == near(1897e-6, 0.1));
  CHECK(time_of(values, gpu).time.value == near(1694e-6, 0.1));
}

TEST_CASE("fp32 products run on matrix units where the GPU has a rate for them") {
  GpuSpec gpu = with_fp32();
  const GemmShape shape{.m = 4096, .n = 4096, .k = 4096, .dtype = DType::fp32};
  CHECK(on_vector_units(DType::fp32, gpu));
  const Seconds vectors = time_of(shape, gpu).time;
  const MatrixRate vector_rate = matrix_rate(gpu, DType::fp32);
  gpu.compute.fp32_matrix = {DType::fp32, 2.0 * vector_rate.peak, 2.0 * vector_rate.sustained,
                             vector_rate.clock};
  gpu.library_kernels.fp32_matrix_tiles = gpu.library_kernels.vector_tiles;
  CHECK_FALSE(on_vector_units(DType::fp32, gpu));
  CHECK(time_of(shape, gpu).time < 0.8 * vectors);
  CHECK(&coefficients_for(shape, gpu) == &gpu.kernels.matrix_gemm);
}

TEST_CASE("the maximum of a tensor has a floor, and above it the rate at which CUs issue its instructions") {
  GpuSpec gpu = with_fp32();
  gpu.kernels.vector.absmax_us = 7.0;
  gpu.kernels.vector.access_ops = gpu.kernels.vector.convert_ops = 1;
  gpu.kernels.vector.absmax_ops = 38;
  const auto time = [&](std::int64_t rows) {
    return time_of(VectorShape{VectorOp::absmax, rows, 1024, DType::bf16}, gpu).time;
  };
  CHECK(time(1).value == near(7e-6, 0.01));
  const std::int64_t rows = 4 << 20;                                            // 8 GiB
  const double issued = gpu.compute.cus() * instructions_per_second(gpu) / 40;  // elements a second
  CHECK(time(rows).value == near(4.0 * (1 << 30) / issued, 0.05));
  // All of it is read, and where memory is slower than the CUs, it decides.
  const Operator large = VectorShape{VectorOp::absmax, rows, 1024, DType::bf16};
  CHECK(time_of(large, gpu).hbm_read.value == near(8.0 * (1 << 30), 1e-3));
  gpu.hbm.read = gpu.hbm.write = gpu.hbm.copy = BytesPerSecond{0.5 * issued};
  CHECK(time(rows).value == near(8.0 * (1 << 30) / (0.5 * issued), 0.02));
  gpu = with_fp32();
  // Quantising reads two bytes and writes one.
  const KernelTime quantised = time_of(VectorShape{VectorOp::quantize, rows, 1024, DType::bf16}, gpu);
  CHECK(quantised.hbm_write.value == near(0.5 * quantised.hbm_read.value, 0.01));
}

}  // namespace c3::gpu_gemm_operands_test
