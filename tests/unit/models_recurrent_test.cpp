#include <doctest/doctest.h>

#include <vector>

#include "gpu/kernels/gemm/gemm_shape.hpp"
#include "tests/support/near.hpp"
#include "workloads/models/recurrent_networks.hpp"

namespace c3::models_recurrent_test { namespace {

/// Sum over all products, in units of m x n x k.
double products(const std::vector<CountedOperator>& step) {
  double sum = 0.0;
  for (const CountedOperator& kernel : step) {
    if (const auto* gemm = kernel.op.as<GemmShape>())
      sum += static_cast<double>(gemm->m * gemm->n * gemm->k * gemm->batch * kernel.count);
  }
  return sum;
}

RecurrentNetwork one_layer(RecurrentCell cell, bool bidirectional) {
  return {.name = "one",
          .features = 0,
          .front = {},
          .encoder = {{cell, 24, 16, bidirectional}},
          .decoder = {},
          .attention = 0,
          .classes = 8,
          .parameters = 4096};
}

TEST_CASE("an LSTM's training step does three times its forward products: four gates of inputs and of states") {
  // 10 steps of 5 sequences: 4 gates x 16 x (24 + 16), then 8 classes x 16.
  CHECK(products(recurrent_step(one_layer(RecurrentCell::lstm, false), 5, 10, DType::fp16)) ==
        near(3.0 * 50 * (64 * (24 + 16) + 8 * 16)));
  // A GRU has three gates; both directions do it twice.
  CHECK(products(recurrent_step(one_layer(RecurrentCell::gru, true), 5, 10, DType::fp16)) ==
        near(3.0 * 50 * (2 * 48 * (24 + 16) + 8 * 16)));
}

TEST_CASE("convolutions in front shorten frames and features by their strides") {
  RecurrentNetwork network = one_layer(RecurrentCell::gru, false);
  network.features = 9;
  network.front = {{1, 4, 3, 5, 2, 3}};
  network.encoder.front().inputs = 12;  // 3 features of 4 channels
  // 20 frames become 10: 5 x 10 x 3 outputs of 4 channels, each of 15 inputs.
  CHECK(products(recurrent_step(network, 5, 20, DType::fp16)) ==
        near(3.0 * (150 * 4 * 15 + 50 * (48 * (12 + 16) + 8 * 16))));
}

TEST_CASE("parameters counted from layers are those that GNMT and Deep Speech 2 are known to have") {
  CHECK(static_cast<double>(count_parameters(gnmt())) == near(160e6, 0.01));
  CHECK(static_cast<double>(count_parameters(deep_speech_2())) == near(41e6, 0.01));
  // An LSTM of 4 x 16 x (24 + 16), embedding and output of 8 classes.
  CHECK(count_parameters(one_layer(RecurrentCell::lstm, false)) == 4 * 16 * (24 + 16) + 8 * 24 + 8 * 16);
  CHECK(features_after(161, deep_speech_2().front) == 1312);
}

TEST_CASE("products of GNMT grow with length, those of its attention with the square") {
  const RecurrentNetwork network = gnmt();
  const double one = products(recurrent_step(network, 4, 100, DType::fp16)),
               two = products(recurrent_step(network, 4, 200, DType::fp16));
  // Attention: two products of steps x steps x 1,024 for each sequence, three times.
  const double square = 3.0 * 4 * 2 * 50 * 50 * 1024;
  CHECK(two - 2.0 * one == near(2.0 * square));
}

}}  // namespace c3::models_recurrent_test
