// FP8 with scales of blocks: bytes of products and of the kernels that quantise, and what scaling costs.

#include <doctest/doctest.h>

#include "configs/presets/preset_store.hpp"
#include "engine/errors.hpp"
#include "gpu/kernels/describe.hpp"
#include "gpu/kernels/gemm/gemm_choice.hpp"
#include "gpu/kernels/gemm/gemm_kernel.hpp"
#include "gpu/kernels/gemm/gemm_shape.hpp"
#include "gpu/kernels/operator_table.hpp"
#include "gpu/kernels/vector/vector_kernel.hpp"
#include "gpu/kernels/vector/vector_shape.hpp"
#include "tests/support/mi300x_like.hpp"
#include "tests/support/near.hpp"

namespace c3::gpu_block_scales_test {

using namespace literals;
using namespace test;

namespace {

/// Twice the rate of bf16 in fp8, and an eighth of that on vector units.
GpuSpec with_fp8() {
  GpuSpec gpu = mi300x_like_gpu();
  gpu.compute.matrix.push_back({DType::fp8, 2600.0_TFLOPs, 1400.0_TFLOPs, 1200.0_MHz});
  gpu.compute.matrix.push_back({DType::fp32, 162.5_TFLOPs, 100.0_TFLOPs, 2100.0_MHz});
  return gpu;
}

GemmShape product(GemmScales scales) {
  return {.m = 300, .n = 500, .k = 1000, .dtype = DType::fp8, .scales = scales};
}

double compulsory(GemmScales scales) {
  return describe_gemm("g", product(scales), with_fp8()).compulsory.value;
}

}  // namespace

TEST_CASE("scales of blocks and of mx are read once with their operands") {
  // A and B of a byte an element, C of two.
  const double plain = 300.0 * 1000 + 1000.0 * 500 + 2.0 * 300 * 500;
  CHECK(compulsory(GemmScales::tensor) == plain);
  // 8 blocks of 128 along k and 4 along n, 4 bytes each.
  CHECK(compulsory(GemmScales::block) == near(plain + 4 * (300 * 8 + 8 * 4)));
  // 32 blocks of 32 along k, a byte for each row of A and column of B.
  CHECK(compulsory(GemmScales::mx) == near(plain + 32 * 300 + 32 * 500));
}

TEST_CASE("scaling partial sums costs multiply-adds of the vector units for each block of k") {
  GpuSpec gpu = with_fp8();
  gpu.kernels.matrix_gemm.scale_ops = 2.0;
  gpu.kernels.matrix_gemm.mx_ops = 1.0;
  const auto arithmetic = [&](GemmScales scales) { return plan_gemm(product(scales), gpu).arithmetic; };
  // Fp8 has 16 times the vector peak: 2 x 16 / 128 and 1 x 16 / 32 of the products' time.
  CHECK(arithmetic(GemmScales::block) / arithmetic(GemmScales::tensor) == near(1.25));
  CHECK(arithmetic(GemmScales::mx) / arithmetic(GemmScales::tensor) == near(1.5));
}

TEST_CASE("matrix units of CDNA 4 and Blackwell scale mx themselves, those before them do not") {
  const GemmShape plain{.m = 8192, .n = 8192, .k = 8192, .dtype = DType::fp8};
  GemmShape mx = plain;
  mx.scales = GemmScales::mx;
  const auto slower = [&](const char* name) {
    const GpuSpec gpu = load_gpu(name);
    return time_of(mx, gpu).time / time_of(plain, gpu).time;
  };
  for (const char* name : {"mi355x", "b200-sxm"}) {
    CAPTURE(name);
    CHECK(slower(name) < 1.05);
  }
  for (const char* name : {"mi300x", "h100-sxm"}) {
    CAPTURE(name);
    CHECK(slower(name) > 1.2);
  }
}

TEST_CASE("filling matrix units takes bytes of k, so twice as many steps in fp8, and results have 16 bits") {
  // 256 x 256 x 1024 at 1,400 TFLOP/s of 304 CUs in fp8, 700 in bf16; 128 steps of 16 bits before.
  GpuSpec gpu = with_fp8();
  gpu.kernels.matrix_gemm.prologue_k = 128;
  const GemmShape wide{.m = 256, .n = 256, .k = 1024, .dtype = DType::bf16};
  GemmShape narrow = wide;
  narrow.dtype = DType::fp8;
  CHECK(plan_gemm(wide, gpu).arithmetic.value == near(2.0 * 256 * 256 * (1024 + 128) / (700e12 / 304)));
  CHECK(plan_gemm(narrow, gpu).arithmetic.value == near(2.0 * 256 * 256 * (1024 + 256) / (1400e12 / 304)));
  CHECK(output_bytes(narrow) == output_bytes(wide));
  CHECK(describe_gemm("g", narrow, gpu).output == describe_gemm("g", wide, gpu).output);
}

TEST_CASE("products call their host by themselves or in batches") {
  const GpuSpec gpu = with_fp8();
  GemmShape shape{.m = 256, .n = 256, .k = 256};
  CHECK(describe_gemm("g", shape, gpu).call == CallKind::product);
  shape.batch = 2;
  CHECK(describe_gemm("g", shape, gpu).call == CallKind::batched_product);
}

TEST_CASE("kernels that quantise read two bytes an element and write one, and their scales") {
  const GpuSpec gpu = with_fp8();
  const auto bytes = [&](VectorOp op) {
    const VectorShape shape{.chain = op, .rows = 300, .cols = 1000, .dtype = DType::bf16};
    const KernelDescription kernel = describe_vector("q", shape, gpu);
    CHECK(output_bytes(shape).value == near((kernel.output * static_cast<double>(kernel.work_groups)).value));
    return kernel.compulsory.value;
  };
  constexpr double kPlain = 3.0 * 300 * 1000;
  CHECK(bytes(VectorOp::quantize) == near(kPlain));
  CHECK(bytes(VectorOp::quantize_rows) == near(kPlain + 4 * 300 * 8));  // 8 blocks of a row
  CHECK(bytes(VectorOp::quantize_blocks) == near(kPlain + 4 * 3 * 8));  // 3 x 8 blocks
  CHECK(bytes(VectorOp::quantize_mx) == near(kPlain + 1 * 300 * 32));   // 32 blocks of a row
}

TEST_CASE("only products in fp8 have scales of blocks") {
  ShapeWords words;
  words[ShapeKey::op] = "gemm";
  words[ShapeKey::dtype] = "bf16";
  words[ShapeKey::scales] = "block";
  for (const ShapeKey key : {ShapeKey::m, ShapeKey::n, ShapeKey::k})
    words.number(key) = 128;
  CHECK_THROWS_WITH_AS(operator_of(words), "'block' requires dtype fp8", ShapeError);
  words[ShapeKey::dtype] = "fp8";
  CHECK(operator_of(words).as<GemmShape>()->scales == GemmScales::block);
}

TEST_CASE("MI308X is MI300X with 80 of its CUs, and a limit on what they multiply") {
  const GpuSpec all = load_gpu("mi300x");
  const GpuSpec few = load_gpu("mi308x");
  CHECK(few.compute.cus() == 80);
  CHECK(few.hbm.peak == all.hbm.peak);
  CHECK(few.cache.llc_size == all.cache.llc_size);
  for (const DType dtype : {DType::bf16, DType::fp16, DType::fp8, DType::fp32}) {
    CAPTURE(name_of(dtype));
    CHECK(matrix_rate(few, dtype).peak / matrix_rate(all, dtype).peak == near(80.0 / 304, 1e-3));
  }
  CHECK(matrix_rate(few, DType::fp8).sustained < 0.6 * matrix_rate(few, DType::fp8).peak);
}

}  // namespace c3::gpu_block_scales_test
