#include "workloads/models/recurrent_networks.hpp"

#include <algorithm>

#include "gpu/kernels/gemm/gemm_shape.hpp"
#include "gpu/kernels/vector/vector_shape.hpp"

namespace c3::inline workloads {
namespace {

class StepWriter {
 public:
  StepWriter(std::int64_t batch, DType dtype) : batch_(batch), dtype_(dtype) {}

  std::vector<CountedOperator> take() { return std::move(kernels_); }
  std::int64_t batch() const { return batch_; }

  /// A product, and both of its backward pass.
  void product(const GemmShape& forward, std::int64_t count = 1) {
    add(forward, count);
    for (const GemmShape& gradient : c3::backward(forward))
      add(gradient, count);
  }

  void vector(VectorOp op, std::int64_t rows, std::int64_t cols, std::int64_t count = 1) {
    for (const Pass pass : {Pass::forward, Pass::backward})
      add(VectorShape{.chain = op, .rows = rows, .cols = cols, .dtype = dtype_, .pass = pass}, count);
  }

  GemmShape shape(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t products = 1) const {
    return {.m = m, .n = n, .k = k, .dtype = dtype_, .batch = products};
  }

  void recurrent(const RecurrentLayer& layer, std::int64_t steps) {
    const auto gates = static_cast<std::int64_t>(layer.cell);
    const std::int64_t ways = layer.bidirectional ? 2 : 1, width = gates * layer.hidden;
    product(shape(steps * batch_, width, layer.inputs), ways);  // of the inputs of all steps at once
    const GemmShape state = shape(batch_, width, layer.hidden);
    add(state, steps * ways);
    add(c3::backward(state)[0], steps * ways);
    add(c3::backward(shape(steps * batch_, width, layer.hidden))[1], ways);  // weights: all steps at once
    vector(VectorOp::tanh, batch_, width, steps * ways);
  }

  void attention(std::int64_t width, std::int64_t queries, std::int64_t keys) {
    product(shape(queries * batch_, width, width));
    product(shape(keys * batch_, width, width));
    product(shape(queries, keys, width, batch_));
    vector(VectorOp::softmax, queries * batch_, keys);
    product(shape(queries, width, keys, batch_));
  }

  void optimizer(std::int64_t parameters) {
    constexpr std::int64_t kRow = 1024;
    add(VectorShape{.chain = VectorOp::adam, .rows = parameters / kRow, .cols = kRow, .dtype = DType::fp32}, 1);
  }

 private:
  template <class Shape>
  void add(const Shape& what, std::int64_t count) {
    kernels_.push_back({what, count});
  }

  std::int64_t batch_;
  DType dtype_;
  std::vector<CountedOperator> kernels_;
};

std::int64_t shortened(std::int64_t size, std::int64_t stride) {
  return std::max<std::int64_t>(1, (size + stride - 1) / stride);
}

/// As products of unrolled inputs, one utterance after another: all of them unrolled take more memory than GPUs
/// have. \returns the frames that are left
std::int64_t convolve(StepWriter& writer, const RecurrentNetwork& network, std::int64_t frames) {
  std::int64_t features = network.features;
  for (const FrontConvolution& layer : network.front) {
    frames = shortened(frames, layer.stride_time);
    features = shortened(features, layer.stride_features);
    const std::int64_t inputs = layer.channels_in * layer.kernel_time * layer.kernel_features;
    writer.product(writer.shape(frames * features, layer.channels_out, inputs), writer.batch());
    writer.vector(VectorOp::relu, writer.batch() * frames * features, layer.channels_out);
  }
  return frames;
}

}  // namespace

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
  if (network.features == 0) writer.vector(VectorOp::embedding, length * batch, network.encoder.front().inputs);
  for (const RecurrentLayer& layer : network.encoder)
    writer.recurrent(layer, steps);
  for (const RecurrentLayer& layer : network.decoder)
    writer.recurrent(layer, steps);
  if (network.attention > 0) writer.attention(network.attention, steps, steps);
  const std::vector<RecurrentLayer>& last = translates ? network.decoder : network.encoder;
  writer.product(writer.shape(steps * batch, network.classes, last.back().hidden));
  writer.vector(VectorOp::softmax, steps * batch, network.classes);
  writer.optimizer(network.parameters);
  return writer.take();
}

}  // namespace c3::workloads
