#pragma once
/// An operator as the words and numbers of a row of a table of kernels.

#include <array>
#include <cstdint>
#include <string>

#include "gpu/kernels/operator.hpp"
#include "gpu/kernels/shape_words.hpp"

namespace c3 { inline namespace traces {

/// Words of an operator, by ShapeKey. A key has a text or a number, never both: is_text() says which.
struct OperatorWords {
  static constexpr std::int64_t kNotGiven = -1;

  OperatorWords() { numbers.fill(kNotGiven); }

  std::array<std::string, kShapeKeys.size()> texts;  ///< empty: not given
  std::array<std::int64_t, kShapeKeys.size()> numbers;
};

OperatorWords words_of(const Operator& op);

/// \throws InfeasibleError for words that are no operator, naming the first that is wrong
Operator operator_of(const OperatorWords& words);

}}  // namespace c3::traces
