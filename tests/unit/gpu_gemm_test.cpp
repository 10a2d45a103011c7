// Bytes of a tiled GEMM at each level of the memory system.

#include "gpu/kernels/gemm/gemm_choice.hpp"
#include "gpu/kernels/gemm/gemm_shape.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "configs/presets/preset_store.hpp"
#include "engine/errors.hpp"
#include "tests/support/gpu_bench.hpp"
#include "tests/support/mi300x_like.hpp"
#include "tests/support/near.hpp"

namespace c3::gpu_gemm_test {

using namespace literals;
using namespace test;

namespace {

// Tiles 4 x 4, 8 x 56 (one wave and a half), 32 x 32, 64 x 3 (tall), 3 x 64 (wide), 8 x 224 (short K).
const std::vector<GemmShape> kShapes = {{1024, 1024, 4096}, {2048, 14336, 8192}, {8192, 8192, 8192},
                                        {16384, 768, 4096}, {768, 16384, 4096},  {2048, 57344, 512}};

KernelDescription describe(const GemmShape& shape) { return describe_gemm("gemm", shape, mi300x_like_gpu()); }

/// What the kernel finds alone on the whole GPU.
CacheState alone(const KernelDescription& kernel) {
  const GpuSpec gpu = mi300x_like_gpu();
  CacheState state;
  state.resident = std::min<std::int64_t>(kernel.work_groups, gpu.compute.cus());
  state.xcds = gpu.compute.xcds;
  state.l2_size = gpu.cache.l2_size;
  state.llc_size = gpu.cache.llc_size;
  state.work_group_time = kernel.compute_time;
  return state;
}

bool not_more(Bytes a, Bytes b) { return a.value <= b.value * (1.0 + 1e-9); }

}  // namespace

TEST_CASE("a GEMM's tiles, flops, time and stores follow from its shape") {
  // 300 x 500 x 1000 in tiles of 256 x 256 x 64: 2 x 2 tiles, K padded to 1024. A CU's part of 700 TFLOP/s is
  // 1/304.
  const KernelDescription kernel = describe({300, 500, 1000});
  CHECK(kernel.work_groups == 4);
  CHECK(kernel.flops.value == 2.0 * 256 * 256 * 1024);
  CHECK(kernel.compute_time.value == near(2.0 * 256 * 256 * 1024 * 304 / 700e12));
  CHECK(kernel.useful_flops.value == 2.0 * 300 * 500 * 1000);
  CHECK(kernel.output.value == 2.0 * 300 * 500 / 4);  // tiles at the edges store what there is
  CHECK(kernel.prologue == near(1.0 / 16));
  CHECK(kernel.compulsory.value == 2.0 * (300 * 1000 + 1000 * 500 + 300 * 500));
  CHECK(kernel.needs.lds == 64.0_KiB);  // a step of both operands
}

TEST_CASE("a GEMM that the GPU cannot run is refused by name") {
  CHECK_THROWS_WITH_AS(describe({0, 1, 1}), "'gemm': m must be at least 1, not 0", InfeasibleError);
  CHECK_THROWS_AS(describe({256, 256, 256, DType::fp32}), InfeasibleError);
}

TEST_CASE("with caches that hold everything a GEMM reads each operand from HBM once") {
  for (const GemmShape& shape : kShapes) {
    const KernelDescription kernel = describe(shape);
    CacheState state = alone(kernel);
    state.l2_size = state.llc_size = Bytes{1e21};
    const Bytes read = kernel.traffic->per_work_group(state).hbm * static_cast<double>(kernel.work_groups);
    const double k = static_cast<double>(shape.k);
    const Bytes once{2.0 * k * static_cast<double>(shape.m + shape.n)};
    CHECK(read.value == near(once.value));
  }
}

TEST_CASE("without caches every byte that a GEMM requests comes from HBM") {
  for (const GemmShape& shape : kShapes) {
    const KernelDescription kernel = describe(shape);
    CacheState state = alone(kernel);
    state.l2_size = state.llc_size = Bytes{0.0};
    const Traffic traffic = kernel.traffic->per_work_group(state);
    CHECK(traffic.l2.value == 2.0 * (256 + 256) * static_cast<double>(shape.k));
    CHECK(traffic.llc.value == near(traffic.l2.value));
    CHECK(traffic.hbm.value == near(traffic.l2.value));
  }
}

TEST_CASE("a GEMM's bytes fall from L2 to LLC to HBM, in any cache state, and never below once") {
  for (const GemmShape& shape : kShapes) {
    const KernelDescription kernel = describe(shape);
    const Bytes once{2.0 * static_cast<double>(shape.k) * static_cast<double>(shape.m + shape.n)};
    for (const double l2 : {0.0, 0.2, 1.0, 100.0}) {
      for (const double llc : {0.0, 0.1, 1.0, 100.0}) {
        for (const std::int64_t resident : {1, 7, 56, 150, 304, 608}) {
          CacheState state = alone(kernel);
          state.l2_size = l2 * state.l2_size;
          state.llc_size = llc * state.llc_size;
          state.resident = resident;
          const Traffic traffic = kernel.traffic->per_work_group(state);
          CHECK(not_more(traffic.hbm, traffic.llc));
          CHECK(not_more(traffic.llc, traffic.l2));
          CHECK(not_more(once, static_cast<double>(kernel.work_groups) * traffic.hbm));
        }
      }
    }
  }
}

TEST_CASE("more cache is never more bytes, more intruders never fewer") {
  for (const GemmShape& shape : kShapes) {
    const KernelDescription kernel = describe(shape);
    const CacheState usual = alone(kernel);
    Traffic previous = kernel.traffic->per_work_group(usual);
    for (double grown = 1.5; grown < 100.0; grown *= 1.5) {
      CacheState state = usual;
      state.l2_size = grown * usual.l2_size;
      state.llc_size = grown * usual.llc_size;
      const Traffic traffic = kernel.traffic->per_work_group(state);
      CHECK(not_more(traffic.llc, previous.llc));
      CHECK(not_more(traffic.hbm, previous.hbm));
      previous = traffic;
    }
    previous = kernel.traffic->per_work_group(usual);
    for (double intruder = 1e9; intruder < 1e14; intruder *= 3.0) {
      CacheState state = usual;
      state.l2_intruder.value = intruder / state.xcds;
      state.llc_intruder.value = intruder;
      const Traffic traffic = kernel.traffic->per_work_group(state);
      CHECK(not_more(previous.llc, traffic.llc));
      CHECK(not_more(previous.hbm, traffic.hbm));
      previous = traffic;
    }
  }
}

TEST_CASE("tiles that share an XCD with none of their kind find nothing in its L2") {
  const KernelDescription kernel = describe({8192, 8192, 8192});
  CacheState state = alone(kernel);
  const Traffic many = kernel.traffic->per_work_group(state);
  CHECK(many.llc < 0.5 * many.l2);
  state.resident = state.xcds;
  const Traffic few = kernel.traffic->per_work_group(state);
  CHECK(few.llc == few.l2);
}

TEST_CASE("a wide GEMM on fewer CUs keeps fewer columns in flight, crowds the LLC less and reads less HBM") {
  const KernelDescription kernel = describe({2048, 57344, 8192});
  CacheState state = alone(kernel);
  Bytes previous = kernel.traffic->per_work_group(state).hbm;
  for (const std::int64_t resident : {296, 272, 240, 152}) {
    state.resident = resident;
    const Bytes hbm = kernel.traffic->per_work_group(state).hbm;
    CHECK(hbm < previous);
    previous = hbm;
  }
}

TEST_CASE(
    "work groups of a cluster fetch their common panel of B once: L2 serves a + b / cluster a work group") {
  GpuSpec gpu = mi300x_like_gpu();
  const GemmShape shape{4096, 4096, 4096, DType::bf16};
  const CacheState state = alone(describe(shape));
  const double panel = 256.0 * 4096 * 2;
  CHECK(describe_gemm("g", shape, gpu).traffic->per_work_group(state).l2.value == near(2 * panel));
  gpu.library_kernels.gemm_cluster = 2;
  CHECK(describe_gemm("g", shape, gpu).traffic->per_work_group(state).l2.value == near(1.5 * panel));
}

TEST_CASE("the GPU's GEMM tile decides the grid and what a work group occupies") {
  GpuSpec gpu = mi300x_like_gpu();
  gpu.library_kernels.matrix_tiles = {{.m = 128, .n = 256, .k = 64, .waves = 4}};
  const KernelDescription kernel = describe_gemm("g", {2048, 57344, 8192, DType::bf16}, gpu);
  CHECK(kernel.work_groups == 16 * 224);
  CHECK(kernel.needs.registers == 256.0_KiB);
  CHECK(kernel.needs.lds == 48.0_KiB);
}

TEST_CASE("work groups that load ahead hold several steps of K in LDS, and so fewer share a CU") {
  // A step of 64 x 64 x 64 in bf16 is 16 KiB, of 64 KiB.
  GpuSpec gpu = mi300x_like_gpu();
  gpu.library_kernels.matrix_tiles = {{.m = 64, .n = 64, .k = 64, .waves = 4}};
  const auto sharing = [&gpu](int stages) {
    gpu.library_kernels.gemm_stages = stages;
    return work_groups_per_cu(gpu.compute, describe_gemm("g", {512, 512, 512, DType::bf16}, gpu).needs, "g");
  };
  CHECK(sharing(1) == 4);
  CHECK(sharing(2) == 2);
  CHECK(sharing(3) == 1);
  CHECK(sharing(0) == 1);   // as many as fit
  CHECK(sharing(16) == 1);  // no more than fit
}

TEST_CASE("as many work groups of a library's GEMM share an SM as launches in public traces allow") {
  // Registers of a thread, threads and shared memory of cuBLAS' kernels as PyTorch's profiler recorded them on
  // A100 (facebookresearch/HolisticTraceAnalysis, f4d0062c) and H100 (AMD-AGI/TraceLens, 171dd747).
  struct Recorded {
    std::string gpu;
    DType dtype;
    GemmTile tile;
    int on_sm;
  };
  const std::vector<Recorded> recorded = {
      {"a100-sxm-80gb", DType::fp32, {32, 128, 8, 8}, 4},    // 57 registers x 256 threads of 64 Ki
      {"a100-sxm-80gb", DType::fp32, {64, 64, 8, 2}, 8},     // 126 x 64
      {"a100-sxm-80gb", DType::fp32, {64, 128, 8, 4}, 4},    // 122 x 128
      {"a100-sxm-80gb", DType::bf16, {64, 128, 64, 4}, 2},   // 73,728 B of 164 KiB
      {"a100-sxm-80gb", DType::bf16, {256, 128, 64, 8}, 1},  // 147,456 B
      {"h100-sxm", DType::bf16, {64, 64, 64, 4}, 1},         // 231,424 B of 228 KiB, whatever the tile
      {"h100-sxm", DType::bf16, {128, 64, 64, 4}, 1},       {"h100-sxm", DType::bf16, {128, 128, 64, 4}, 1},
  };
  for (const Recorded& one : recorded) {
    CAPTURE(one.gpu);
    CAPTURE(one.tile.m);
    GpuSpec gpu = load_gpu(one.gpu);
    gpu.library_kernels.matrix_tiles = gpu.library_kernels.vector_tiles = {one.tile};
    const KernelDescription kernel = describe_gemm("g", {1024, 1024, 1024, one.dtype}, gpu);
    CHECK(work_groups_per_cu(gpu.compute, kernel.needs, "g") == one.on_sm);
  }
}

}  // namespace c3::gpu_gemm_test
