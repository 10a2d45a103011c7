#include <doctest/doctest.h>

#include "configs/presets/preset_store.hpp"
#include "gpu/kernel_time.hpp"
#include "gpu/kernels/describe.hpp"
#include "gpu/kernels/gemm/gemm_shape.hpp"
#include "gpu/kernels/vector/vector_shape.hpp"
#include "tests/support/near.hpp"

namespace c3::gpu_roofline_test {
namespace {

Seconds roofline_of(const Operator& op, const GpuSpec& gpu) { return roofline(describe("k", op, gpu), gpu); }

}  // namespace

TEST_CASE("a large product's roofline is its flops at peak, a thin one's and a copy's their bytes at peak") {
  const GpuSpec gpu = load_gpu("a100-sxm-80gb");
  const double peak = matrix_rate(gpu, DType::bf16).peak.value;
  CHECK(roofline_of(GemmShape{.m = 4096, .n = 4096, .k = 4096}, gpu).value ==
        near(2.0 * 4096 * 4096 * 4096 / peak));
  // 2 bytes of each of m k + k n + m n.
  const double thin_bytes = 2.0 * (1.0 * 4096 + 4096.0 * 4096 + 1.0 * 4096);
  CHECK(roofline_of(GemmShape{.m = 1, .n = 4096, .k = 4096}, gpu).value ==
        near(thin_bytes / gpu.hbm.peak.value));
  const double copied_bytes = 2.0 * 4.0 * 8192 * 8192;
  CHECK(roofline_of(VectorShape{.chain = VectorOp::copy, .rows = 8192, .cols = 8192}, gpu).value ==
        near(copied_bytes / gpu.hbm.peak.value));
}

}  // namespace c3::gpu_roofline_test
