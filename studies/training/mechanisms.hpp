#pragma once
/// What each mechanism of a step makes of its error: alone, and with all others.

#include <optional>
#include <string>
#include <vector>

#include "configs/jobs/experiment_reader.hpp"
#include "studies/simulations.hpp"
#include "studies/study.hpp"
#include "studies/training/measured_steps.hpp"

namespace c3 { inline namespace studies {

/// Every measured step without any of the mechanisms, with each alone, and with all.
class MechanismsPart {
 public:
  /// Reads the experiments of each of \p steps. \throws ConfigError, IoError
  explicit MechanismsPart(std::vector<MeasuredStep> steps);
  void plan(SimulationJobs& jobs);
  /// Mean absolute error of each group.
  StudySection section(const PublishedFigures& published) const;
  /// CPU time of each step on one node, with all mechanisms [s].
  std::vector<double> costs() const;

 private:
  struct Row {
    MeasuredStep of;
    std::vector<ExperimentFile> files = {};          ///< by variant
    std::vector<std::optional<Seconds>> times = {};  ///< the same
    std::optional<double> cpu = {};                  ///< s, with all, where the step is on one node
  };

  std::vector<Row> rows_;
};

}}  // namespace c3::studies
