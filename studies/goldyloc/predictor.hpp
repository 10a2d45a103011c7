#pragma once
/// Picks how many products run at a time, from what is known of them before they run (GOLDYLOC's dynamic
/// logic).

#include <cstddef>
#include <span>
#include <vector>

#include "gpu/spec.hpp"
#include "studies/goldyloc/concurrency.hpp"

namespace c3 { inline namespace studies {

/// Sizes of a product, how many are ready, and work groups, occupancy and waves of its kernels.
using Features = std::vector<double>;
Features features_of(const ReadyProducts& products, const TunedKernels& kernels, const GpuSpec& gpu);

/// One set of ready products with what came of every degree.
struct DegreeSample {
  Features features;
  std::vector<int> degrees;
  std::vector<double> times;  ///< by place in `degrees`, over that of degree 1
};

/// Multinomial logistic regression of the degree. The weights minimise the expected log time of a draw from its
/// probabilities, with a quadratic penalty, by accelerated gradient descent from 0 (Nesterov 1983, with
/// momentum k / (k + 3)): nothing is random.
class DegreePredictor {
 public:
  explicit DegreePredictor(std::span<const DegreeSample> samples);

  /// The most probable of \p degrees.
  int pick(const Features& features, std::span<const int> degrees) const;

 private:
  std::vector<double> probabilities(const Features& scaled, std::span<const int> degrees) const;
  Features scaled(const Features& features) const;

  Features mean_, deviation_;
  std::vector<Features> weights_;  ///< by the logarithm of the degree, the last one a constant
};

}}  // namespace c3::studies
