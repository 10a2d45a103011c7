#include "configs/sweeps/sweep_cell.hpp"

#include <optional>

#include "configs/toml/quantity_text.hpp"
#include "configs/toml/toml_text.hpp"

namespace c3 { inline namespace configs {

double SweepCell::number() const {
  const auto* whole = std::get_if<std::int64_t>(&value);
  return whole == nullptr ? std::get<double>(value) : static_cast<double>(*whole);
}

SweepCell cell_of(const std::string& text) {
  const std::optional<QuantityText> quantity = find_quantity(text);
  if (!quantity) return {text, ""};
  return {quantity->value, std::string(base_unit(quantity->dimension))};
}

SweepCell cell_of(const Node& value) {
  if (const auto* whole = std::get_if<std::int64_t>(&value.value)) return {*whole, "1"};
  if (const auto* number = std::get_if<double>(&value.value)) return {*number, "1"};
  if (value.text() != nullptr) return cell_of(*value.text());
  return {write_value(value), ""};
}

}}  // namespace c3::configs
