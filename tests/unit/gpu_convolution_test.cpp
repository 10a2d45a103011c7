// Convolutions: sizes of their outputs, what each solver multiplies, moves and keeps beside its tensors, and
// what is refused. Every number is derived beside it.

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "configs/presets/preset_store.hpp"
#include "engine/errors.hpp"
#include "gpu/kernels/convolution/solver.hpp"
#include "gpu/kernels/describe.hpp"
#include "gpu/kernels/operator_table.hpp"
#include "tests/support/near.hpp"

namespace c3::gpu_convolution_test {

using namespace literals;

namespace {

const GpuSpec& mi100() {
  static const GpuSpec kGpu = load_gpu("mi100");
  return kGpu;
}

/// The first layer of ResNet-50: 7 x 7 with stride 2 on 224 x 224.
ConvolutionShape first_of_resnet(std::int64_t batch) {
  return {.batch = batch,
          .channels = 3,
          .filters = 64,
          .image = {224, 224},
          .filter = {7, 7},
          .pad = {3, 3},
          .stride = {2, 2}};
}

/// 3 x 3 on 56 x 56 with 64 channels, as in its second stage.
ConvolutionShape square(std::int64_t batch) {
  return {.batch = batch, .channels = 64, .filters = 64, .image = {56, 56}, .filter = {3, 3}, .pad = {1, 1}};
}

ConvolutionPlan plan_by(ConvolutionShape shape, ConvolutionSolver solver) {
  shape.solver = solver;
  return plan_convolution(shape, mi100());
}

ConvolutionShape in_pass(ConvolutionShape shape, ConvolutionPass pass) {
  shape.pass = pass;
  return shape;
}

double products(const ConvolutionProduct& product) {
  return static_cast<double>(product.count) * static_cast<double>(product.m) * static_cast<double>(product.n) *
         static_cast<double>(product.k);
}

ShapeWords words_of(std::initializer_list<std::pair<ShapeKey, std::string_view>> more) {
  ShapeWords words;
  words[ShapeKey::op] = "convolution";
  words[ShapeKey::dtype] = "fp16";
  words[ShapeKey::channels] = words[ShapeKey::filters] = "8";
  words[ShapeKey::height] = "10";
  words[ShapeKey::filter_h] = "3";
  for (const auto& [key, word] : more)
    words[key] = word;
  return words;
}

}  // namespace

TEST_CASE("a convolution's output is what stride, padding and dilation leave") {
  CHECK(output_extent(first_of_resnet(1)) == Extent2{112, 112});  // (224 + 6 - 7) / 2 + 1
  ConvolutionShape dilated = square(1);
  dilated.dilation = {2, 3};
  CHECK(output_extent(dilated) == Extent2{54, 52});  // 58 - 5 + 1, 58 - 7 + 1
  ConvolutionShape small = square(1);
  small.image = {1, 1};
  small.pad = {0, 0};
  CHECK(output_extent(small) == Extent2{0, 0});
}

TEST_CASE("all passes multiply the same, groups divide it, and a batch multiplies it") {
  // 64 filters x 112 x 112 outputs x 3 channels x 49 taps.
  const double once = 64.0 * 112 * 112 * 3 * 49;
  for (const auto pass : enum_values<ConvolutionPass>()) {
    const ConvolutionShape shape = in_pass(first_of_resnet(8), pass);
    CHECK(direct_multiplications(shape) == 8 * once);
    CHECK(matrix_flops(shape).value == 2 * 8 * once);
  }
  ConvolutionShape grouped = square(1);
  const double whole = direct_multiplications(grouped);
  grouped.groups = 4;
  CHECK(direct_multiplications(grouped) == whole / 4);
}

TEST_CASE("a convolution is as many products as it has groups, with taps of its channels along k") {
  ConvolutionShape shape = square(2);
  shape.groups = 2;
  const ConvolutionProduct forward = product_of(shape);
  CHECK(forward.m == 32);
  CHECK(forward.n == 2 * 56 * 56);
  CHECK(forward.k == 32 * 9);
  CHECK(forward.count == 2);
  for (const auto pass : enum_values<ConvolutionPass>())
    CHECK(products(product_of(in_pass(shape, pass))) == direct_multiplications(shape));
}

TEST_CASE("with a stride, pixels of the data pass fall into phases that each see their own taps") {
  // 7 x 7 with stride 2: 4 phases of 112 x 112 pixels that see up to 4 x 4 taps, 64 of 49 in all.
  const ConvolutionShape shape = in_pass(first_of_resnet(1), ConvolutionPass::data);
  const ConvolutionProduct data = product_of(shape);
  CHECK(data.count == 4);
  CHECK(data.m == 3);
  CHECK(data.n == 112 * 112);
  CHECK(data.k == 64 * 16);
  CHECK(products(data) == near(direct_multiplications(shape) * 64 / 49));
  // 1 x 1 with stride 2: three of four pixels see nothing.
  ConvolutionShape pointwise = shape;
  pointwise.filter = {1, 1};
  pointwise.pad = {0, 0};
  CHECK(product_of(pointwise).count == 1);
  CHECK(products(product_of(pointwise)) == direct_multiplications(pointwise));
}

TEST_CASE("every solver reads each tensor and writes its result at least once") {
  for (const auto pass : enum_values<ConvolutionPass>()) {
    ConvolutionShape shape = in_pass(square(32), pass);
    const double inputs = 32.0 * 64 * 56 * 56;
    const double filters = 64.0 * 64 * 9;
    const double result = pass == ConvolutionPass::weight ? filters : inputs;
    const double read = pass == ConvolutionPass::weight ? 2 * inputs : inputs + filters;
    CHECK(output_bytes(shape).value == 2.0 * result);
    for (const SolverEntry* solver : convolution_solvers()) {
      if (!solver->can_run(shape)) continue;
      CAPTURE(name_of(solver->solver));
      shape.solver = solver->solver;
      const KernelTime time = time_of(shape, mi100());
      CHECK(time.hbm_read.value > 0.999 * 2.0 * read);
      // Products of a library store their sums image by image, or point by point.
      const bool once =
          solver->solver == ConvolutionSolver::implicit_gemm || solver->solver == ConvolutionSolver::direct;
      CHECK(time.hbm_write.value > 0.999 * 2.0 * result);
      // Parts of the filters' gradient are added to zeros, which are written first.
      const bool clears = solver->solver == ConvolutionSolver::implicit_gemm && pass == ConvolutionPass::weight;
      if (once) CHECK(time.hbm_write.value == near(2.0 * result * (clears ? 2.0 : 1.0)));
      CHECK(time.time > time.launch);
    }
  }
}

TEST_CASE("an implicit product finds all taps of a pixel in the caches but the first") {
  // L2 is asked for nine taps of each pixel, HBM for the image and the filters, which the caches hold.
  ConvolutionShape shape = square(2);
  shape.solver = ConvolutionSolver::implicit_gemm;
  const KernelTime gathered = time_of(shape, mi100());
  const double image = 2.0 * 2 * 64 * 56 * 56;
  CHECK(gathered.l2.value > 9 * image);
  CHECK(gathered.hbm_read.value < 1.2 * (image + 2.0 * 64 * 64 * 9));
}

TEST_CASE("Winograd's F(2,3) multiplies 16 times where the definition does 36 times") {
  // 16 x 16 outputs are 64 tiles of 2 x 2, two blocks of 32 tiles; one block of 32 filters; two channels.
  const ConvolutionShape shape = {
      .channels = 2, .filters = 32, .image = {16, 16}, .filter = {3, 3}, .pad = {1, 1}};
  const KernelDescription kernel = plan_by(shape, ConvolutionSolver::winograd).kernel;
  CHECK(kernel.work_groups == 2);
  CHECK(kernel.useful_flops.value == 2.0 * 64 * 32 * 2 * 16);
  CHECK(kernel.useful_flops.value == near(matrix_flops(shape).value * 16 / 36));
  // One filter more is another block of 32, one channel more two: blocks are padded.
  ConvolutionShape padded = shape;
  padded.channels = 3;
  padded.filters = 33;
  CHECK(plan_by(padded, ConvolutionSolver::winograd).kernel.useful_flops.value ==
        4.0 * kernel.useful_flops.value);
}

TEST_CASE("Winograd's weight pass in passes keeps both transformed tensors") {
  // The least of F(3, 2 .. 6) has t: tiles of t x t of the 56 x 56 gradients, (t + 2)^2 points.
  const ConvolutionShape shape = in_pass(square(64), ConvolutionPass::weight);
  const ConvolutionPlan plan = plan_by(shape, ConvolutionSolver::winograd);
  REQUIRE(plan.kernels == 4);
  bool is_one_of_them = false;
  for (const double taps : {2.0, 3.0, 4.0, 5.0, 6.0}) {
    const double tiles = 64.0 * std::ceil(56 / taps) * std::ceil(56 / taps);
    const double points = (taps + 2) * (taps + 2);
    is_one_of_them = is_one_of_them || plan.workspace.value == 2.0 * points * (tiles * 128 + 64 * 64);
  }
  CHECK(is_one_of_them);
}

TEST_CASE("direct convolutions make blocks of 4,096 results whole") {
  // 64 filters are four blocks of 16; 56 x 56 pixels are 13 blocks of 256, the last one partly empty.
  const KernelDescription kernel = plan_by(square(1), ConvolutionSolver::direct).kernel;
  CHECK(kernel.work_groups == 4 * 13);
  CHECK(kernel.useful_flops.value == 2.0 * 4 * 13 * 4096 * 64 * 9);
  // A block of a depthwise convolution has one filter: 4,096 of the 3,136 pixels of each channel.
  ConvolutionShape depthwise = square(1);
  depthwise.groups = 64;
  CHECK(plan_by(depthwise, ConvolutionSolver::direct).kernel.useful_flops.value == 2.0 * 64 * 4096 * 9);
}

TEST_CASE("products of a library keep the patches of one image, as MIOpen's workspace has them") {
  // 25 taps of 159 x 698 outputs in fp16: 5,549,100 B, which MIOpen's find-db has for GemmBwdRest of this
  // problem.
  const ConvolutionShape shape = {.batch = 4,
                                  .channels = 1,
                                  .filters = 64,
                                  .image = {161, 700},
                                  .filter = {5, 5},
                                  .pad = {1, 1},
                                  .pass = ConvolutionPass::data};
  const ConvolutionPlan plan = plan_by(shape, ConvolutionSolver::gemm);
  CHECK(plan.workspace.value == 5'549'100);
  CHECK(plan.kernels == 2 * 4);  // a product and its patches for each image
  ConvolutionShape pointwise = square(4);
  pointwise.filter = {1, 1};
  pointwise.pad = {0, 0};
  CHECK(plan_by(pointwise, ConvolutionSolver::gemm).kernels == 1);
  CHECK(plan_by(pointwise, ConvolutionSolver::gemm).workspace.value == 0);
  CHECK(plan_by(in_pass(pointwise, ConvolutionPass::weight), ConvolutionSolver::gemm).kernels == 4);
  pointwise.stride = {2, 2};
  const ConvolutionPlan strided = plan_by(pointwise, ConvolutionSolver::gemm);
  CHECK(strided.kernels == 3);  // gathered, multiplied, put back
  CHECK(strided.workspace.value == 2.0 * 4 * 28 * 28 * (64 + 64));
}

TEST_CASE("images one by one take about as long as one image times their number, launches apart") {
  // An image of 7 x 7 has a tile or two of 120 CUs: all of them at once would take hardly longer than one.
  ConvolutionShape one = square(1);
  one.image = {7, 7};
  ConvolutionShape many = one;
  many.batch = 16;
  const auto busy = [](const ConvolutionPlan& plan) {
    const KernelTime time = time_alone(plan.kernel, mi100(), {.launch = LaunchCost::device});
    return (time.time - static_cast<double>(plan.kernels) * mi100().dispatch.launch_latency).value;
  };
  CHECK(busy(plan_by(many, ConvolutionSolver::gemm)) ==
        near(16 * busy(plan_by(one, ConvolutionSolver::gemm)), 0.08));
}

TEST_CASE("an FFT multiplies complex numbers at half of the points of its transforms") {
  // 28 + 4 = 32 points a side, of which 32 x 17 are no conjugates of others; 64 x 64 blocks of images x
  // filters.
  ConvolutionShape shape = {.batch = 64,
                            .channels = 32,
                            .filters = 64,
                            .image = {28, 28},
                            .filter = {5, 5},
                            .pad = {2, 2},
                            .dtype = DType::fp32};
  const ConvolutionPlan plan = plan_by(shape, ConvolutionSolver::fft);
  CHECK(plan.kernel.work_groups == 32 * 17);
  CHECK(plan.kernel.useful_flops.value == 2.0 * 32 * 17 * 64 * 64 * 32 * 4);
  CHECK(plan.workspace.value == 2.0 * 8 * 32 * 17 * (64 * 32 + 64 * 32));
  shape.dtype = DType::fp16;
  CHECK_THROWS_WITH_AS(
      plan_by(shape, ConvolutionSolver::fft),
      "solver 'fft' cannot run this convolution: it requires fp32, layout nchw, one group, "
      "filters of 5 x 5 with pad 2, stride 1 and no dilation, images of at most 28 x 28, and no "
      "weight pass",
      InfeasibleError);
}

TEST_CASE("the solver that is asked for none is the fastest that can run") {
  for (const auto pass : enum_values<ConvolutionPass>()) {
    const ConvolutionShape shape = in_pass(first_of_resnet(32), pass);
    const Seconds fastest = time_of(shape, mi100()).time;
    bool is_one = false;
    for (const SolverEntry* solver : convolution_solvers()) {
      if (!solver->can_run(shape)) continue;
      ConvolutionShape asked = shape;
      asked.solver = solver->solver;
      const Seconds time = time_of(asked, mi100()).time;
      CHECK(time >= fastest);
      is_one = is_one || time == fastest;
    }
    CHECK(is_one);
  }
}

TEST_CASE("weights of small layers are cut along k, so that they fill the GPU") {
  // 64 x 576 results are at most a few dozen tiles for 120 CUs; k is 64 x 3,136 long.
  const ConvolutionPlan plan =
      plan_by(in_pass(square(64), ConvolutionPass::weight), ConvolutionSolver::implicit_gemm);
  CHECK(plan.kernel.work_groups >= 120);
  CHECK(plan.kernels == 2);  // results are zeroed first
}

TEST_CASE("weights are cut into fewer parts where fewer CUs are to be filled") {
  const ConvolutionShape shape = in_pass(square(64), ConvolutionPass::weight);
  const auto work_groups = [&](ConvolutionSolver solver, const KernelSlice& slice) {
    const auto solvers = convolution_solvers();
    const SolverEntry& entry = **std::ranges::find(solvers, solver, &SolverEntry::solver);
    return entry.plan(shape, {mi100(), slice}).kernel.work_groups;
  };
  const KernelSlice few{.cus = 16};
  for (const ConvolutionSolver solver : {ConvolutionSolver::implicit_gemm, ConvolutionSolver::direct}) {
    CAPTURE(name_of(solver));
    CHECK(work_groups(solver, few) < work_groups(solver, {}));
  }
  // 9 blocks of 64 x 64 results: 2 x 120 CUs take 27 parts of the images, 16 CUs four.
  CHECK(work_groups(ConvolutionSolver::direct, {}) == 9 * 27);
  CHECK(work_groups(ConvolutionSolver::direct, few) == 9 * 4);
}

TEST_CASE("a plan for a part that is the whole GPU is the plan for the GPU") {
  for (const ConvolutionPass pass :
       {ConvolutionPass::forward, ConvolutionPass::data, ConvolutionPass::weight}) {
    const ConvolutionShape shape = in_pass(square(16), pass);
    const PlanTarget whole(mi100(), KernelSlice{.launch = LaunchCost::measured});
    CHECK(whole.is_whole());
    CHECK(plan_convolution(shape, whole).kernel.work_groups ==
          plan_convolution(shape, mi100()).kernel.work_groups);
  }
}

TEST_CASE("a convolution is read from words: a second extent means the first where it is not given") {
  const Operator op = operator_of(words_of({{ShapeKey::width, "12"}, {ShapeKey::pad_h, "1"}}));
  const ConvolutionShape shape = *op.as<ConvolutionShape>();
  CHECK(shape.image == Extent2{10, 12});
  CHECK(shape.filter == Extent2{3, 3});
  CHECK(shape.pad == Extent2{1, 1});
  CHECK(shape.stride == Extent2{1, 1});
  CHECK(part_of(op, 1) == op);
  CHECK(std::string(group_of(op)) == "convolution");
}

// Four instructions for each load: of one element where rows begin anywhere, of 8 halves where channels lie
// together in multiples of 8, of 4 where there are 60.
TEST_CASE("images whose channels lie together are gathered by wide loads") {
  const auto compute = [](ConvolutionShape shape, ImageLayout layout) {
    shape.layout = layout;
    const KernelDescription kernel = plan_by(shape, ConvolutionSolver::implicit_gemm).kernel;
    return std::pair{kernel.compute_time, kernel.traffic->per_work_group({}).l2 / Bytes{2.0}};
  };
  const double rate = 23.1e12 / 2.0 / 120.0;  // multiply-adds of a CU
  for (const auto& [channels, together] : {std::pair{64, 8.0}, std::pair{60, 4.0}}) {
    ConvolutionShape shape = square(64);
    shape.dtype = DType::fp16;
    shape.channels = shape.filters = channels;
    const auto [apart_time, elements] = compute(shape, ImageLayout::nchw);
    const auto [together_time, same] = compute(shape, ImageLayout::nhwc);
    CHECK(elements == near(same));
    CHECK((apart_time - together_time).value == near(4.0 * elements * (1.0 - 1.0 / together) / rate, 1e-3));
  }
}

// A step of 64 bytes that is loaded one step ahead; one of a tile's depth, 64 halves, two ahead; and as many as
// fit: a product of few results and a long k is nothing but waiting.
TEST_CASE("steps that are loaded ahead share memory's latency") {
  GpuSpec gpu = load_gpu("h100-sxm");
  const auto least = [&](int stages) {
    gpu.library_kernels.gemm_stages = stages;
    const ConvolutionShape shape = {.batch = 1,
                                    .channels = 1 << 15,
                                    .filters = 64,
                                    .image = {8, 8},
                                    .filter = {3, 3},
                                    .pad = {1, 1},
                                    .dtype = DType::fp16,
                                    .layout = ImageLayout::nhwc,
                                    .solver = ConvolutionSolver::implicit_gemm};
    return plan_convolution(shape, gpu).kernel.least_time;
  };
  const double k = 9.0 * (1 << 15);
  CHECK(least(1) / gpu.hbm.latency == near(k / 32.0));
  CHECK(least(3) / gpu.hbm.latency == near(k / 64.0 / 2.0));
  CHECK(least(0) < least(3));
}

TEST_CASE("what is no convolution is refused under its key") {
  const auto refused = [](std::initializer_list<std::pair<ShapeKey, std::string_view>> words,
                          const char* text) {
    CHECK_THROWS_WITH_AS(operator_of(words_of(words)), text, ShapeError);
  };
  refused({{ShapeKey::groups, "3"}}, "must divide channels and filters, 8 and 8");
  refused({{ShapeKey::filter_h, "11"}}, "the filter is higher than the padded input");
  refused({{ShapeKey::filter_w, "11"}}, "the filter is wider than the padded input");
  refused({{ShapeKey::dtype, "fp8"}}, "must be bf16, fp16 or fp32 of a convolution");
  refused({{ShapeKey::stride_h, "0"}}, "must be at least 1, not 0");
  refused({{ShapeKey::pad_h, "-1"}}, "must be at least 0, not -1");
  refused({{ShapeKey::pad_w, "9999999"}}, "must be at most 2^20 of images, not 9999999");
  refused({{ShapeKey::pass, "backward"}}, "unknown word 'backward'; known: forward, data, weight");
}

}  // namespace c3::gpu_convolution_test
