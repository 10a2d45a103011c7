#include "workloads/traces/replay/operator_words.hpp"

#include <string_view>
#include <variant>

#include <fmt/format.h>

#include "engine/errors.hpp"
#include "gpu/kernels/operator_class.hpp"
#include "gpu/kernels/operator_table.hpp"

namespace c3 { inline namespace traces {

OperatorWords words_of(const Operator& op) {
  OperatorWords words;
  words.texts[static_cast<std::size_t>(ShapeKey::op)] = name_of(op);
  for (const auto& [key, value] : op.of_class().fields(op)) {
    const auto place = static_cast<std::size_t>(key);
    if (const auto* text = std::get_if<std::string_view>(&value)) {
      words.texts.at(place) = *text;
    } else if (const auto* flag = std::get_if<bool>(&value)) {
      words.numbers.at(place) = *flag ? 1 : 0;
    } else {
      words.numbers.at(place) = std::get<std::int64_t>(value);
    }
  }
  return words;
}

Operator operator_of(const OperatorWords& words) {
  ShapeWords shape;
  for (std::size_t place = 0; place < kShapeKeys.size(); ++place) {
    const auto key = static_cast<ShapeKey>(place);
    if (is_text(key)) {
      shape[key] = words.texts.at(place);
    } else if (words.numbers.at(place) != OperatorWords::kNotGiven) {
      shape.number(key) = words.numbers.at(place);
    }
  }
  try {
    return operator_of(shape);
  } catch (const ShapeError& error) {
    throw InfeasibleError(fmt::format("{} {}", name_of(error.key()), error.what()));
  }
}

}}  // namespace c3::traces
