#include "gpu/calibration/damped_step.hpp"

#include <Eigen/QR>
#include <algorithm>
#include <cmath>

namespace c3 { inline namespace gpu {
namespace {

using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;

constexpr double kLeastScale = 1e-3;

auto index(std::size_t i) { return static_cast<Eigen::Index>(i); }

}  // namespace

DampedStep::DampedStep(std::size_t parameters)
    : parameters_(parameters), triangle_(parameters * parameters), target_(parameters), scale_(parameters) {}

void DampedStep::factorise(std::span<double> jacobian, std::span<double> residuals) {
  const Eigen::Index columns = index(parameters_);
  const Eigen::Index rows = index(residuals.size());
  const Eigen::Index rank = std::min(rows, columns);
  Eigen::Map<Matrix> matrix(jacobian.data(), rows, columns);
  Eigen::Map<Vector> right(residuals.data(), rows);
  const Eigen::HouseholderQR<Eigen::Ref<Matrix>> qr(matrix);
  right.applyOnTheLeft(qr.householderQ().adjoint());

  Eigen::Map<Matrix> triangle(triangle_.data(), columns, columns);
  triangle.setZero();
  triangle.topRows(rank) = qr.matrixQR().topRows(rank).triangularView<Eigen::Upper>();
  Eigen::Map<Vector> target(target_.data(), columns);
  target.setZero();
  target.head(rank) = -right.head(rank);
  Eigen::Map<Vector> scale(scale_.data(), columns);
  scale = triangle.colwise().norm().transpose();
  scale = scale.cwiseMax(kLeastScale * scale.maxCoeff());
}

void DampedStep::solve(double damping, std::span<const double> low, std::span<const double> high,
                       std::span<double> step) const {
  const Eigen::Index columns = index(parameters_);
  Matrix left(2 * columns, columns);
  left.topRows(columns) = Eigen::Map<const Matrix>(triangle_.data(), columns, columns);
  left.bottomRows(columns) =
      (std::sqrt(damping) * Eigen::Map<const Vector>(scale_.data(), columns)).asDiagonal();
  Vector right = Vector::Zero(2 * columns);
  right.head(columns) = Eigen::Map<const Vector>(target_.data(), columns);

  std::vector<char> fixed(parameters_, 0);
  for (bool again = true; again;) {
    again = false;
    const Vector solution = left.colPivHouseholderQr().solve(right);
    for (std::size_t i = 0; i < parameters_; ++i) {
      if (fixed[i] != 0) continue;
      step[i] = std::clamp(solution[index(i)], low[i], high[i]);
      if (step[i] == solution[index(i)]) continue;
      right -= left.col(index(i)) * step[i];
      left.col(index(i)).setZero();
      fixed[i] = 1;
      again = true;
    }
  }
}

}}  // namespace c3::gpu
