#pragma once
/// Operators of any class, drawn: every key of a shape has words to draw from, so that a new class has shapes
/// without a word here.

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "gpu/kernels/attention/attention_shape.hpp"
#include "gpu/kernels/convolution/convolution_shape.hpp"
#include "gpu/kernels/embedding/embedding_shape.hpp"
#include "gpu/kernels/gemm/gemm_shape.hpp"
#include "gpu/kernels/operator_table.hpp"
#include "gpu/kernels/scan/causal_conv.hpp"
#include "gpu/kernels/scan/scan_shape.hpp"
#include "gpu/kernels/windows.hpp"

namespace c3::test {

/// What stands under a key: one of some words, or a number of a range, drawn by its logarithm.
struct DrawnKey {
  std::vector<std::string> words = {};
  double low = 1, high = 1;
  std::int64_t multiple = 1;  ///< for five in six numbers; others are as drawn
};

inline DrawnKey drawn_key(ShapeKey key) {
  const auto names = [](auto... lists) {
    std::vector<std::string> all;
    (all.insert(all.end(), lists.begin(), lists.end()), ...);
    return all;
  };
  using enum ShapeKey;
  switch (key) {
    case op:
      return {};
    case dtype:
      return {.words = names(names_listed<DType>())};
    case pass:
      return {.words = names(names_listed<Pass>(), names_listed<ConvolutionPass>())};
    case traffic:
      return {.words = names(names_listed<GemmTraffic>())};
    case layout:
      return {.words = names(names_listed<GemmLayout>(), names_listed<ImageLayout>(),
                             names_listed<SequenceLayout>())};
    case warm:
      return {.words = names(names_listed<WarmOperands>())};
    case scales:
      return {.words = names(names_listed<GemmScales>())};
    case result:
      return {.words = names(names_listed<GemmResult>())};
    case solver:
      return {.words = names(names_listed<ConvolutionSolver>())};
    case update:
      return {.words = names(names_listed<RowUpdate>())};
    case reuse:
      return {.words = names(names_listed<ReuseProfile>())};
    case values:
      return {.words = names(names_listed<AttentionValues>())};
    case stage:
      return {.words = names(names_listed<ScanStage>())};
    case initial:
      return {.words = names(names_listed<ScanState>())};
    case causal:
      return {.words = {"0", "1"}};
    case m:
    case n:
    case k:
      return {.low = 16, .high = 24576, .multiple = 128};
    case rows:
      return {.low = 16, .high = 65536, .multiple = 16};
    case cols:
      return {.low = 16, .high = 32768, .multiple = 64};
    case seq:
    case kv_seq:
      return {.low = 1, .high = 16384, .multiple = 64};
    case heads:
      return {.low = 1, .high = 64, .multiple = 8};
    case kv_heads:
      return {.low = 1, .high = 8, .multiple = 4};
    case head_dim:
    case value_dim:
      return {.low = 64, .high = 256, .multiple = 64};
    case channels:
    case filters:
      return {.low = 3, .high = 512, .multiple = 16};
    case height:
    case width:
      return {.low = 7, .high = 112, .multiple = 7};
    case filter_h:
    case filter_w:
      return {.low = 1, .high = 5};
    case pad_h:
    case pad_w:
      return {.low = 1, .high = 2};
    case stride_h:
    case stride_w:
    case dilation_h:
    case dilation_w:
    case groups:
      return {.low = 1, .high = 2};
    case b:
    case tables:
      return {.low = 1, .high = 64};
    case lookups:
      return {.low = 1, .high = 128};
    case chunk:
      return {.low = 16, .high = 256, .multiple = 64};
    case window:
      return {.low = 2, .high = 4};
    case selected:
      return {.low = 1, .high = 4096, .multiple = 64};
  }
  FAIL("no words are known to draw under the key ", name_of(key));
  return {};
}

class ShapeDraw {
 public:
  explicit ShapeDraw(std::uint64_t seed) : random_(seed) {}

  std::size_t below(std::size_t count) {
    return std::uniform_int_distribution<std::size_t>(0, count - 1)(random_);
  }
  double between(double low, double high) {
    return std::exp(std::uniform_real_distribution<double>(std::log(low), std::log(high))(random_));
  }

  /// One operator of \p operator_class. All keys are given, but a third of those that only choose among
  /// kernels, or bound what attention sees.
  Operator operator_of_class(const OperatorClass& operator_class) {
    constexpr int kTries = 20'000;
    for (int i = 0; i < kTries; ++i) {
      if (auto found = try_class(operator_class)) return *found;
    }
    FAIL("no shape of class ", operator_class.name, " was found among ", kTries, " draws");
    throw std::logic_error("no shape");
  }

 private:
  std::optional<Operator> try_class(const OperatorClass& operator_class) {
    std::array<std::string, kShapeKeys.size()> kept;
    ShapeWords words;
    for (std::size_t i = 0; i < kShapeKeys.size(); ++i) {
      const auto key = static_cast<ShapeKey>(i);
      kept.at(i) = key == ShapeKey::op
                       ? std::string(operator_class.operators[below(operator_class.operators.size())])
                       : word_of(key);
      if (!kept.at(i).empty()) words[key] = kept.at(i);
    }
    try {
      return operator_class.read(words);
    } catch (const ShapeError&) {
      return std::nullopt;  // these words do not go together
    }
  }

  std::string word_of(ShapeKey key) {
    const DrawnKey drawn = drawn_key(key);
    const bool only_chooses = is_text(key) && key != ShapeKey::dtype;
    const bool bounds = key == ShapeKey::window || key == ShapeKey::selected;
    if ((only_chooses || bounds) && below(3) == 0) return {};
    if (!drawn.words.empty()) return drawn.words[below(drawn.words.size())];
    const auto number = static_cast<std::int64_t>(std::llround(between(drawn.low, drawn.high)));
    const bool is_even = number >= drawn.multiple && below(6) != 0;
    return std::to_string(is_even ? number / drawn.multiple * drawn.multiple : number);
  }

  std::mt19937_64 random_;
};

}  // namespace c3::test
