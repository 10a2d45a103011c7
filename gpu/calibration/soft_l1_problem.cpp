#include "gpu/calibration/soft_l1_problem.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <stdexcept>
#include <string>

namespace c3 { inline namespace gpu {

SoftL1Problem::SoftL1Problem(std::span<const Parameter> parameters, std::span<const Seconds> measured,
                             std::span<const double> weights, const PredictTimes& predict, double scale)
    : parameters_(parameters),
      predict_(predict),
      scale_(scale),
      weights_(measured.size(), 1.0 / static_cast<double>(measured.size())),
      values_(parameters.size()),
      predicted_(measured.size()),
      residuals_(measured.size()),
      trial_(measured.size()),
      root_weights_(measured.size()),
      shifted_(parameters.size()) {
  for (const Parameter& parameter : parameters) {
    low_.push_back(std::log(parameter.low));
    high_.push_back(std::log(parameter.high));
  }
  for (const Seconds time : measured)
    log_measured_.push_back(std::log(time.value));
  if (weights.empty()) return;
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  std::ranges::transform(weights, weights_.begin(), [sum](double weight) { return weight / sum; });
}

double SoftL1Problem::rounded_abs(double residual) const {
  return std::sqrt(scale_ * scale_ + residual * residual);
}

double SoftL1Problem::loss(double residual) const {
  // f^2 (sqrt(1 + (r / f)^2) - 1) without the difference of likes.
  return scale_ * residual * residual / (rounded_abs(residual) + scale_);
}

double SoftL1Problem::weight(std::size_t row) const {
  return weights_[row] * scale_ / rounded_abs(residuals_[row]);
}

double SoftL1Problem::try_point(std::span<const double> logs) {
  evaluate(logs, trial_);
  double cost = 0.0;
  for (std::size_t row = 0; row < rows(); ++row)
    cost += weights_[row] * loss(trial_[row]);
  return cost;
}

void SoftL1Problem::linearise(std::span<const double> logs, double step, std::span<double> jacobian,
                              std::span<double> residuals) {
  for (std::size_t row = 0; row < rows(); ++row) {
    root_weights_[row] = std::sqrt(weight(row));
    residuals[row] = residuals_[row] * root_weights_[row];
  }
  std::ranges::copy(logs, shifted_.begin());
  for (std::size_t i = 0; i < parameters(); ++i) {
    const std::span<double> column = jacobian.subspan(i * rows(), rows());
    std::ranges::fill(column, 0.0);
    const double size = std::min(step, 0.5 * (high_[i] - low_[i]));
    bool other_side = false;
    for (const double moved : {size, -size}) {
      shifted_[i] = logs[i] + moved;
      if (size == 0.0 || shifted_[i] < low_[i] || shifted_[i] > high_[i]) continue;
      evaluate(shifted_, trial_);
      for (std::size_t row = 0; row < rows(); ++row) {
        const double slope = (trial_[row] - residuals_[row]) / moved * root_weights_[row];
        if (!other_side || std::abs(slope) < std::abs(column[row])) column[row] = slope;
      }
      other_side = true;
    }
    shifted_[i] = logs[i];
  }
}

double SoftL1Problem::weight() const {
  double sum = 0.0;
  for (std::size_t row = 0; row < rows(); ++row)
    sum += weight(row);
  return sum;
}

double SoftL1Problem::value(std::size_t parameter, double log) const {
  const Parameter& p = parameters_[parameter];
  if (log <= low_[parameter]) return p.low;  // exp(ln(x)) may miss x by a bit
  if (log >= high_[parameter]) return p.high;
  return std::clamp(std::exp(log), p.low, p.high);
}

void SoftL1Problem::evaluate(std::span<const double> logs, std::vector<double>& residuals) {
  for (std::size_t i = 0; i < logs.size(); ++i)
    values_[i] = value(i, logs[i]);
  predict_(values_, predicted_);
  ++evaluations_;
  for (std::size_t row = 0; row < rows(); ++row) {
    const double time = predicted_[row].value;
    if (!(time > 0.0) || !std::isfinite(time)) fail(row);
    residuals[row] = std::log(time) - log_measured_[row];
  }
}

void SoftL1Problem::fail(std::size_t row) const {
  std::string at;
  for (std::size_t i = 0; i < parameters(); ++i) {
    fmt::format_to(std::back_inserter(at), "{}{} = {}", i == 0 ? "" : ", ", parameters_[i].name, values_[i]);
  }
  throw std::domain_error(
      fmt::format("robust_fit: row {} is predicted to take {} s at {}", row, predicted_[row].value, at));
}

}}  // namespace c3::gpu
