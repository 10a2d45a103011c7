// Work groups, instructions and bytes of batch norms, by hand.

#include "gpu/kernels/batch_norm/batch_norm_kernel.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <initializer_list>
#include <string_view>
#include <utility>

#include "configs/presets/preset_store.hpp"
#include "engine/errors.hpp"
#include "gpu/kernel_time.hpp"
#include "gpu/kernels/describe.hpp"
#include "gpu/kernels/operator_class.hpp"
#include "gpu/kernels/operator_table.hpp"
#include "tests/support/gpu_bench.hpp"
#include "tests/support/near.hpp"

namespace c3::gpu_batch_norm_test {

using namespace literals;
using namespace test;

namespace {

/// 8 CUs of 64 KiB of shared memory at 1 GHz.
GpuSpec norm_gpu() {
  GpuSpec gpu = round_gpu();
  gpu.compute.matrix.push_back({DType::fp32, 100.0_TFLOPs, 100.0_TFLOPs, 1000.0_MHz});
  gpu.dispatch.work_group_spread = 0;
  gpu.kernels.vector.issue_share = 0.5;
  gpu.kernels.vector.wave_interval = 10;
  gpu.kernels.vector.first_load_cycles = 500;
  gpu.kernels.vector.block_us = 3;
  return gpu;
}

/// A channel has 4 x 64 x 64 = 16,384 elements, 32 of each of 512 threads.
BatchNormShape norm_of(Pass pass, DType dtype = DType::fp16, ImageLayout layout = ImageLayout::nchw) {
  return {.batch = 4, .channels = 6, .image = {64, 64}, .dtype = dtype, .pass = pass, .layout = layout};
}

KernelDescription described_norm(const BatchNormShape& shape) {
  return describe_batch_norm("norm", shape, norm_gpu());
}

constexpr double kChannel = 16'384;

ShapeWords norm_words(std::initializer_list<std::pair<ShapeKey, std::string_view>> changes) {
  ShapeWords words;
  words[ShapeKey::op] = "batch_norm";
  words[ShapeKey::dtype] = "fp16";
  words[ShapeKey::channels] = "8";
  words[ShapeKey::height] = "10";
  for (const auto& [key, word] : changes)
    words[key] = word;
  return words;
}

}  // namespace

TEST_CASE("a batch norm has a work group for each channel in NCHW, two for each CU in NHWC") {
  CHECK(described_norm(norm_of(Pass::forward)).work_groups == 6);
  CHECK(described_norm(norm_of(Pass::forward, DType::fp16, ImageLayout::nhwc)).work_groups == 16);
  // 1,536 elements are 3 work groups of 512 threads.
  const BatchNormShape small{.batch = 1, .channels = 6, .image = {16, 16}, .layout = ImageLayout::nhwc};
  CHECK(described_norm(small).work_groups == 3);
}

TEST_CASE(
    "a batch norm keeps a channel that takes half of a CU's shared memory, and loads a larger one twice") {
  const auto issued = [](const BatchNormShape& shape) {
    const KernelDescription kernel = described_norm(shape);
    const double lanes = 128 * 0.5 * 1e9;  // a second
    return kernel.compute_time.value * lanes * static_cast<double>(kernel.work_groups) / elements_of(shape);
  };
  CHECK(issued(norm_of(Pass::forward)) == near(28.7));               // 32 KiB: kept
  CHECK(issued(norm_of(Pass::forward, DType::fp32)) == near(76.4));  // 64 KiB: twice
  CHECK(issued(norm_of(Pass::backward)) == near(54.3));              // input and gradient: 64 KiB
  CHECK(issued(norm_of(Pass::backward, DType::fp32)) == near(49.4));
  BatchNormShape half = norm_of(Pass::backward);
  half.batch = 2;
  CHECK(issued(half) == near(38.2));
  CHECK(issued(norm_of(Pass::forward, DType::fp16, ImageLayout::nhwc)) == near(31.8));
  CHECK(issued(norm_of(Pass::backward, DType::fp32, ImageLayout::nhwc)) == near(36.3));
}

TEST_CASE("threads take their elements in turn, then add sums up") {
  const auto least = [](const BatchNormShape& shape) { return described_norm(shape).least_time.value * 1e6; };
  CHECK(least(norm_of(Pass::forward)) == near(32 * 28.7 * 10 * 1e-3 + 3));
  CHECK(least(norm_of(Pass::forward, DType::fp32)) == near(32 * 76.4 * 10 * 1e-3 + 3));
  // Backward two loads wait for HBM one after another: longer than 54.3 instructions of 10 cycles.
  CHECK(least(norm_of(Pass::backward)) == near(32 * 2 * 500 * 1e-3 + 3));
  // 98,304 elements among 16 work groups: 12 of a thread.
  CHECK(least(norm_of(Pass::forward, DType::fp16, ImageLayout::nhwc)) == near(12 * 31.8 * 10 * 1e-3 + 3));
}

TEST_CASE("in NHWC what 8 CUs keep is loaded before the rest is done, and the rest goes on beside it") {
  // Registers of 512 KiB and shared memory of 64 KiB of each CU: 4.5 MiB, 144 channels of 32 KiB.
  BatchNormShape shape = norm_of(Pass::forward, DType::fp16, ImageLayout::nhwc);
  const auto overlap = [&](std::int64_t channels) {
    shape.channels = channels;
    return described_norm(shape).overlap;
  };
  CHECK(overlap(144) == near(1.0));
  // Half of twice as many is kept: equal times of loads and arithmetic take (2 + 2^(1/4)) / 2 of one.
  CHECK(std::pow(2.0, 1.0 / overlap(288)) == near((2.0 + std::pow(2.0, 0.25)) / 2.0));
  CHECK(overlap(1 << 18) == near(4.0, 1e-2));
  shape.pass = Pass::backward;  // input and gradient
  CHECK(overlap(72) == near(1.0));
  CHECK(overlap(73) > 1.0);
  shape.layout = ImageLayout::nchw;
  CHECK(overlap(72) == 4);
}

// Loads and instructions take about as long on an H100.
TEST_CASE("larger images never take less time") {
  const GpuSpec gpu = load_gpu("h100-sxm");
  for (const ImageLayout layout : {ImageLayout::nchw, ImageLayout::nhwc}) {
    for (const Pass pass : {Pass::forward, Pass::backward}) {
      BatchNormShape shape = norm_of(pass, DType::fp16, layout);
      shape.batch = 64;
      shape.channels = 512;
      Seconds before{};
      for (std::int64_t side = 1; side <= 80; ++side) {
        shape.image = {side, side};
        const Seconds time = time_alone(describe_batch_norm("norm", shape, gpu), gpu).time;
        INFO(side);
        CHECK(time.value >= before.value * (1.0 - 1e-9));
        before = time;
      }
    }
  }
}

TEST_CASE("of fewer channels than CUs, half as many take as long in NCHW, and less in NHWC") {
  const GpuSpec gpu = with_fast_memory(norm_gpu());
  const auto time = [&](BatchNormShape shape, std::int64_t channels) {
    shape.channels = channels;
    return time_of(shape, gpu).time.value;
  };
  for (const Pass pass : {Pass::forward, Pass::backward}) {
    for (const DType dtype : {DType::fp16, DType::fp32}) {
      const BatchNormShape rows = norm_of(pass, dtype);
      CHECK(time(rows, 8) == near(time(rows, 4)));
      CHECK(time(rows, 4) == near(time(rows, 2)));
      const BatchNormShape pixels = norm_of(pass, dtype, ImageLayout::nhwc);
      CHECK(time(pixels, 4) < 0.9 * time(pixels, 8));
    }
  }
}

TEST_CASE("a batch norm much larger than the caches reads its tensors once or twice and writes one") {
  GpuSpec gpu = norm_gpu();
  gpu.hbm.size = 1000.0_GB;
  const auto read_and_written = [&](BatchNormShape shape, double tensors_read) {
    shape.channels = 60'000;
    const KernelTime found = time_of(shape, gpu);
    const double tensor = 60'000 * kChannel * element_size(shape.dtype).value;
    CHECK(found.hbm_read.value == near(tensors_read * tensor, 0.01));
    CHECK(found.hbm_write.value == near(tensor, 0.01));
  };
  read_and_written(norm_of(Pass::forward), 1);
  read_and_written(norm_of(Pass::forward, DType::fp16, ImageLayout::nhwc), 2);
  read_and_written(norm_of(Pass::backward, DType::fp16, ImageLayout::nhwc), 4);
}

TEST_CASE("a batch norm is read from words") {
  const Operator op = operator_of(norm_words({{ShapeKey::b, "4"}, {ShapeKey::layout, "nhwc"}}));
  const BatchNormShape shape = *op.as<BatchNormShape>();
  CHECK(shape == BatchNormShape{.batch = 4, .channels = 8, .image = {10, 10}, .layout = ImageLayout::nhwc});
  CHECK(output_bytes(op).value == 4 * 8 * 100 * 2);
  CHECK(name_of(op) == "batch_norm");
  CHECK(group_of(op) == "norm");
  const Operator other = operator_of(
      norm_words({{ShapeKey::op, "batch_norm2d"}, {ShapeKey::width, "5"}, {ShapeKey::pass, "backward"}}));
  CHECK(*other.as<BatchNormShape>() == BatchNormShape{.channels = 8, .image = {10, 5}, .pass = Pass::backward});
  const auto refused_as = [](std::initializer_list<std::pair<ShapeKey, std::string_view>> changes,
                             const char* reason) {
    CHECK_THROWS_WITH_AS(operator_of(norm_words(changes)), reason, ShapeError);
  };
  refused_as({{ShapeKey::height, ""}}, "is missing; batch_norm requires it");
  refused_as({{ShapeKey::dtype, "fp8"}}, "must be bf16, fp16 or fp32 of a batch norm");
  BatchNormShape none = shape;
  none.batch = 0;
  CHECK_THROWS_AS(described_norm(none), InfeasibleError);
}

}  // namespace c3::gpu_batch_norm_test
