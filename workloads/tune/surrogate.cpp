#include "workloads/tune/surrogate.hpp"

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include "workloads/sampling/confidence.hpp"

namespace c3 { inline namespace workloads {
namespace {

constexpr std::array kReaches = {0.5, 1.0, 2.0, 4.0, 8.0};

double distance(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i)
    sum += std::abs(a[i] - b[i]);
  return sum;
}

}  // namespace

double Prediction::below(double limit) const {
  const double t = (limit - mean) / scale;
  const double within = student_probability(std::abs(t), degrees);
  return t < 0.0 ? 0.5 * (1.0 - within) : 0.5 * (1.0 + within);
}

/// For one reach.
struct Surrogate::Fit {
  double reach = 1.0;
  Eigen::LLT<Eigen::MatrixXd> factor;  ///< of correlations between known candidates
  Eigen::VectorXd of_ones, of_rest;    ///< inverse times ones, times values less their mean
  double weight = 0.0;                 ///< of the mean: sum of the inverse
  double mean = 0.0;
  double variance = 0.0;
  int degrees = 1;
  double likelihood = 0.0;  ///< logarithm, up to a constant

  Fit(double reach_of, const Eigen::MatrixXd& correlation, const Eigen::VectorXd& values)
      : reach(reach_of), factor(correlation) {
    const Eigen::VectorXd ones = Eigen::VectorXd::Ones(values.size());
    of_ones = factor.solve(ones);
    weight = of_ones.sum();
    mean = of_ones.dot(values) / weight;
    const Eigen::VectorXd rest = values - mean * ones;
    of_rest = factor.solve(rest);
    degrees = kSpreadDegrees + static_cast<int>(values.size()) - 1;
    const double squares = kSpreadDegrees * kUsualSpread * kUsualSpread + rest.dot(of_rest);
    variance = squares / degrees;
    const double half_determinant = factor.matrixLLT().diagonal().array().log().sum();
    likelihood = -half_determinant - 0.5 * std::log(weight) - 0.5 * degrees * std::log(squares);
  }
};

Surrogate::Surrogate(std::vector<std::vector<double>> positions) : positions_(std::move(positions)) {}
Surrogate::Surrogate(Surrogate&&) noexcept = default;
Surrogate& Surrogate::operator=(Surrogate&&) noexcept = default;
Surrogate::~Surrogate() = default;

std::vector<double> Surrogate::correlations(std::size_t candidate, double reach) const {
  std::vector<double> correlations;
  for (const std::size_t other : known_)
    correlations.push_back(std::exp(-distance(positions_[candidate], positions_[other]) / reach));
  return correlations;
}

void Surrogate::learn(const std::vector<std::size_t>& candidates, const std::vector<double>& values) {
  known_ = candidates;
  const auto count = static_cast<Eigen::Index>(known_.size());
  const Eigen::VectorXd of_known = Eigen::VectorXd::Map(values.data(), count);
  std::optional<Fit> likeliest;
  for (const double reach : kReaches) {
    Eigen::MatrixXd correlation(count, count);
    for (Eigen::Index i = 0; i < count; ++i) {
      const std::vector<double> row = correlations(known_[static_cast<std::size_t>(i)], reach);
      correlation.row(i) = Eigen::RowVectorXd::Map(row.data(), count);
      correlation(i, i) += kOwnShare;
    }
    Fit fit(reach, correlation, of_known);
    if (!likeliest || fit.likelihood > likeliest->likelihood) likeliest = std::move(fit);
  }
  fit_ = std::make_unique<const Fit>(*std::move(likeliest));
}

Prediction Surrogate::predict(std::size_t candidate) const {
  const std::vector<double> row = correlations(candidate, fit_->reach);
  const Eigen::VectorXd near = Eigen::VectorXd::Map(row.data(), static_cast<Eigen::Index>(row.size()));
  const double unknown_mean = 1.0 - near.dot(fit_->of_ones);
  const double share =
      1.0 + kOwnShare - near.dot(fit_->factor.solve(near)) + unknown_mean * unknown_mean / fit_->weight;
  return {.mean = fit_->mean + near.dot(fit_->of_rest),
          .scale = std::sqrt(fit_->variance * std::max(share, kOwnShare)),
          .degrees = fit_->degrees};
}

}}  // namespace c3::workloads
