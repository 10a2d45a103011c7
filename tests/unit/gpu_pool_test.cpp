// Bytes, instructions and work groups of pools, by hand.

#include "gpu/kernels/pool/pool_kernel.hpp"

#include <doctest/doctest.h>

#include <initializer_list>
#include <string>
#include <utility>

#include "engine/errors.hpp"
#include "gpu/kernels/describe.hpp"
#include "gpu/kernels/operator_class.hpp"
#include "gpu/kernels/operator_table.hpp"
#include "gpu/kernels/pool/pool_instructions.hpp"
#include "gpu/kernels/pool/pool_launch.hpp"
#include "tests/support/gpu_bench.hpp"
#include "tests/support/near.hpp"

namespace c3::gpu_pool_test {

using namespace literals;
using namespace test;

namespace {

GpuSpec pool_gpu() {
  GpuSpec gpu = round_gpu();
  gpu.compute.matrix.push_back({DType::fp32, 100.0_TFLOPs, 100.0_TFLOPs, 1000.0_MHz});
  gpu.kernels.vector.wave_interval = 10;
  gpu.kernels.vector.first_load_cycles = 500;
  return gpu;
}

/// ResNet-50's first pool on 2 images: 112 x 112 to 56 x 56. Along an axis 55 of 56 windows have three
/// elements of the image and the first, one of whose elements is padding, two: 167.
PoolShape resnet_pool(PoolOp op, Pass pass = Pass::forward, DType dtype = DType::fp32) {
  return {.op = op,
          .batch = 2,
          .channels = 64,
          .image = {112, 112},
          .window = {3, 3},
          .stride = {2, 2},
          .pad = {1, 1},
          .dtype = dtype,
          .pass = pass};
}

constexpr double kImages = 2 * 64;
constexpr double kIn = 112 * 112, kOut = 56 * 56;
constexpr double kTaps = 167 * 167;

PoolShape in_nhwc(PoolShape shape) {
  shape.layout = ImageLayout::nhwc;
  return shape;
}

PoolBytes bytes_per_image(const PoolShape& shape) {
  const PoolBytes bytes = bytes_of(shape);
  return {bytes.read / kImages, bytes.written / kImages};
}

ShapeWords pool_words(std::initializer_list<std::pair<ShapeKey, std::string_view>> changes) {
  ShapeWords words;
  words[ShapeKey::op] = "max_pool";
  words[ShapeKey::dtype] = "fp16";
  words[ShapeKey::channels] = "8";
  words[ShapeKey::height] = "10";
  words[ShapeKey::filter_h] = "3";
  for (const auto& [key, word] : changes)
    words[key] = word;
  return words;
}

}  // namespace

TEST_CASE("a max pool reads its input and writes its output, with an index of 8 bytes") {
  const PoolBytes forward = bytes_per_image(resnet_pool(PoolOp::max, Pass::forward, DType::fp16));
  CHECK(forward.read.value == 2 * kIn);
  CHECK(forward.written.value == (2 + 8) * kOut);
  const PoolBytes backward = bytes_per_image(resnet_pool(PoolOp::max, Pass::backward, DType::fp16));
  CHECK(backward.read.value == (2 + 8) * kOut);
  CHECK(backward.written.value == 2 * kIn);
}

TEST_CASE("an average pool has no index") {
  const PoolBytes forward = bytes_per_image(resnet_pool(PoolOp::average));
  CHECK(forward.read.value == 4 * kIn);
  CHECK(forward.written.value == 4 * kOut);
  const PoolBytes backward = bytes_per_image(resnet_pool(PoolOp::average, Pass::backward));
  CHECK(backward.read.value == 4 * kOut);
  CHECK(backward.written.value == 4 * kIn);
}

TEST_CASE("rows between windows are not read") {
  // Windows of 2 x 2 at every 5th row and column of 10: rows 0, 1, 5 and 6, each whole.
  const PoolShape shape{.image = {10, 10}, .window = {2, 2}, .stride = {5, 5}, .dtype = DType::fp32};
  CHECK(bytes_of(shape).read.value == 4 * 4 * 10);
  CHECK(elements_of(shape).taps == 4 * 4);
}

TEST_CASE("lanes of a wave in NCHW go through the largest window, in NHWC through their own") {
  // max: 228.5 of an output and 22.6 of each of 9 elements, 1.9 more in 16 bits.
  CHECK(instructions_of(resnet_pool(PoolOp::max)) == near(228.5 + 9 * 22.6));
  CHECK(instructions_of(resnet_pool(PoolOp::max, Pass::forward, DType::fp16)) ==
        near(228.5 + 9 * (22.6 + 1.9)));
  // Backward an element of the input lies in at most 2 x 2 windows.
  CHECK(instructions_of(resnet_pool(PoolOp::max, Pass::backward)) == near(239.6 + 4 * 14.8));
  CHECK(instructions_of(resnet_pool(PoolOp::average)) == near(255.8 + 9 * 7.4));
  CHECK(instructions_of(resnet_pool(PoolOp::average, Pass::backward)) == near(319.6 + 4 * 37.4));
  // 64 channels are 2 of each of 32 threads, which share where a window lies.
  CHECK(instructions_of(in_nhwc(resnet_pool(PoolOp::max))) == near(218.9 / 2 + kTaps / kOut * 30.4));
  CHECK(instructions_of(in_nhwc(resnet_pool(PoolOp::max, Pass::backward))) ==
        near(142.9 / 2 + kTaps / kIn * 71));
  CHECK(instructions_of(in_nhwc(resnet_pool(PoolOp::average))) == near(263.5 + kTaps / kOut * 12.8));
  CHECK(instructions_of(in_nhwc(resnet_pool(PoolOp::average, Pass::backward))) ==
        near(323.6 + kTaps / kIn * 41.1));
}

TEST_CASE("a window that is wider than the image has what the image has") {
  PoolShape shape{.image = {4, 4}, .window = {5, 5}, .pad = {2, 2}, .dtype = DType::fp32};
  CHECK(instructions_of(shape) == near(228.5 + 16 * 22.6));
  shape = {.image = {4, 4}, .window = {4, 4}, .dtype = DType::fp32, .pass = Pass::backward};
  CHECK(instructions_of(shape) == near(239.6 + 14.8));  // there is one window
}

TEST_CASE("places of an average pool follow one another, those of a max pool's gradient stay in a channel") {
  const GpuSpec gpu = pool_gpu();
  const auto work_groups = [&](const PoolShape& shape) { return describe_pool("p", shape, gpu).work_groups; };
  CHECK(work_groups(resnet_pool(PoolOp::max)) == 1568);                      // 401,408 outputs / 256
  CHECK(work_groups(resnet_pool(PoolOp::average)) == 392);                   // / 1,024
  CHECK(work_groups(resnet_pool(PoolOp::average, Pass::backward)) == 1568);  // 1,605,632 / 1,024
  CHECK(work_groups(resnet_pool(PoolOp::max, Pass::backward)) == 128 * 49);  // 12,544 / 256 = 49
  // 5 x 5 elements of a channel are a wave of 32 threads in a work group of their own.
  const PoolShape small{
      .channels = 100, .image = {5, 5}, .window = {1, 1}, .dtype = DType::fp32, .pass = Pass::backward};
  const KernelDescription kernel = describe_pool("p", small, gpu);
  CHECK(kernel.work_groups == 100);
  const double rate = 128 * 0.9 * 1e9;  // lanes, share of slots, clock
  CHECK(kernel.compute_time.value == near(32 * (239.6 + 14.8) / rate));
}

TEST_CASE("a max pool in NHWC makes up to two columns and two rows of up to four channels a thread") {
  // The grid that PyTorch launches for 64 images of 288 x 35 x 35, windows of 3 x 3 by 2: forward 17 x 17
  // outputs in blocks of 32 x 16 x 2, 3 for the channels and 5 for the rows; backward blocks of 32 x 32 x 1, 18
  // for the rows.
  PoolShape shape{.batch = 64,
                  .channels = 288,
                  .image = {35, 35},
                  .window = {3, 3},
                  .stride = {2, 2},
                  .dtype = DType::fp16,
                  .layout = ImageLayout::nhwc};
  const PoolLaunch forward = launch_of(shape);
  CHECK(forward.work_groups == 192 * 5);
  CHECK(forward.block == 1024);
  CHECK(forward.lds.value == 3 * 1024 * 6);
  CHECK(forward.places == near(288.0 * 17 * 17 / (3 * 5)));
  // 17 columns are 2 of 16 threads; of 17 rows, 4 work groups have 4, 2 of each thread, and the last has one.
  CHECK(forward.in_turn == near(2 * 9.0 / 5 * 3));
  shape.pass = Pass::backward;
  const PoolLaunch backward = launch_of(shape);
  CHECK(backward.work_groups == 192 * 18);
  CHECK(backward.block == 1024);
  CHECK(backward.lds.value == 3 * 1024 * 4);
  CHECK(backward.in_turn == near(2 * 35.0 / 18 * 3));
  // 5 channels of 3 x 3 outputs: 4 threads, of which each has 2 channels, of 2 x 2 places: half a wave idles.
  shape = {.channels = 5, .image = {3, 3}, .window = {1, 1}, .layout = ImageLayout::nhwc};
  const PoolLaunch small = launch_of(shape);
  CHECK(small.work_groups == 1);
  CHECK(small.block == 16);
  CHECK(small.places == 2 * 8 * 9);
  CHECK(small.in_turn == 2 * 2 * 2);
}

TEST_CASE("instructions of a place wait for one another and for what none loaded before") {
  // 4 elements of the input come to an output of windows of 2 x 2 by 2, and a quarter of a gradient to an
  // input.
  PoolShape shape{.op = PoolOp::average,
                  .batch = 4,
                  .channels = 256,
                  .image = {56, 56},
                  .window = {2, 2},
                  .stride = {2, 2},
                  .dtype = DType::fp32,
                  .layout = ImageLayout::nhwc};
  const auto least = [&] { return describe_pool("p", shape, pool_gpu()).least_time.value; };
  CHECK(least() == near((10 * (263.5 + 4 * 12.8) + 500 * 4) * 1e-9));
  shape.pass = Pass::backward;
  CHECK(least() == near((10 * (323.6 + 41.1) + 500 * 0.25) * 1e-9));
  // Windows of 3 x 3 by 1: but for edges, one element of nine is new.
  shape.window = {3, 3};
  shape.stride = {1, 1};
  shape.pad = {1, 1};
  shape.pass = Pass::forward;
  CHECK(least() == near((10 * (263.5 + 166.0 * 166.0 / (56 * 56) * 12.8) + 500) * 1e-9));
}

TEST_CASE("property: pools in NCHW and NHWC move the same bytes") {
  for (const PoolOp op : {PoolOp::max, PoolOp::average}) {
    for (const Pass pass : {Pass::forward, Pass::backward}) {
      const PoolShape shape = resnet_pool(op, pass, DType::fp16);
      const KernelTime rows = time_of(shape, pool_gpu());
      const KernelTime pixels = time_of(in_nhwc(shape), pool_gpu());
      CHECK(rows.hbm_read.value == near(pixels.hbm_read.value));
      CHECK(rows.hbm_write.value == near(pixels.hbm_write.value));
    }
  }
}

TEST_CASE("a max pool clears its gradient first, an average pool does not") {
  const GpuSpec gpu = pool_gpu();
  const KernelDescription kernel = describe_pool("p", resnet_pool(PoolOp::max, Pass::backward), gpu);
  REQUIRE(kernel.before.size() == 1);
  CHECK(kernel.before.front().written.value == kImages * 4 * kIn);
  CHECK(kernel.before.front().time.value == near(kImages * 4 * kIn / 1e12));  // at 1 TB/s
  CHECK(describe_pool("p", resnet_pool(PoolOp::average, Pass::backward), gpu).before.empty());
  CHECK(describe_pool("p", resnet_pool(PoolOp::max), gpu).before.empty());
}

TEST_CASE("a pool much larger than the caches moves its bytes through HBM once") {
  PoolShape shape = resnet_pool(PoolOp::max);
  shape.batch = 4000;  // 22 GB beside an LLC of 256 MiB
  const KernelTime found = time_of(shape, pool_gpu());
  CHECK(found.hbm_read.value == near(2000 * kImages * 4 * kIn, 1e-6));
  CHECK(found.hbm_write.value == near(2000 * kImages * 12 * kOut, 1e-6));
}

TEST_CASE("a pool is read from words: its stride is its window where none is given") {
  const Operator op = operator_of(pool_words({{ShapeKey::filter_w, "2"}, {ShapeKey::b, "4"}}));
  const PoolShape shape = *op.as<PoolShape>();
  CHECK(shape.op == PoolOp::max);
  CHECK(shape.image == Extent2{10, 10});
  CHECK(shape.window == Extent2{3, 2});
  CHECK(shape.stride == Extent2{3, 2});
  CHECK(output_extent(shape) == Extent2{3, 5});
  CHECK(output_bytes(op).value == 4 * 8 * 15 * (2 + 8));
  CHECK(name_of(op) == "max_pool");
  CHECK(part_of(op, 3) == operator_of(pool_words({{ShapeKey::filter_w, "2"}, {ShapeKey::b, "2"}})));
  CHECK(shape.layout == ImageLayout::nchw);
  CHECK(operator_of(pool_words({{ShapeKey::layout, "nhwc"}})).as<PoolShape>()->layout == ImageLayout::nhwc);
  const Operator mean = operator_of(pool_words({{ShapeKey::op, "avg_pool2d"}, {ShapeKey::stride_h, "1"}}));
  CHECK(mean.as<PoolShape>()->op == PoolOp::average);
  CHECK(mean.as<PoolShape>()->stride == Extent2{1, 1});
  CHECK(name_of(mean) == "average_pool");
  CHECK(group_of(mean) == "pool");
}

TEST_CASE("what is no pool is refused under its key") {
  const auto refused_as = [](std::initializer_list<std::pair<ShapeKey, std::string_view>> changes,
                             const char* reason) {
    CHECK_THROWS_WITH_AS(operator_of(pool_words(changes)), reason, ShapeError);
  };
  refused_as({{ShapeKey::filter_h, "11"}}, "the window is higher than the padded input");
  refused_as({{ShapeKey::filter_w, "11"}}, "the window is wider than the padded input");
  refused_as({{ShapeKey::pad_h, "2"}}, "must be at most half the window, 1");
  refused_as({{ShapeKey::filter_h, ""}}, "is missing; max_pool requires it");
  refused_as({{ShapeKey::dtype, "fp8"}}, "must be bf16, fp16 or fp32 of a pool");
  refused_as({{ShapeKey::height, "2000000"}}, "must be at most 2^20 of images, not 2000000");
  refused_as({{ShapeKey::op, "max_pool+relu"}}, "'max_pool' cannot be fused with another operator");
  PoolShape shape = resnet_pool(PoolOp::max);
  shape.window = {115, 3};
  CHECK_THROWS_WITH_AS(describe_pool("p", shape, pool_gpu()),
                       "'p': filter_h: the window is higher than the padded input", InfeasibleError);
  shape = resnet_pool(PoolOp::max);
  for (const Extent2& pad : {Extent2{1, 2}, Extent2{2, 1}}) {
    shape.pad = pad;
    const std::string key = pad.h == 2 ? "pad_h" : "pad_w";
    CHECK_THROWS_WITH_AS(describe_pool("p", shape, pool_gpu()),
                         ("'p': " + key + ": must be at most half the window, 1").c_str(), InfeasibleError);
  }
  shape = resnet_pool(PoolOp::max);
  shape.stride.h = 0;
  CHECK_THROWS_AS(describe_pool("p", shape, pool_gpu()), InfeasibleError);
}

}  // namespace c3::gpu_pool_test
