// Networks of images: parameters and multiplications as published, and what a step of each takes.

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "gpu/kernels/batch_norm/batch_norm_shape.hpp"
#include "gpu/kernels/gemm/gemm_shape.hpp"
#include "gpu/kernels/operator_class.hpp"
#include "gpu/kernels/pool/pool_shape.hpp"
#include "gpu/kernels/vector/vector_shape.hpp"
#include "tests/support/near.hpp"
#include "workloads/models/recurrent_networks.hpp"
#include "workloads/training/image_step.hpp"

namespace c3::models_images_test {

namespace {

ImageNetwork network_named(std::string_view name) {
  return *std::ranges::find_if(kImageNetworks, [&](ImageNetwork network) { return name_of(network) == name; });
}

std::vector<ImageLayer> image_layers(std::string_view name, ImagePass pass = ImagePass::training,
                                     std::int64_t images = 1) {
  return layers_of(network_named(name), {.images = images, .pass = pass});
}

/// Outputs of convolutions, as tools that count activations have them.
double activations(const std::vector<ImageLayer>& layers) {
  double sum = 0;
  for (const ImageLayer& layer : layers) {
    const bool convolves = !layer.forward.empty() && layer.forward.front().op.as<ConvolutionShape>() != nullptr;
    if (convolves) sum += static_cast<double>(layer.output.elements());
  }
  return sum;
}

double product_flops(const std::vector<NamedOperator>& operators) {
  double sum = 0;
  for (const NamedOperator& named : operators) {
    const auto flops = named.op.of_class().matrix_flops;
    if (flops != nullptr) sum += flops(named.op).value;
  }
  return sum;
}

struct StepContent {
  std::map<std::string, int> kernels;  ///< by name
  std::vector<double> summed;          ///< bytes of all-reduces in order
};
StepContent content_of_step(const ImageJob& job, int ranks) {
  StepContent content;
  const Program program = image_program(job, ranks);
  for_each_operation(program, [&](const Operation& operation) {
    if (kernel_of(operation) != nullptr) ++content.kernels[program.name_of(operation)];
    if (const CollectiveCall* call = program.call_of(operation)) content.summed.push_back(call->bytes.value);
  });
  return content;
}

const MemoryMoment& moment_of(const StageMemory& memory, const std::string& name) {
  return *std::ranges::find(memory.moments, name, &MemoryMoment::name);
}

}  // namespace

TEST_CASE("networks of images have the parameters that torchvision lists, to the unit") {
  CHECK(parameters_of(image_layers("resnet-50")) == 25'557'032);
  CHECK(parameters_of(image_layers("vgg-16")) == 138'357'544);
  CHECK(parameters_of(image_layers("inception-v3")) == 27'161'264);
  CHECK(parameters_of(image_layers("inception-v3", ImagePass::inference)) == 23'834'568);
}

TEST_CASE("LeNet-5 has 61,706 parameters") {
  // (25 + 1) 6 + (150 + 1) 16 + (400 + 1) 120 + (120 + 1) 84 + (84 + 1) 10
  CHECK(parameters_of(image_layers("lenet-5")) == 156 + 2'416 + 48'120 + 10'164 + 850);
}

TEST_CASE("networks of images take the multiplications that were published") {
  CHECK(multiplications_of(image_layers("resnet-50")) / 1e9 == near(4.1, 0.005));
  CHECK(multiplications_of(image_layers("vgg-16")) / 1e9 == near(15.5, 0.003));
  CHECK(multiplications_of(image_layers("inception-v3", ImagePass::inference)) / 1e9 == near(5.72, 0.005));
}

TEST_CASE("convolutions of networks of images have the outputs that were published") {
  // Millions: 11.1 (ResNet-50) and 13.6 (VGG-16, its linear layers among them), Dollar et al., arXiv
  // 2103.06877, and timm.
  CHECK(activations(image_layers("resnet-50")) / 1e6 == near(11.1, 0.005));
  CHECK(activations(image_layers("vgg-16")) / 1e6 == near(13.55, 0.005));
}

TEST_CASE("the front of Deep Speech 2 is that of the recurrent network") {
  const std::vector<ImageLayer> layers = image_layers("deep-speech-2-front");
  CHECK(parameters_of(layers) == 11 * 41 * 32 + 32 * 11 * 21 * 32 + 2 * (2 * 32));
  const FeatureMap& left = layers.back().output;
  CHECK(left.channels * left.size.h == features_after(161, deep_speech_2().front));
  CHECK(left.size.w == 500);  // half of the frames
}

TEST_CASE("a backward pass multiplies twice as often as the forward pass, but for the first layer's input") {
  for (const ImageNetwork network : kImageNetworks) {
    CAPTURE(name_of(network));
    const std::vector<ImageLayer> layers = layers_of(network, {.images = 4});
    for (std::size_t i = 0; i < layers.size(); ++i) {
      const double forward = product_flops(layers[i].forward);
      CHECK(forward == 2 * 4 * layers[i].multiplications);
      CHECK(product_flops(layers[i].backward) == (i == 0 ? 1 : 2) * forward);
    }
  }
}

TEST_CASE("a norm is one kernel forward and one backward, in inference a product with what it has learned") {
  const FeatureMap map{8, {16, 16}};
  const auto norm_in = [&](ImagePass pass) {
    ImageLayers net({.images = 2, .dtype = DType::fp16, .layout = ImageLayout::nhwc, .pass = pass}, map);
    net.batch_norm("norm");
    return net.take().front();
  };
  const ImageLayer layer = norm_in(ImagePass::training);
  BatchNormShape norm{
      .batch = 2, .channels = 8, .image = {16, 16}, .dtype = DType::fp16, .layout = ImageLayout::nhwc};
  REQUIRE(layer.forward.size() == 1);
  CHECK(layer.forward.front().op == norm);
  norm.pass = Pass::backward;
  REQUIRE(layer.backward.size() == 1);
  CHECK(layer.backward.front().op == norm);
  const ImageLayer learned = norm_in(ImagePass::inference);
  REQUIRE(learned.forward.size() == 1);
  CHECK(learned.forward.front().op.as<VectorShape>()->chain == VectorOp::mul_scalar);
  CHECK(learned.backward.empty());
}

TEST_CASE("biases and branches in NCHW and NHWC are kernels of their own") {
  const auto chains = [](ImageLayout layout) {
    ImageLayers net({.images = 2, .layout = layout}, {8, {16, 16}});
    net.convolution("conv", {.count = 4, .bias = true});
    net.concatenate("branches", {net.here(), net.here()}, net.here());
    net.linear("linear", 10);
    std::vector<VectorChain> found;
    for (const ImageLayer& layer : net.take()) {
      for (const auto* passes : {&layer.forward, &layer.backward}) {
        for (const NamedOperator& named : *passes) {
          const auto* vector = named.op.as<VectorShape>();
          if (vector != nullptr) found.push_back(vector->chain);
        }
      }
    }
    return found;
  };
  using enum VectorOp;
  CHECK(chains(ImageLayout::nhwc) ==
        std::vector<VectorChain>{add_bias, add_bias, VectorOp::concatenate, add, add_bias, add_bias});
  CHECK(chains(ImageLayout::nchw) ==
        std::vector<VectorChain>{add_bias_nchw, add_bias_nchw, copy, add, add_bias, add_bias});
}

TEST_CASE("pools are kernels of their own in the layout of the images, and the last one is a mean over rows") {
  const ImageBatch batch{.images = 32, .dtype = DType::fp16, .layout = ImageLayout::nhwc};
  const auto layers = layers_of(network_named("resnet-50"), batch);
  const auto named = [&](std::string_view name) { return *std::ranges::find(layers, name, &ImageLayer::name); };
  const PoolShape pool{.batch = 32,
                       .channels = 64,
                       .image = {112, 112},
                       .window = {3, 3},
                       .stride = {2, 2},
                       .pad = {1, 1},
                       .dtype = DType::fp16,
                       .layout = ImageLayout::nhwc};
  PoolShape gradient = pool;
  gradient.pass = Pass::backward;
  CHECK(named("pool1").forward.front().op == pool);
  CHECK(named("pool1").backward.front().op == gradient);
  CHECK(named("pool1").output == FeatureMap{64, {56, 56}});
  const auto* mean = named("mean").forward.front().op.as<VectorShape>();
  REQUIRE(mean != nullptr);
  CHECK(*mean == VectorShape{.chain = VectorOp::reduce, .rows = 32 * 2048, .cols = 49, .dtype = DType::fp16});
  CHECK(named("mean").output == FeatureMap{2048, {1, 1}});
}

TEST_CASE("a step of ResNet-50 keeps its convolutions' outputs, those of its norms, its pools and its inputs") {
  // Per image: 2 tensors of 11,113,984 conv outputs, 3 x 224 x 224 of input, pools of 64 x 56 x 56 with 8
  // bytes of index and of 2,048, and 1,000 classes twice.
  const double conv = 11'113'984, input = 3 * 224 * 224, pool = 64 * 56 * 56;
  const ImageJob job{.batch = {.images = 32, .dtype = DType::fp16}};
  const StageMemory memory = memory_of(job, 8);
  const MemoryMoment& forward = moment_of(memory, "forward");
  CHECK(forward.of(MemoryClass::activations).value ==
        near(32 * (2 * (2 * conv + input + pool + 2048 + 2 * 1000) + 8 * pool), 1e-9));
  CHECK(forward.of(MemoryClass::weights).value == (4 + 2) * 25'557'032.0);  // and a copy in 16 bits
  CHECK(forward.of(MemoryClass::gradients).value == 0);
  CHECK(forward.of(MemoryClass::optimizer).value == 4 * 25'557'032.0);
  CHECK(forward.of(MemoryClass::communication).value == 4 * 25'557'032.0);
  const MemoryMoment& optimizer = moment_of(memory, "optimizer");
  CHECK(optimizer.of(MemoryClass::gradients).value == 4 * 25'557'032.0);
  CHECK(optimizer.of(MemoryClass::activations).value == 32 * 2 * input);
  CHECK(memory.peak.bytes >= forward.bytes);
  CHECK(memory_of(job, 1).peak.of(MemoryClass::communication).value == 0);
}

TEST_CASE("a backward pass holds the gradients of an output and of an input beside what is kept") {
  // Deep Speech 2's front, one spectrogram, at the backward pass of its second convolution: what both layers of
  // the first (a each) and that convolution (b) have left, the input, gradients of its output (b) and input
  // (a), and gradients of its 236,544 filters and of the 64 parameters of the norm behind it.
  const double a = 32 * 81 * 500, b = 32 * 41 * 500, input = 161 * 1000;
  const ImageJob job{.network = network_named("deep-speech-2-front"),
                     .batch = {.images = 1, .dtype = DType::fp32}};
  const MemoryPeak peak = memory_of(job, 1).peak;
  CHECK(peak.moment == "backward");
  CHECK(peak.of(MemoryClass::activations).value == 4 * (2 * a + b + input + b + a));
  CHECK(peak.of(MemoryClass::gradients).value == 4.0 * (236'544 + 64));
  CHECK(peak.bytes.value == 4 * (3 * a + 2 * b + input + 236'544 + 64 + 2 * 251'104));
}

TEST_CASE("inference of VGG-16 holds its weights and the input and output of its first convolutions") {
  const ImageJob job{.network = network_named("vgg-16"),
                     .batch = {.images = 4, .dtype = DType::fp16, .pass = ImagePass::inference}};
  const StageMemory memory = memory_of(job, 8);
  CHECK(memory.peak.of(MemoryClass::activations).value == 4.0 * 2 * (64 + 64) * 224 * 224);
  CHECK(memory.peak.bytes.value == 2 * 138'357'544.0 + memory.peak.of(MemoryClass::activations).value);
}

TEST_CASE("gradients are summed in buckets, the first of which is small, and every gradient once") {
  const ImageJob job{.batch = {.images = 1}};
  const StepContent step = content_of_step(job, 8);
  CHECK(std::accumulate(step.summed.begin(), step.summed.end(), 0.0) == 4 * 25'557'032.0);
  // The classifier is the first bucket; the others end with the layer that fills 25 MiB.
  CHECK(step.summed.front() == 4 * (2048.0 * 1000 + 1000));
  for (std::size_t i = 1; i + 1 < step.summed.size(); ++i) {
    CHECK(step.summed[i] >= 25.0 * kMebi);
    CHECK(step.summed[i] < 2 * 25.0 * kMebi);
  }
  CHECK(step.summed.size() == 5);
  CHECK(step.kernels.at("cast gradients") == 5);
  CHECK(step.kernels.at("sgd") == 1);
  CHECK(content_of_step(job, 1).summed.empty());
}

TEST_CASE("parameters in fp32 are not cast") {
  const StepContent step = content_of_step({.batch = {.images = 1, .dtype = DType::fp32}}, 8);
  CHECK(!step.kernels.contains("cast parameters"));
  CHECK(!step.kernels.contains("cast gradients"));
}

TEST_CASE("inference has no backward kernels, statistics, optimizer or sums") {
  const ImageJob job{.batch = {.images = 1, .pass = ImagePass::inference}};
  const StepContent pass = content_of_step(job, 8);
  CHECK(pass.summed.empty());
  for (const auto& [name, count] : pass.kernels) {
    const bool is_forward =
        name.ends_with(".forward") || name.ends_with(".normalise") || name.ends_with(".bias");
    CHECK_MESSAGE(is_forward, name);
  }
}

TEST_CASE("layers in inference have nothing for a backward pass, and no dropout") {
  for (const ImageNetwork network : kImageNetworks) {
    for (const ImageLayer& layer : layers_of(network, {.images = 1, .pass = ImagePass::inference})) {
      CAPTURE(layer.name);
      CHECK(layer.backward.empty());
      CHECK(layer.kept.value == 0);
      CHECK(!layer.name.ends_with("dropout"));
    }
  }
}

}  // namespace c3::models_images_test
