// Work groups, bytes and times of causal convolutions, by hand.

#include "gpu/kernels/scan/causal_conv.hpp"

#include <doctest/doctest.h>

#include <initializer_list>
#include <string>
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

namespace c3::gpu_causal_conv_test {

using namespace literals;
using namespace test;

namespace {

CausalConvShape conv_of(Pass pass = Pass::forward, SequenceLayout layout = SequenceLayout::channels_last) {
  return {.batch = 2, .length = 20, .channels = 300, .pass = pass, .layout = layout};
}

/// 8 CUs at 1 GHz that issue for 100 lanes in a cycle, 1 us to memory.
GpuSpec conv_gpu() {
  GpuSpec gpu = with_fast_memory(round_gpu());
  gpu.compute.matrix.push_back({DType::fp32, 100.0_TFLOPs, 100.0_TFLOPs, 1000.0_MHz});
  gpu.family.issue_lanes = 100;
  gpu.dispatch.work_group_spread = 0;
  gpu.kernels.vector.issue_share = 1.0;
  gpu.kernels.scan.conv_ops = 50;
  gpu.kernels.scan.conv_row_ops = 20;
  gpu.kernels.scan.token_cycles = 500;
  return gpu;
}

std::string refusal(std::initializer_list<std::pair<ShapeKey, std::string_view>> changes) {
  ShapeWords words;
  words[ShapeKey::op] = "causal_conv";
  words[ShapeKey::dtype] = "bf16";
  words[ShapeKey::seq] = "20";
  words[ShapeKey::channels] = "300";
  for (const auto& [key, word] : changes)
    words[key] = word;
  try {
    operator_of(words);
  } catch (const ShapeError& error) {
    return std::string(name_of(error.key())) + ": " + error.what();
  }
  return "none";
}

}  // namespace

TEST_CASE("a causal convolution loads its input and weights once, backward the gradient as well") {
  // 2 x 20 x 300 numbers of 2 B; 300 channels with 4 weights and a bias.
  const CausalConvCounts forward = counts_of(conv_of());
  CHECK(forward.results == 12'000);
  CHECK(forward.flops.value == 2 * 4 * 12'000);
  CHECK(forward.read.value == 24'000 + 3'000);
  CHECK(forward.written.value == 24'000);
  const CausalConvCounts backward = counts_of(conv_of(Pass::backward));
  CHECK(backward.flops.value == 3 * 2 * 4 * 12'000);
  CHECK(backward.read.value == 2 * 24'000 + 3'000);
  CHECK(backward.written.value == 24'000 + 6'000);  // gradients of weights in fp32
}

TEST_CASE("a work group of a causal convolution has 8 tokens of 256 channels, or a channel of a sequence") {
  CHECK(counts_of(conv_of()).work_groups == 2 * 3 * 2);
  const CausalConvCounts rows = counts_of(conv_of(Pass::forward, SequenceLayout::channels_first));
  CHECK(rows.work_groups == 2 * 300);
  CHECK(rows.issued == 1024);  // 128 threads of 8 tokens, however short the sequence
}

TEST_CASE("a causal convolution issues instructions of each result and waits for each token in turn") {
  const GpuSpec gpu = conv_gpu();
  const KernelDescription whole = describe_causal_conv("conv", conv_of(), gpu);
  CHECK(whole.compute_time.value == near(8 * 256 * 50 / 100e9));
  CHECK(whole.least_time.value == near(2e-6 + 8 * 0.5e-6));
  const KernelDescription rows =
      describe_causal_conv("conv", conv_of(Pass::forward, SequenceLayout::channels_first), gpu);
  CHECK(rows.compute_time.value == near(1024 * 20 / 100e9));
  CHECK(rows.least_time.value == near(2e-6));
  const KernelDescription backward = describe_causal_conv("conv", conv_of(Pass::backward), gpu);
  CHECK(backward.compute_time.value == near(2.5 * whole.compute_time.value));
  // One token is 7 waits of 500 ns less than eight.
  CausalConvShape token = conv_of();
  token.length = 1;
  CausalConvShape eight = conv_of();
  eight.length = 8;
  CHECK((time_of(eight, gpu).time - time_of(token, gpu).time).value == near(7 * 0.5e-6, 1e-6));
}

TEST_CASE("a causal convolution of many tokens takes as long as they are many, and less on a faster GPU") {
  const GpuSpec gpu = load_gpu("h100-sxm");
  CausalConvShape shape{.batch = 1, .length = 1 << 17, .channels = 8192};
  for (const SequenceLayout layout : {SequenceLayout::channels_last, SequenceLayout::channels_first}) {
    shape.layout = layout;
    CausalConvShape twice = shape;
    twice.length *= 2;
    CHECK((time_of(twice, gpu).time / time_of(shape, gpu).time) == near(2.0, 0.02));
    GpuSpec wider = gpu;
    for (BytesPerSecond* rate : {&wider.hbm.peak, &wider.hbm.read, &wider.hbm.write, &wider.hbm.copy})
      *rate = 2.0 * *rate;
    CHECK(time_of(shape, wider).time < time_of(shape, gpu).time);
    GpuSpec faster = gpu;
    faster.compute.boost_clock = 2.0 * faster.compute.boost_clock;
    CHECK(time_of(shape, faster).time <= time_of(shape, gpu).time);
  }
}

TEST_CASE("words that mean no causal convolution are refused with what is allowed") {
  CHECK(refusal({}) == "none");
  CHECK(refusal({{ShapeKey::channels, ""}}) == "channels: is missing; causal_conv requires it");
  CHECK(refusal({{ShapeKey::window, "5"}}) == "window: must be at most 4, not 5");
  CHECK(refusal({{ShapeKey::dtype, "fp8"}}) == "dtype: must be bf16, fp16 or fp32 of a causal convolution");
  CHECK(refusal({{ShapeKey::layout, "nhwc"}}).find("channels_last, channels_first") != std::string::npos);
  CausalConvShape wide = conv_of();
  wide.window = 5;
  CHECK_THROWS_WITH_AS(describe_causal_conv("conv", wide, conv_gpu()),
                       "'conv': window must be at most 4, not 5", InfeasibleError);
}

}  // namespace c3::gpu_causal_conv_test
