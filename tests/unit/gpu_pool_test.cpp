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
#include "tests/support/gpu_bench.hpp"
#include "tests/support/near.hpp"

using namespace c3;
using namespace c3::literals;
using namespace c3::test;

namespace {

GpuSpec pool_gpu() {
  GpuSpec gpu = round_gpu();
  gpu.compute.matrix.push_back({DType::fp32, 100.0_TFLOPs, 100.0_TFLOPs, 1000.0_MHz});
  gpu.kernels.vector.access_ops = 2;
  gpu.kernels.vector.convert_ops = 0.5;
  return gpu;
}

/// ResNet-50's first pool on 2 images: 112 x 112 to 56 x 56. Along an axis 55 of 56 windows have three elements
/// of the image and the first, one of whose elements is padding, two: 167.
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
constexpr double kRows = 167 * 56, kTaps = 167 * 167;

/// Of one channel of one image.
double pool_instructions(const PoolShape& shape) {
  return instructions_of(shape, pool_gpu().kernels.vector) / kImages;
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

TEST_CASE("a pool issues instructions for each output, row and element of a window") {
  // A number costs 2 to load or store here, in 16 bits half of one more.
  // max: 2 divisions of 20 and 27 others, output and index stored; 7 a row; 10 and a load an element.
  CHECK(pool_instructions(resnet_pool(PoolOp::max)) ==
        near(kOut * (40 + 27 + 2 + 2) + kRows * 7 + kTaps * (10 + 2)));
  CHECK(pool_instructions(resnet_pool(PoolOp::max, Pass::forward, DType::fp16)) ==
        near(kOut * (40 + 27 + 2.5 + 2) + kRows * 7 + kTaps * (10 + 2.5)));
  // Backward a thread has an element of the input, and each window with it has an index beside its gradient.
  CHECK(pool_instructions(resnet_pool(PoolOp::max, Pass::backward)) ==
        near(kIn * (100 + 43 + 2) + kRows * 6 + kTaps * (9 + 2 + 2)));
  // average: 56 others, of which a division is 9; an addition in place of comparisons.
  CHECK(pool_instructions(resnet_pool(PoolOp::average)) ==
        near(kOut * (40 + 56 + 2) + kRows * 4 + kTaps * (5 + 2)));
  CHECK(pool_instructions(resnet_pool(PoolOp::average, Pass::backward)) ==
        near(kIn * (120 + 42 + 2) + kRows * 13 + kTaps * (34 + 2)));
}

TEST_CASE("threads of an average pool follow one another, those of a max pool's gradient stay in a channel") {
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
  const double of_thread = (100 + 43 + 2) + 6 + (9 + 2 + 2);
  const double rate = 128 * 0.9 * 1e9;  // lanes, share of slots, clock
  CHECK(kernel.compute_time.value == near(32 * of_thread / rate));
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
