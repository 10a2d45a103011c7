// A kernel alone takes as long, and moves as many bytes, in closed form as in a simulation: one of each class,
// on real presets.

#include "gpu/kernel_time.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "configs/presets/preset_store.hpp"
#include "gpu/kernels/attention/attention_shape.hpp"
#include "gpu/kernels/batch_norm/batch_norm_shape.hpp"
#include "gpu/kernels/convolution/convolution_shape.hpp"
#include "gpu/kernels/describe.hpp"
#include "gpu/kernels/gemm/gemm_shape.hpp"
#include "gpu/kernels/operator_table.hpp"
#include "gpu/kernels/pool/pool_shape.hpp"
#include "gpu/kernels/scan/causal_conv.hpp"
#include "gpu/kernels/scan/scan_shape.hpp"
#include "gpu/kernels/vector/vector_shape.hpp"
#include "tests/support/gpu_bench.hpp"
#include "tests/support/near.hpp"
#include "tests/support/recording.hpp"

namespace c3::gpu_closed_form_test {

using namespace test;

namespace {

constexpr int kSeeds = 8;

struct Scene {
  std::string name;
  Operator op;
  double cohort_time = 0.01;  ///< relative tolerance, on an A100
};

VectorShape vectors(VectorOp op, std::int64_t rows, std::int64_t cols) {
  return {.chain = op, .rows = rows, .cols = cols, .dtype = DType::bf16};
}

VectorShape by_pytorch(VectorShape norm) {
  norm.is_eager = true;
  return norm;
}

ConvolutionShape convolution(ConvolutionSolver solver) {
  return {.batch = 64,
          .channels = 256,
          .filters = 256,
          .image = {28, 28},
          .filter = {3, 3},
          .pad = {1, 1},
          .solver = solver};
}

PoolShape pool(PoolOp op, Pass pass, ImageLayout layout = ImageLayout::nchw) {
  return {.op = op,
          .batch = 64,
          .channels = 64,
          .image = {112, 112},
          .window = {3, 3},
          .stride = {2, 2},
          .pad = {1, 1},
          .pass = pass,
          .layout = layout};
}

BatchNormShape norm(Pass pass, ImageLayout layout) {
  return {.batch = 64, .channels = 64, .image = {112, 112}, .pass = pass, .layout = layout};
}

ScanShape scan(ScanStage stage, std::int64_t batch = 4) {
  return {.stage = stage,
          .batch = batch,
          .length = 8192,
          .heads = 32,
          .key_heads = 16,
          .key_dim = 128,
          .value_dim = 128};
}

std::vector<Scene> scenes() {
  VectorChain chain = VectorOp::add;
  chain.append(VectorOp::gelu);
  VectorShape fused = vectors(VectorOp::add, 8192, 8192);
  fused.chain = chain;
  const AttentionShape attention = {
      .batch = 4, .heads = 32, .kv_heads = 8, .queries = 4096, .keys = 4096, .head_dim = 128, .causal = true};
  AttentionShape backward = attention;
  backward.pass = Pass::backward;
  return {
      {"GEMM", GemmShape{4096, 4096, 4096}},
      {"GEMM that adds to memory",
       GemmShape{.m = 4096, .n = 4096, .k = 4096, .result = GemmResult::added_fp32}},
      {"GEMM in fp32, one wave of several work groups a CU", GemmShape{2048, 2048, 1024, DType::fp32}, 0.05},
      {"GEMM in fp32, some waves", GemmShape{4096, 4096, 1024, DType::fp32}, 0.05},
      // Stores fall beside loads that are bound by HBM, and take what the pattern loses, too.
      {"GEMM that splits K", GemmShape{256, 256, 16384}, 0.02},
      {"GEMM of few rows", GemmShape{16, 8192, 8192}, 0.02},
      // Work groups are short, and each one's loads, arithmetic and stores follow one another.
      {"batched GEMM", GemmShape{1024, 1024, 128, DType::bf16, 64}, 0.1},
      {"convolution as a product", convolution(ConvolutionSolver::implicit_gemm)},
      {"convolution by Winograd", convolution(ConvolutionSolver::winograd), 0.05},
      {"attention", attention},
      {"attention, backward", backward},
      {"elementwise", vectors(VectorOp::add, 8192, 8192)},
      // Arithmetic and HBM take about equally long. In closed form all bytes compete with the arithmetic, in a
      // cohort only its loads, and then its stores with other cohorts.
      {"fused chain", fused, 0.05},
      {"softmax of short rows", vectors(VectorOp::softmax, 100'000, 1000), 0.07},
      {"softmax of long rows", vectors(VectorOp::softmax, 8192, 50'257)},
      {"layer norm", vectors(VectorOp::layernorm, 32'768, 8192), 0.02},
      {"layer norm in the caches, by PyTorch", by_pytorch(vectors(VectorOp::layernorm, 1024, 1024)), 0.03},
      {"RMS norm of short rows", vectors(VectorOp::rmsnorm, 500'000, 128), 0.08},
      {"maximum of a tensor", vectors(VectorOp::absmax, 8192, 8192), 0.05},
      {"optimizer", vectors(VectorOp::adam, 8192, 8192), 0.03},
      {"max pool", pool(PoolOp::max, Pass::forward)},
      {"max pool, backward", pool(PoolOp::max, Pass::backward)},
      {"max pool in NHWC", pool(PoolOp::max, Pass::forward, ImageLayout::nhwc)},
      {"average pool", pool(PoolOp::average, Pass::forward)},
      // One wave: in closed form all bytes compete with its least time, in a cohort first its loads.
      {"batch norm", norm(Pass::forward, ImageLayout::nhwc), 0.06},
      {"batch norm of few channels, backward", norm(Pass::backward, ImageLayout::nchw)},
      {"average pool, backward", pool(PoolOp::average, Pass::backward)},
      // One wave, whose stores fall beside loads in cohorts. A partial second one takes a fifth longer there.
      {"states of a recurrence", scan(ScanStage::states, 2), 0.1},
      {"output of a recurrence", scan(ScanStage::output), 0.06},
      {"inverse of a recurrence", scan(ScanStage::inverse), 0.06},
      {"causal convolution", CausalConvShape{.batch = 4, .length = 16'384, .channels = 8192}, 0.05},
  };
}

struct Outcome {
  double time = 0.0;   ///< s
  double bytes = 0.0;  ///< at HBM
};

/// A kernel that begins from idle, as a run of one kernel does, is in a burst, which a limit of power slows
/// down, too.
Outcome in_closed_form(const Operator& op, GpuSpec gpu) {
  gpu.governor.state = ClockState::burst;
  const KernelTime found = time_of(op, gpu, {.launch = LaunchCost::device});
  return {found.time.value, (found.hbm_read + found.hbm_write).value};
}

Outcome simulated(const KernelDescription& kernel, const GpuSpec& gpu, KernelGrain grain, std::uint64_t seed) {
  Recording seen;
  GpuBench bench(gpu, &seen, {{"a", "b"}, {}, seed});
  KernelLaunch launch;
  launch.grain = grain;
  launch.delay = gpu.dispatch.launch_latency;
  const auto& ran = bench.launch(Seconds{0.0}, kernel, launch);
  bench.run();
  return {ran.span(), seen.total("gpu0.memory_side.a")};
}

Outcome mean_of_cohorts(const KernelDescription& kernel, const GpuSpec& gpu) {
  Outcome mean;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    const Outcome one = simulated(kernel, gpu, KernelGrain::cohort, seed);
    mean.time += one.time / kSeeds;
    mean.bytes += one.bytes / kSeeds;
  }
  return mean;
}

}  // namespace

TEST_CASE("a kernel alone is the same in closed form and at the fluid grain") {
  for (const char* preset : {"a100-sxm-80gb", "h100-sxm", "mi300x"}) {
    const GpuSpec gpu = load_gpu(preset);
    for (const Scene& scene : scenes()) {
      CAPTURE(preset);
      CAPTURE(scene.name);
      const KernelDescription kernel = describe("k", scene.op, gpu);
      const Outcome closed = in_closed_form(scene.op, gpu);
      const Outcome fluid = simulated(kernel, gpu, KernelGrain::fluid, /*seed=*/0);  // draws nothing
      CHECK(fluid.time == near(closed.time, 1e-3));
      CHECK(fluid.bytes == near(closed.bytes, 1e-3));
    }
  }
}

TEST_CASE("a kernel alone is about the same in closed form and in cohorts") {
  const GpuSpec gpu = load_gpu("a100-sxm-80gb");
  for (const Scene& scene : scenes()) {
    CAPTURE(scene.name);
    const KernelDescription kernel = describe("k", scene.op, gpu);
    const Outcome closed = in_closed_form(scene.op, gpu);
    const Outcome cohorts = mean_of_cohorts(kernel, gpu);
    CHECK(cohorts.time == near(closed.time, scene.cohort_time));
    CHECK(cohorts.bytes == near(closed.bytes, 1e-3));
  }
}

// A cohort keeps the share of its CU's arithmetic that it found when it was placed. Where times are drawn, the
// first ones of a partial last wave find neighbours that are about to leave, and stay slow without them.
TEST_CASE("a partial last wave of several work groups a CU is the same in cohorts when none is early") {
  GpuSpec gpu = load_gpu("a100-sxm-80gb");
  gpu.dispatch.work_group_spread = 0.0;
  const GemmShape product{2048, 2048, 2048, DType::fp32};
  const KernelDescription kernel = describe("k", product, gpu);
  CHECK(mean_of_cohorts(kernel, gpu).time == near(in_closed_form(product, gpu).time, 0.01));
}

// An HBM that is faster at reads alone than at a mix lets cohorts gain by reading and writing at different
// times.
TEST_CASE("streams are the same in cohorts on an HBM that a mix does not slow") {
  GpuSpec gpu = load_gpu("mi300x");
  gpu.hbm.write = gpu.hbm.copy = gpu.hbm.read;
  for (const VectorOp op : {VectorOp::add, VectorOp::layernorm}) {
    CAPTURE(name_of(op));
    const Operator stream = vectors(op, 32'768, 8192);
    const KernelDescription kernel = describe("k", stream, gpu);
    CHECK(mean_of_cohorts(kernel, gpu).time == near(in_closed_form(stream, gpu).time, 0.02));
  }
}

}  // namespace c3::gpu_closed_form_test
