#pragma once
/// Convolutions by coefficients that were fitted to others.

#include "gpu/calibration/kernel_fit.hpp"
#include "studies/convolutions/parts.hpp"
#include "studies/jobs.hpp"

namespace c3 { inline namespace studies {

/// Coefficients of a GPU fitted to all of its find-db but a fifth of the layers, for that fifth; five times.
class CrossValidation {
 public:
  explicit CrossValidation(const MeasuredGpu& gpu);

  void plan(Jobs& jobs);

  /// Each convolution by the fit that has not seen its layer.
  const SolverTimes& times() const { return times_; }
  /// The fit to all layers: what configs/kernels/convolution.toml has.
  const CoefficientTable& whole() const { return whole_; }

 private:
  const MeasuredGpu& gpu_;
  SolverTimes times_;
  CoefficientTable whole_;
};

/// The fitted coefficients of each GPU.
StudySection coefficients(const MeasuredGpu& gpu, const CoefficientTable& fitted,
                          const PublishedFigures& published);

}}  // namespace c3::studies
