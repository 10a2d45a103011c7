#pragma once
/// The linear problem inside one Levenberg-Marquardt iteration. Of use to robust_fit only.

#include <cstddef>
#include <span>
#include <vector>

namespace c3 { inline namespace gpu {

/// Minimises |J s + r|^2 + damping |D s|^2 over steps s within a box, where J is the Jacobian of the residuals
/// r and D the norms of its columns (not less than a thousandth of the largest, so that a parameter without
/// effect stays where it is). A coordinate that would leave the box is put on its side and the others are
/// solved for again.
/// Source: Moré, "The Levenberg-Marquardt algorithm", LNM 630, 1978 (the factorisation and D).
/// Wrong when: a coordinate put on a side should have left it again in the same step; the next iteration frees
/// it.
class DampedStep {
 public:
  explicit DampedStep(std::size_t parameters);

  /// \p jacobian: shape [parameters][rows], a parameter's column contiguous, overwritten; \p residuals: shape
  /// [rows].
  void factorise(std::span<double> jacobian, std::span<double> residuals);
  /// The step for \p damping > 0 from the last factorisation, low <= step <= high. All of shape [parameters],
  /// with low <= 0 <= high.
  void solve(double damping, std::span<const double> low, std::span<const double> high,
             std::span<double> step) const;

 private:
  std::size_t parameters_;
  std::vector<double> triangle_;  ///< R of J = QR, column-major [parameters][parameters]
  std::vector<double> target_;    ///< -Q^T r, its part that J reaches
  std::vector<double> scale_;     ///< diagonal of D
};

}}  // namespace c3::gpu
