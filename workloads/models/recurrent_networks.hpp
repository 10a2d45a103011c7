#pragma once
/// Recurrent networks with convolutions in front, as the kernels of a training step: a function of how long the
/// sequences are.

#include <cstdint>
#include <string>
#include <vector>

#include "base/enum_names.hpp"
#include "gpu/kernels/operator.hpp"
#include "gpu/spec.hpp"

namespace c3 { inline namespace workloads {

/// How many gates a cell has: products of its state and of its input in each step.
enum class RecurrentCell : std::uint8_t { lstm = 4, gru = 3 };
constexpr auto enum_names(RecurrentCell) {
  return std::to_array<EnumName<RecurrentCell>>({{"lstm", RecurrentCell::lstm}, {"gru", RecurrentCell::gru}});
}

struct RecurrentLayer {
  RecurrentCell cell = RecurrentCell::lstm;
  std::int64_t inputs = 0;
  std::int64_t hidden = 0;
  bool bidirectional = false;

  bool operator==(const RecurrentLayer&) const = default;
};

/// A convolution over time x features; strides shorten both.
struct FrontConvolution {
  std::int64_t channels_in = 0, channels_out = 0;
  std::int64_t kernel_time = 0, kernel_features = 0;
  std::int64_t stride_time = 1, stride_features = 1;

  bool operator==(const FrontConvolution&) const = default;
};

struct RecurrentNetwork {
  std::string name;
  std::int64_t features = 0;  ///< of a frame, before the convolutions; 0: tokens
  std::vector<FrontConvolution> front;
  std::vector<RecurrentLayer> encoder;  ///< over the source, or over frames
  std::vector<RecurrentLayer> decoder;  ///< over the target, as long as the source; empty: none
  std::int64_t attention = 0;           ///< width of the decoder's attention; 0: none
  std::int64_t classes = 0;             ///< of the output at each step
  std::int64_t parameters = 0;

  bool operator==(const RecurrentNetwork&) const = default;
};

/// What the weights of \p network's layers add up to, with those of its embedding, shared by both languages,
/// its attention and its output; biases, below 1 %, aside. `parameters` is not read.
std::int64_t count_parameters(const RecurrentNetwork& network);

/// Features that the convolutions in front leave of a frame, channels times what is left of each.
std::int64_t features_after(std::int64_t features, const std::vector<FrontConvolution>& front);

/// GNMT of MLPerf training (mlcommons/training, rnn_translator): 4 + 4 LSTM layers of 1,024, the first
/// bidirectional; attention in the decoder; 32,320 tokens.
RecurrentNetwork gnmt();

/// Deep Speech 2 (Amodei et al., arXiv 1512.02595): two convolutions over 161 frequencies, 5 bidirectional GRU
/// layers, 29 letters. Their width of 800 is assumed: implementations differ.
RecurrentNetwork deep_speech_2();

struct CountedOperator {
  Operator op;
  std::int64_t count = 1;  ///< one after another
  std::string name;        ///< of the layer and what it does there, e.g. "encoder.0.state"
};

/// Forward, backward and optimizer of \p batch sequences of \p length tokens (source and target together) or
/// frames. Each step of a recurrent layer launches the product of its state and its gates, as cuDNN's plain
/// algorithm does. Wrong when: steps of layers run beside each other, or weights stay in registers (persistent
/// kernels).
std::vector<CountedOperator> recurrent_step(const RecurrentNetwork& network, std::int64_t batch,
                                            std::int64_t length, DType dtype);

}}  // namespace c3::workloads
