#include "results/report/curve_plot.hpp"

#include <algorithm>
#include <cmath>

#include "results/report/html.hpp"

namespace c3 { inline namespace results {
namespace {

constexpr double kMostSteps = 6;
constexpr double kRounding = 1e-9;  ///< part of a step

void add_round_ticks(CurveAxis& axis, double step) {
  for (double k = std::ceil(axis.low / step - kRounding); k * step <= axis.high + kRounding * step; ++k) {
    const double at = k * step;
    const int decimals = std::max(0, -static_cast<int>(std::floor(std::log10(step) + kRounding)));
    axis.ticks.push_back({at, decimals > 2 ? number_text(at) : short_number(at)});
  }
}

/// The powers of ten, and 2 and 5 of each where these are few.
CurveAxis log_axis(std::string name, double low, double high) {
  constexpr double kFewDecades = 3.0;
  CurveAxis axis{.name = std::move(name), .low = low, .high = high, .is_log = true};
  const bool is_short = std::log10(high / low) <= kFewDecades;
  const auto factors = is_short ? std::vector<double>{1, 2, 5} : std::vector<double>{1};
  for (double decade = std::pow(10.0, std::floor(std::log10(low))); decade <= high; decade *= 10) {
    for (const double factor : factors) {
      const double at = factor * decade;
      if (at >= low * (1 - kRounding) && at <= high * (1 + kRounding))
        axis.ticks.push_back({at, number_text(at)});
    }
  }
  return axis;
}

}  // namespace

double CurveAxis::share(double value) const {
  const auto map = [this](double v) { return is_log ? std::log2(v) : v; };
  return (map(value) - map(low)) / (map(high) - map(low));
}

double round_step(double least) {
  const double decade = std::pow(10.0, std::floor(std::log10(least)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * decade >= least * (1.0 - kRounding)) return factor * decade;
  }
  return 10.0 * decade;
}

CurveAxis value_axis(std::string name, double low, double high, bool is_log) {
  if (is_log) {
    constexpr double kLogRoom = 1.1;
    return log_axis(std::move(name), low / kLogRoom, high * kLogRoom);
  }
  // Shares of the highest: what is flatter than that is drawn flat.
  constexpr double kNear = 0.4, kLeastSpan = 0.02;
  if (low >= 0 && low < kNear * high) low = 0;
  if (low == 0 && high == 0) high = 1;
  const double span = std::max(high - low, kLeastSpan * std::abs(high));
  const double step = round_step(span / (kMostSteps - 1));
  CurveAxis axis{.name = std::move(name),
                 .low = std::floor(low / step + kRounding) * step,
                 .high = std::ceil(high / step - kRounding) * step};
  if (axis.high - axis.low < step) axis.high = axis.low + step;
  add_round_ticks(axis, step);
  return axis;
}

CurveAxis axis_from_zero(std::string name, double low, double high) {
  constexpr double kRoom = 1.04;
  const double bottom = std::min(0.0, low);
  const double step = round_step(kRoom * (high - bottom) / kMostSteps);
  CurveAxis axis{.name = std::move(name),
                 .low = std::floor(bottom / step) * step,
                 .high = std::ceil(kRoom * high / step) * step};
  add_round_ticks(axis, step);
  return axis;
}

CurveAxis level_axis(std::string name, const std::vector<double>& values,
                     const std::vector<std::string>& labels, bool is_log) {
  constexpr double kLetter = 6.5, kSpace = 12;  // pixels
  CurveAxis axis{.name = std::move(name), .low = values.front(), .high = values.back(), .is_log = is_log};
  const auto at = [&](std::size_t i) {
    return axis.share(values[i]) * (kCurveWidth - kCurveLeft - kCurveRight);
  };
  const auto half = [&](std::size_t i) {
    return 0.5 * (kLetter * static_cast<double>(labels[i].size()) + kSpace);
  };
  const auto has_room = [&](std::size_t stride) {
    for (std::size_t i = stride; i < values.size(); i += stride)
      if (at(i) - half(i) < at(i - stride) + half(i - stride)) return false;
    return true;
  };
  std::size_t stride = 1;
  while (!has_room(stride))
    ++stride;
  for (std::size_t i = 0; i < values.size(); i += stride)
    axis.ticks.push_back({values[i], labels[i]});
  return axis;
}

}}  // namespace c3::results
