#pragma once
/// What each mechanism of a step makes of its error: alone, and with all others.

#include <vector>

#include "studies/study.hpp"
#include "studies/training/step_scores.hpp"

namespace c3 { inline namespace studies {

/// Every measured step without any of the mechanisms, with each alone, and with all.
class MechanismsPart {
 public:
  /// Reads the experiments of each of \p steps. \throws ConfigError, IoError
  explicit MechanismsPart(const std::vector<MeasuredStep>& steps);
  void plan(SimulationJobs& jobs);
  /// Mean absolute error of each group.
  StudySection section(const PublishedFigures& published) const;
  /// CPU time of each step on one node, with all mechanisms [s].
  std::vector<double> costs() const;

 private:
  std::vector<MeasuredStepsPart> variants_;
};

}}  // namespace c3::studies
