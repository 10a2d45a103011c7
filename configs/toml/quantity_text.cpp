#include "configs/toml/quantity_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/nearest_name.hpp"
#include "engine/units.hpp"

namespace c3 { inline namespace configs {
namespace {

constexpr double kLargest = 1e21;  // far beyond any machine; keeps sums and products of quantities finite

struct Unit {
  std::string name;
  double factor = 1;  ///< one of it in SI base units
};

struct DimensionUnits {
  Dimension dimension;
  std::string_view noun;
  std::vector<Unit> units;
};

/// \p base with every prefix that sizes and rates use.
void add_prefixed(std::vector<Unit>& units, const std::string& base, double factor) {
  static constexpr std::array<std::pair<std::string_view, double>, 10> kPrefixes = {{
      {"", 1.0},
      {"k", 1e3},
      {"Ki", kKibi},
      {"M", 1e6},
      {"Mi", kMebi},
      {"G", 1e9},
      {"Gi", kGibi},
      {"T", 1e12},
      {"Ti", kGibi * kKibi},
      {"P", 1e15},
  }};
  for (const auto& [prefix, scale] : kPrefixes)
    units.push_back({std::string(prefix) + base, scale * factor});
}

std::vector<DimensionUnits> make_units() {
  std::vector<Unit> bytes, bandwidth;
  add_prefixed(bytes, "B", 1.0);
  add_prefixed(bytes, "b", 0.125);
  add_prefixed(bandwidth, "B/s", 1.0);
  add_prefixed(bandwidth, "b/s", 0.125);
  return {
      {Dimension::bytes, "size", std::move(bytes)},
      {Dimension::duration, "duration", {{"s", 1.0}, {"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9}}},
      {Dimension::bandwidth, "bandwidth", std::move(bandwidth)},
      {Dimension::flop_rate,
       "compute rate",
       {{"FLOP/s", 1.0}, {"GFLOP/s", 1e9}, {"TFLOP/s", 1e12}, {"PFLOP/s", 1e15}, {"EFLOP/s", 1e18}}},
      {Dimension::frequency, "frequency", {{"Hz", 1.0}, {"kHz", 1e3}, {"MHz", 1e6}, {"GHz", 1e9}}},
      {Dimension::power, "power", {{"W", 1.0}, {"kW", 1e3}}},
  };
}

const std::vector<DimensionUnits>& all_units() {
  static const std::vector<DimensionUnits> kUnits = make_units();
  return kUnits;
}

const DimensionUnits& units_of(Dimension dimension) {
  return all_units().at(static_cast<std::size_t>(dimension));
}

const Unit* find_unit(const DimensionUnits& dimension, std::string_view name) {
  for (const Unit& unit : dimension.units) {
    if (unit.name == name) return &unit;
  }
  return nullptr;
}

[[noreturn]] void refuse_unit(std::string_view text, std::string_view unit, const DimensionUnits& wanted) {
  const std::vector<std::string> allowed = unit_names(wanted.dimension);
  std::string why = unit.empty() ? "it has no unit" : fmt::format("'{}' is not a unit of it", unit);
  for (const DimensionUnits& other : all_units()) {
    if (find_unit(other, unit) != nullptr) why = fmt::format("'{}' is the unit of a {}", unit, other.noun);
  }
  const std::string nearest = unit.empty() ? "" : nearest_name(unit, allowed);
  const std::string hint = nearest.empty() ? "" : fmt::format("; did you mean '{}'?", nearest);
  throw std::invalid_argument(fmt::format("'{}' is not a {}: {}; allowed: {}{}", text, wanted.noun, why,
                                          fmt::join(allowed, ", "), hint));
}

}  // namespace

std::string_view name_of(Dimension dimension) { return units_of(dimension).noun; }

std::string_view base_unit(Dimension dimension) {
  const std::vector<Unit>& units = units_of(dimension).units;
  return std::ranges::find(units, 1.0, &Unit::factor)->name;
}

std::optional<QuantityText> find_quantity(std::string_view text) {
  const std::size_t unit_at = text.find_last_of("0123456789. ") + 1;  // no unit has a digit
  const std::string_view unit = text.substr(unit_at);
  for (const DimensionUnits& units : all_units()) {
    if (find_unit(units, unit) == nullptr) continue;
    try {
      return QuantityText{parse_quantity(text, units.dimension), units.dimension, std::string(unit)};
    } catch (const std::invalid_argument&) {
      return std::nullopt;
    }
  }
  return std::nullopt;
}

std::vector<std::string> unit_names(Dimension dimension) {
  std::vector<std::string> names;
  for (const Unit& unit : units_of(dimension).units)
    names.push_back(unit.name);
  return names;
}

double parse_quantity(std::string_view text, Dimension dimension) {
  const DimensionUnits& wanted = units_of(dimension);
  double number = 0;
  const char* const end_of_text = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), end_of_text, number);
  if (error == std::errc::invalid_argument) {
    throw std::invalid_argument(fmt::format("'{}' is not a {}: it must begin with a number, as in '1.5 {}'",
                                            text, wanted.noun, wanted.units[wanted.units.size() / 3].name));
  }
  std::string_view unit(end, static_cast<std::size_t>(end_of_text - end));
  while (unit.starts_with(' '))
    unit.remove_prefix(1);
  const Unit* found = find_unit(wanted, unit);
  if (error == std::errc() && std::isfinite(number) && found == nullptr) refuse_unit(text, unit, wanted);
  const double value = found == nullptr ? number : number * found->factor;
  if (error != std::errc() || !std::isfinite(value) || std::abs(value) > kLargest) {
    throw std::invalid_argument(fmt::format("'{}' is not a {}: the number is out of range", text, wanted.noun));
  }
  return value;
}

std::string bandwidth_text(double bandwidth) { return fmt::format("{:.6g} GB/s", bandwidth / 1e9); }

}}  // namespace c3::configs
