#include "workloads/models/recurrent_networks.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "gpu/kernels/gemm/gemm_shape.hpp"
#include "gpu/kernels/vector/vector_shape.hpp"

namespace c3 { inline namespace workloads {
namespace {

class StepWriter {
 public:
  StepWriter(std::int64_t batch, DType dtype) : batch_(batch), dtype_(dtype) {}

  std::vector<CountedOperator> take() { return std::move(kernels_); }
  std::int64_t batch() const { return batch_; }
  /// The part of the network to which what follows belongs.
  void begin(std::string part) { part_ = std::move(part); }

  /// A product, and both of its backward pass.
  void product(std::string_view name, const GemmShape& forward, std::int64_t count = 1) {
    add(name, forward, count);
    for (const GemmShape& gradient : c3::backward(forward))
      add(name, gradient, count);
  }

  void vector(std::string_view name, VectorOp op, std::int64_t rows, std::int64_t cols,
              std::int64_t count = 1) {
    for (const Pass pass : {Pass::forward, Pass::backward})
      add(name, VectorShape{.chain = op, .rows = rows, .cols = cols, .dtype = dtype_, .pass = pass}, count);
  }

  GemmShape shape(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t products = 1) const {
    return {.m = m, .n = n, .k = k, .dtype = dtype_, .batch = products};
  }

  void recurrent(const RecurrentLayer& layer, std::int64_t steps) {
    const auto gates = static_cast<std::int64_t>(layer.cell);
    const std::int64_t ways = layer.bidirectional ? 2 : 1, width = gates * layer.hidden;
    product("inputs", shape(steps * batch_, width, layer.inputs), ways);  // of the inputs of all steps at once
    const GemmShape state = shape(batch_, width, layer.hidden);
    add("state", state, steps * ways);
    add("state", c3::backward(state)[0], steps * ways);
    add("state", c3::backward(shape(steps * batch_, width, layer.hidden))[1],
        ways);  // weights: all steps at once
    vector("gates", VectorOp::tanh, batch_, width, steps * ways);
  }

  void attention(std::int64_t width, std::int64_t queries, std::int64_t keys) {
    product("queries", shape(queries * batch_, width, width));
    product("keys", shape(keys * batch_, width, width));
    product("scores", shape(queries, keys, width, batch_));
    vector("softmax", VectorOp::softmax, queries * batch_, keys);
    product("context", shape(queries, width, keys, batch_));
  }

  void optimizer(std::int64_t parameters) {
    constexpr std::int64_t kRow = 1024;
    add("adam",
        VectorShape{.chain = VectorOp::adam, .rows = parameters / kRow, .cols = kRow, .dtype = DType::fp32}, 1);
  }

 private:
  template <class Shape>
  void add(std::string_view name, const Shape& what, std::int64_t count) {
    kernels_.push_back({what, count, part_ + "." + std::string(name)});
  }

  std::int64_t batch_;
  DType dtype_;
  std::string part_;
  std::vector<CountedOperator> kernels_;
};

std::int64_t shortened(std::int64_t size, std::int64_t stride) {
  return std::max<std::int64_t>(1, (size + stride - 1) / stride);
}

/// Writes convolutions as products of unrolled inputs, one utterance after another: all of them unrolled take
/// more memory than GPUs have. \returns the frames that are left
std::int64_t convolve(StepWriter& writer, const RecurrentNetwork& network, std::int64_t frames) {
  std::int64_t features = network.features;
  std::size_t number = 0;
  for (const FrontConvolution& layer : network.front) {
    writer.begin("front." + std::to_string(number++));
    frames = shortened(frames, layer.stride_time);
    features = shortened(features, layer.stride_features);
    const std::int64_t inputs = layer.channels_in * layer.kernel_time * layer.kernel_features;
    writer.product("convolution", writer.shape(frames * features, layer.channels_out, inputs), writer.batch());
    writer.vector("relu", VectorOp::relu, writer.batch() * frames * features, layer.channels_out);
  }
  return frames;
}

}  // namespace

std::int64_t features_after(std::int64_t features, const std::vector<FrontConvolution>& front) {
  std::int64_t channels = 1;
  for (const FrontConvolution& layer : front) {
    features = shortened(features, layer.stride_features);
    channels = layer.channels_out;
  }
  return channels * features;
}

std::int64_t count_parameters(const RecurrentNetwork& network) {
  std::int64_t sum = network.features == 0 ? network.classes * network.encoder.front().inputs : 0;
  for (const FrontConvolution& layer : network.front)
    sum += layer.channels_in * layer.channels_out * layer.kernel_time * layer.kernel_features;
  for (const std::vector<RecurrentLayer>* layers : {&network.encoder, &network.decoder}) {
    for (const RecurrentLayer& layer : *layers)
      sum += (layer.bidirectional ? 2 : 1) * static_cast<std::int64_t>(layer.cell) * layer.hidden *
             (layer.inputs + layer.hidden);
  }
  const RecurrentLayer& last = (network.decoder.empty() ? network.encoder : network.decoder).back();
  return sum + 2 * network.attention * network.attention + network.classes * last.hidden;
}

RecurrentNetwork gnmt() {
  constexpr std::int64_t kHidden = 1024, kTokens = 32'320;
  const auto layer = [](std::int64_t inputs) {
    return RecurrentLayer{RecurrentCell::lstm, inputs, kHidden, false};
  };
  return {.name = "gnmt",
          .features = 0,
          .front = {},
          .encoder = {{RecurrentCell::lstm, kHidden, kHidden, true},
                      layer(2 * kHidden),
                      layer(kHidden),
                      layer(kHidden)},
          .decoder = {layer(kHidden), layer(2 * kHidden), layer(2 * kHidden), layer(2 * kHidden)},
          .attention = kHidden,
          .classes = kTokens,
          .parameters = 160'000'000};
}

RecurrentNetwork deep_speech_2() {
  constexpr std::int64_t kHidden = 800, kFrequencies = 161, kLetters = 29;
  const std::vector<FrontConvolution> front{{1, 32, 11, 41, 2, 2}, {32, 32, 11, 21, 1, 2}};
  const std::int64_t first = 32 * shortened(shortened(kFrequencies, 2), 2);
  RecurrentNetwork network{.name = "deep_speech_2",
                           .features = kFrequencies,
                           .front = front,
                           .encoder = {{RecurrentCell::gru, first, kHidden, true}},
                           .decoder = {},
                           .attention = 0,
                           .classes = kLetters,
                           .parameters = 41'000'000};
  for (int i = 0; i < 4; ++i)  // both directions are added up
    network.encoder.push_back({RecurrentCell::gru, kHidden, kHidden, true});
  return network;
}

std::vector<CountedOperator> recurrent_step(const RecurrentNetwork& network, std::int64_t batch,
                                            std::int64_t length, DType dtype) {
  StepWriter writer(batch, dtype);
  const bool translates = !network.decoder.empty();
  const std::int64_t steps =
      translates ? shortened(length, 2) : convolve(writer, network, length);  // half are the source's
  writer.begin("tokens");
  if (network.features == 0)
    writer.vector("embedding", VectorOp::embedding, length * batch, network.encoder.front().inputs);
  const auto run = [&](const std::string& stack, const std::vector<RecurrentLayer>& layers) {
    for (std::size_t i = 0; i < layers.size(); ++i) {
      writer.begin(stack + "." + std::to_string(i));
      writer.recurrent(layers[i], steps);
    }
  };
  run("encoder", network.encoder);
  run("decoder", network.decoder);
  writer.begin("attention");
  if (network.attention > 0) writer.attention(network.attention, steps, steps);
  writer.begin("output");
  const std::vector<RecurrentLayer>& last = translates ? network.decoder : network.encoder;
  writer.product("classes", writer.shape(steps * batch, network.classes, last.back().hidden));
  writer.vector("softmax", VectorOp::softmax, steps * batch, network.classes);
  writer.begin("optimizer");
  writer.optimizer(network.parameters);
  return writer.take();
}

}}  // namespace c3::workloads
