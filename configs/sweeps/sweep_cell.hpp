#pragma once
/// A swept value as a table holds it and as a filter compares it: a number in base units, or a text.

#include <cstdint>
#include <string>
#include <variant>

#include "configs/toml/tree.hpp"

namespace c3 { inline namespace configs {

struct SweepCell {
  std::variant<std::int64_t, double, std::string> value;
  std::string units;  ///< "B", "s", "B/s", "FLOP/s", "Hz"; "1" of a plain number; empty of a text

  bool is_text() const { return std::holds_alternative<std::string>(value); }
  double number() const;  ///< only for a cell that is no text
  bool operator==(const SweepCell&) const = default;
};

/// A boolean, a list or a table is a text as TOML writes it; a text that is a number with a unit is that
/// number.
SweepCell cell_of(const Node& value);

/// The cell of a text, which may be a number with a unit.
SweepCell cell_of(const std::string& text);

}}  // namespace c3::configs
