#include "results/report/value_scale.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "engine/units.hpp"
#include "results/report/html.hpp"
#include "results/time_unit.hpp"

namespace c3 { inline namespace results {
namespace {

double largest_of(std::span<const double> values) {
  double largest = 0;
  for (const double value : values)
    if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
  return largest;
}

ValueScale decimal_scale(std::string_view unit, double largest) {
  constexpr std::array kPrefixes{"", "k", "M", "G", "T", "P"};
  constexpr double kStep = 1000;
  ValueScale scale{.size = 1, .unit = std::string(unit)};
  for (std::size_t i = 1; i < kPrefixes.size() && largest / scale.size >= kStep; ++i) {
    scale.size *= kStep;
    scale.unit = std::string(kPrefixes.at(i)) + std::string(unit);
  }
  return scale;
}

ValueScale time_scale(Seconds unit, double largest) {
  const TimeUnit readable = unit_for(largest * unit);
  return {.size = readable.size / unit, .unit = readable.name};
}

/// Standard deviation of the steps over their mean.
double unevenness(std::span<const double> values, auto map) {
  const auto count = static_cast<double>(values.size() - 1);
  const double mean = (map(values.back()) - map(values.front())) / count;
  double sum = 0;
  for (std::size_t i = 1; i < values.size(); ++i) {
    const double off = map(values[i]) - map(values[i - 1]) - mean;
    sum += off * off;
  }
  return std::sqrt(sum / count) / mean;
}

}  // namespace

std::string ValueScale::text(double value) const { return number_text(value / size); }

std::string ValueScale::with_unit(double value) const {
  return unit.empty() ? text(value) : text(value) + (unit == "%" ? "" : " ") + unit;
}

std::string ValueScale::name_of(std::string_view what) const {
  return unit.empty() ? std::string(what) : fmt::format("{} [{}]", what, unit);
}

ValueScale scale_for(std::string_view units, std::span<const double> values, bool is_share) {
  const double largest = largest_of(values);
  if (is_share) return {.size = 0.01, .unit = "%"};
  if (units == "us") return time_scale(1.0_us, largest);
  if (units == "s") return time_scale(1.0_s, largest);
  if (units.empty() || units == "1") return {.size = 1, .unit = ""};
  if (units == "1/s") {
    constexpr double kLong = 1e5;
    return largest < kLong ? ValueScale{.size = 1, .unit = "1/s"} : ValueScale{.size = 1e3, .unit = "1000/s"};
  }
  return decimal_scale(units, largest);
}

std::string with_prefix(double value, std::string_view unit) {
  return decimal_scale(unit, std::abs(value)).with_unit(value);
}

std::string bytes_text(double bytes) {
  constexpr std::array kUnits = {"B", "KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  for (; bytes >= kKibi && unit + 1 < kUnits.size(); ++unit)
    bytes /= kKibi;
  return fmt::format("{} {}", short_number(bytes), kUnits.at(unit));
}

std::vector<std::string> level_labels(std::string_view units, std::span<const double> values) {
  std::vector<std::string> binary, decimal;
  std::size_t binary_letters = 0, decimal_letters = 0;
  for (const double& value : values) {
    decimal.push_back(scale_for(units, std::span(&value, 1), false).with_unit(value));
    binary.push_back(bytes_text(value));
    decimal_letters += decimal.back().size();
    binary_letters += binary.back().size();
  }
  return units == "B" && binary_letters <= decimal_letters ? binary : decimal;
}

bool is_spaced_by_factors(std::span<const double> values) {
  if (values.size() < 3 || values.front() <= 0) return false;
  return unevenness(values, [](double v) { return std::log(v); }) < unevenness(
                                                                        values, [](double v) { return v; });
}

}}  // namespace c3::results
