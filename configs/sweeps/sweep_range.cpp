#include "configs/sweeps/sweep_range.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <optional>
#include <string_view>

#include "configs/toml/quantity_text.hpp"
#include "configs/toml/section.hpp"
#include "configs/toml/toml_text.hpp"

namespace c3 { inline namespace configs {
namespace {

constexpr double kRounding = 1e-9;  // an end that is missed by so little is met
constexpr std::int64_t kMostWhole = std::int64_t{1} << 53;

enum class Scale { linear, log };
constexpr std::array<std::pair<std::string_view, Scale>, 2> kScales = {{
    {"linear", Scale::linear},
    {"log", Scale::log},
}};

/// An end or a step of a range.
struct Number {
  double value = 0;  ///< counted in `unit`
  bool is_whole = false;
  std::string unit;
  std::optional<Dimension> dimension = std::nullopt;
};

/// A range, read.
class AxisRange {
 public:
  AxisRange(const Node& node, const std::string& name)
      : section_(node, name), origin_(node.origin), from_(number("from")), to_(number("to")) {
    if (in_unit(from_) > in_unit(to_)) section_.fail("to", "must not be below 'from'");
  }

  std::vector<Node> values() {
    const bool steps = section_.has("step"), multiplies = section_.has("factor"),
               counts = section_.has("count");
    const bool is_scaled = section_.has("scale");
    section_.finish();  // a key that nobody knows is the likelier mistake
    if (int{steps} + int{multiplies} + int{counts} != 1)
      section_.fail("from", "a range needs one of 'step', 'factor' and 'count'");
    if (is_scaled && !counts) section_.fail("scale", "goes with 'count'");
    if (steps) return stepped();
    return multiplies ? multiplied() : counted();
  }

 private:
  Number number(std::string_view key) {
    const Node& node = section_.node(key, {AnythingRule{}});
    if (const auto* whole = std::get_if<std::int64_t>(&node.value)) {
      if (std::abs(*whole) > kMostWhole) section_.fail(key, "is out of range");
      return {.value = static_cast<double>(*whole), .is_whole = true, .unit = ""};
    }
    if (const auto* plain = std::get_if<double>(&node.value)) return {.value = *plain, .unit = ""};
    const std::optional<QuantityText> quantity =
        node.text() == nullptr ? std::nullopt : find_quantity(*node.text());
    if (!quantity) section_.fail(key, "must be a number, or one with a unit, as in \"64 MiB\"");
    return {.value = quantity->value / unit_of(*quantity),
            .unit = quantity->unit,
            .dimension = quantity->dimension};
  }

  static double unit_of(const QuantityText& quantity) {
    return parse_quantity("1 " + quantity.unit, quantity.dimension);
  }

  /// \p number in the unit of `from`.
  double in_unit(const Number& number) {
    if (number.dimension != from_.dimension) {
      section_.fail("from",
                    "both ends and the step must be of one kind: all numbers, or all with units of one");
    }
    if (!number.dimension || number.unit == from_.unit) return number.value;
    return number.value * parse_quantity("1 " + number.unit, *number.dimension) /
           parse_quantity("1 " + from_.unit, *number.dimension);
  }

  Node value(double number, bool is_whole) const {
    if (is_whole && !from_.dimension) return {static_cast<std::int64_t>(std::llround(number)), origin_};
    const std::string digits = fmt::format("{:.12g}", number);  // 0.3, not 0.30000000000000004
    if (from_.dimension) return {fmt::format("{} {}", digits, from_.unit), origin_};
    return {std::stod(digits), origin_};
  }

  void refuse_too_many(double values) {
    if (!(values <= static_cast<double>(kMostAxisValues)))
      section_.fail("from", fmt::format("are more than {} values", kMostAxisValues));
  }

  std::vector<Node> stepped() {
    const Number step = number("step");
    const double size = in_unit(step);
    if (!(size > 0)) section_.fail("step", "must be above 0");
    const double steps = std::floor((in_unit(to_) - from_.value) / size + kRounding);
    refuse_too_many(steps);
    std::vector<Node> values;
    for (double i = 0; i <= steps; ++i)
      values.push_back(value(from_.value + i * size, from_.is_whole && step.is_whole));
    return values;
  }

  std::vector<Node> multiplied() {
    const Number factor = number("factor");
    if (factor.dimension || !(factor.value > 1)) section_.fail("factor", "must be a number above 1");
    if (!(from_.value > 0)) section_.fail("from", "must be above 0 where a factor takes it on");
    const double steps = std::floor(std::log(in_unit(to_) / from_.value) / std::log(factor.value) + kRounding);
    refuse_too_many(steps);
    std::vector<Node> values;
    for (double i = 0; i <= steps; ++i)
      values.push_back(value(from_.value * std::pow(factor.value, i), from_.is_whole && factor.is_whole));
    return values;
  }

  std::vector<Node> counted() {
    const auto count = section_.integer("count", 2, static_cast<std::int64_t>(kMostAxisValues));
    const Scale scale = section_.has("scale") ? section_.choice<Scale>("scale", kScales) : Scale::linear;
    const double from = from_.value, to = in_unit(to_);
    if (scale == Scale::log && !(from > 0)) section_.fail("from", "must be above 0 on a log scale");
    std::vector<Node> values;
    for (std::int64_t i = 0; i < count; ++i) {
      const double along = static_cast<double>(i) / static_cast<double>(count - 1);
      const double at = scale == Scale::log ? from * std::pow(to / from, along) : std::lerp(from, to, along);
      Node next = value(at, from_.is_whole && to_.is_whole);
      if (values.empty() || write_value(values.back()) != write_value(next)) values.push_back(std::move(next));
    }
    return values;
  }

  Section section_;
  Origin origin_;
  Number from_, to_;
};

}  // namespace

bool is_axis(const Node& node) {
  return node.array() != nullptr || (node.table() != nullptr && node.table()->find("from") != nullptr);
}

std::vector<Node> axis_values(const Node& node, const std::string& name) {
  if (node.table() != nullptr) return AxisRange(node, name).values();
  if (node.array() == nullptr) {
    throw ConfigError(node.origin, name,
                      "must be a list of values, or a range as in { from = 8, to = 128, step = 8 }");
  }
  if (node.array()->empty()) throw ConfigError(node.origin, name, "has no value");
  if (node.array()->size() > kMostAxisValues)
    throw ConfigError(node.origin, name, fmt::format("has more than {} values", kMostAxisValues));
  for (const Node& value : *node.array()) {
    if (value.array() != nullptr || value.table() != nullptr) {
      throw ConfigError(value.origin, name,
                        fmt::format("values are numbers, texts and booleans, not {}; build lists and tables in "
                                    "[sweep.set] with ${{..}}",
                                    type_of(value)));
    }
  }
  return *node.array();
}

}}  // namespace c3::configs
