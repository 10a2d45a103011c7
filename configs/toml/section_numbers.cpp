// Numbers of a section, and what states where they come from.
#include "configs/toml/section.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <stdexcept>

namespace c3 { inline namespace configs {
namespace {

constexpr std::array<std::string_view, 6> kSourcedKeys = {"value", "low", "nominal", "high", "kind", "source"};

/// Far beyond any machine on both sides, and near enough that times stay finite.
std::pair<double, double> bounds_of(Dimension dimension) {
  switch (dimension) {
    case Dimension::bytes:
      return {1e-3, 1e24};
    case Dimension::duration:
      return {1e-15, 1e6};
    case Dimension::bandwidth:
    case Dimension::flop_rate:
    case Dimension::frequency:
    case Dimension::power:
      return {1.0, 1e24};
  }
  throw std::logic_error("bounds_of: unknown dimension");
}

}  // namespace

void Section::check_provenance(std::string_view key, const Node& number) const {
  if (!is_sourced_value(number)) {
    const bool is_example = draft_ != nullptr;
    if (provenance_ == Provenance::optional || is_example) return;
    throw IncompleteError(
        find(key)->origin, dotted(key),
        "a preset states where each value comes from: { value = .., kind = .., source = .. }");
  }
  const Table& table = *number.table();
  for (const Member& member : table.members()) {
    if (std::ranges::find(kSourcedKeys, member.key) != kSourcedKeys.end()) continue;
    throw ConfigError(member.origin, fmt::format("{}.{}", dotted(key), member.key),
                      fmt::format("unknown key; known: {}", fmt::join(kSourcedKeys, ", ")));
  }
  const Node* kind = table.find("kind");
  const Node* source = table.find("source");
  if (provenance_ == Provenance::required && kind == nullptr)
    throw IncompleteError(number.origin, dotted(key), "has no kind");
  if (provenance_ == Provenance::required && source == nullptr)
    throw IncompleteError(number.origin, dotted(key), "has no source");
  if (source != nullptr && (source->text() == nullptr || source->text()->empty())) {
    throw ConfigError(source->origin, dotted(key) + ".source", "must be a text that is not empty");
  }
  const bool known_kind =
      kind == nullptr ||
      (kind->text() != nullptr && std::ranges::find(kSourceKinds, *kind->text()) != kSourceKinds.end());
  if (!known_kind) {
    throw ConfigError(kind->origin, dotted(key) + ".kind",
                      fmt::format("must be one of {}", fmt::join(kSourceKinds, ", ")));
  }
}

/// \p parse turns a plain node into a number and throws std::invalid_argument when it cannot.
template <class Parse>
Range Section::range(std::string_view key, const Rule& rule, Parse parse) {
  const Node& number = node(key, rule);
  check_provenance(key, number);
  const auto parsed = [&](const Node& plain) {
    try {
      return parse(plain);
    } catch (const std::invalid_argument& error) {
      throw ConfigError(plain.origin, dotted(key), error.what());
    }
  };
  if (!is_sourced_value(number)) {
    const double value = parsed(number);
    return {value, value, value};
  }
  const Table& table = *number.table();
  const Node* low = table.find("low");
  const Node* nominal = table.find("nominal");
  const Node* high = table.find("high");
  if (const Node* value = table.find("value")) {
    if (low != nullptr || nominal != nullptr || high != nullptr) fail(key, "has both a value and a range");
    const Node* kind = table.find("kind");
    if (kind != nullptr && *kind->text() == kAssumed)
      fail(key, "is assumed, so it must be a range: low, nominal, high");
    const double plain = parsed(*value);
    return {plain, plain, plain};
  }
  if (low == nullptr || nominal == nullptr || high == nullptr) fail(key, "a range needs low, nominal and high");
  const Range range{parsed(*low), parsed(*nominal), parsed(*high)};
  if (!(range.low <= range.nominal && range.nominal <= range.high))
    fail(key, "must have low <= nominal <= high");
  return range;
}

std::int64_t Section::integer(std::string_view key, std::int64_t low, std::int64_t high) {
  const Rule rule = {IntegerRule{low, high}, provenance_};
  const Range written = range(key, rule, [&](const Node& plain) {
    const auto* value = std::get_if<std::int64_t>(&plain.value);
    if (value == nullptr) throw std::invalid_argument(wrong_type("an integer", plain));
    if (*value < low || *value > high) {
      throw std::invalid_argument(fmt::format("must be between {} and {}, not {}", low, high, *value));
    }
    return static_cast<double>(*value);
  });
  return sampling_.sample_integer(written, dotted(key));
}

double Section::fraction(std::string_view key, double high, double low) {
  const Rule rule = {FractionRule{high, low}, provenance_};
  const Range written = range(key, rule, [&](const Node& plain) {
    const auto* whole = std::get_if<std::int64_t>(&plain.value);
    const auto* real = std::get_if<double>(&plain.value);
    if (whole == nullptr && real == nullptr)
      throw std::invalid_argument(wrong_type("a number, as in 0.5", plain));
    const double value = whole != nullptr ? static_cast<double>(*whole) : *real;
    if (!(value >= low && value <= high))
      throw std::invalid_argument(fmt::format("must be between {} and {}, not {}", low, high, value));
    return value;
  });
  return sampling_.sample(written, dotted(key));
}

double Section::quantity(std::string_view key, Dimension dimension, Sign sign) {
  const Rule rule = {QuantityRule{dimension, sign}, provenance_};
  const Range written = range(key, rule, [&](const Node& plain) {
    if (plain.text() == nullptr) throw std::invalid_argument(wrong_type("a string with a unit", plain));
    const double value = parse_quantity(*plain.text(), dimension);
    const bool is_zero = value == 0.0 && sign == Sign::not_negative;
    const bool allowed = sign == Sign::positive ? value > 0 : value >= 0;
    if (!allowed) {
      const std::string_view bound = sign == Sign::positive ? "above 0" : "0 or more";
      throw std::invalid_argument(fmt::format("must be {}, not {}", bound, *plain.text()));
    }
    const auto [least, most] = bounds_of(dimension);
    if (!is_zero && (value < least || value > most)) {
      throw std::invalid_argument(fmt::format("must be between {} {} and {} {}, not {}", least,
                                              base_unit(dimension), most, base_unit(dimension), *plain.text()));
    }
    return value;
  });
  return sampling_.sample(written, dotted(key));
}

Bytes Section::bytes(std::string_view key) { return {quantity(key, Dimension::bytes, Sign::positive)}; }
Bytes Section::bytes_or_none(std::string_view key) {
  return {quantity(key, Dimension::bytes, Sign::not_negative)};
}
Seconds Section::duration(std::string_view key) {
  return {quantity(key, Dimension::duration, Sign::not_negative)};
}
Seconds Section::positive_duration(std::string_view key) {
  return {quantity(key, Dimension::duration, Sign::positive)};
}
BytesPerSecond Section::bandwidth(std::string_view key) {
  return {quantity(key, Dimension::bandwidth, Sign::positive)};
}
FlopsPerSecond Section::flop_rate(std::string_view key) {
  return {quantity(key, Dimension::flop_rate, Sign::positive)};
}
Hertz Section::frequency(std::string_view key) { return {quantity(key, Dimension::frequency, Sign::positive)}; }
Watts Section::power(std::string_view key) { return {quantity(key, Dimension::power, Sign::positive)}; }

}}  // namespace c3::configs
