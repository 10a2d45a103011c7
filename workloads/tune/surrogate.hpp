#pragma once
/// What candidates cost, learnt from those that are known.

#include <cstddef>
#include <memory>
#include <vector>

namespace c3 { inline namespace workloads {

/// A value with Student's distribution.
struct Prediction {
  double mean = 0.0;
  double scale = 0.0;  ///< of the distribution, in units of the value
  int degrees = 1;     ///< of freedom

  /// Probability that the value is below \p limit.
  double below(double limit) const;
};

/// A Gaussian process over positions: the value is a constant that is not known plus what varies with the
/// position, alike where distances d, sums of absolute differences, are small: correlation exp(-d / reach), and
/// a part of kOwnShare that each candidate has for itself. The reach is the likeliest of a few, the scale
/// follows from the values and from kUsualSpread, held with the weight of kSpreadDegrees values. Source:
/// Rasmussen and Williams, "Gaussian processes for machine learning", 2006, 2.7 (a mean that is not known)
/// and 5.4 (marginal likelihood); Student's distribution of a scale that is not known: O'Hagan, JRSS B 40
/// (1978) 1. Wrong when: values jump where positions are near.
class Surrogate {
 public:
  /// How far logarithms of time over estimate lie apart, before any is known (assumed).
  static constexpr double kUsualSpread = 0.05;
  static constexpr int kSpreadDegrees = 2;
  static constexpr double kOwnShare = 0.05;  ///< of the variance (assumed)

  /// \param positions of candidates, of as many coordinates each
  explicit Surrogate(std::vector<std::vector<double>> positions);
  Surrogate(Surrogate&&) noexcept;
  Surrogate& operator=(Surrogate&&) noexcept;
  ~Surrogate();

  /// Learns \p values of \p candidates anew. \pre there is one at least
  void learn(const std::vector<std::size_t>& candidates, const std::vector<double>& values);
  /// \pre something was learnt
  Prediction predict(std::size_t candidate) const;

 private:
  struct Fit;
  std::vector<double> correlations(std::size_t candidate, double reach) const;

  std::vector<std::vector<double>> positions_;
  std::vector<std::size_t> known_;
  std::unique_ptr<const Fit> fit_;
};

}}  // namespace c3::workloads
