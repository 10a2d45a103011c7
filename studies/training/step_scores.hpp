#pragma once
/// Simulated steps beside measured ones: errors by group and by row, and whether intervals hold what was
/// measured.

#include <optional>
#include <string>
#include <vector>

#include "configs/jobs/experiment_reader.hpp"
#include "studies/simulations.hpp"
#include "studies/study.hpp"
#include "studies/training/first_table.hpp"
#include "studies/training/measured_steps.hpp"

namespace c3 { inline namespace studies {

/// A measured step and its simulation.
struct SimulatedStep {
  std::string set, group, row;  ///< as MeasuredStep
  Seconds measured;
  std::optional<StepTime> now = {};    ///< absent: could not be simulated
  std::optional<StepTime> first = {};  ///< of first.csv
};

/// The steps of read_measured_steps, nominal and under draws of everything that is a range.
class MeasuredStepsPart {
 public:
  /// Reads the experiment of each of \p steps. \throws ConfigError, IoError
  explicit MeasuredStepsPart(std::vector<MeasuredStep> steps);
  void plan(SimulationJobs& jobs);
  std::vector<SimulatedStep> results(const FirstTable& first) const;

 private:
  struct Row {
    MeasuredStep of;
    ExperimentFile file;
    std::optional<Seconds> here = {};
    std::vector<double> drawn = {};  ///< seconds
  };

  std::vector<Row> rows_;
};

/// The 5 % and 95 % quantiles of \p drawn seconds around \p here; without any, \p here alone.
StepTime time_with_interval(Seconds here, const std::vector<double>& drawn);

/// Mean absolute error of each group.
StudySection groups_section(const std::vector<SimulatedStep>& steps, const PublishedFigures& published);
/// What asynchronous tensor parallelism gains.
StudySection gain_section(const std::vector<SimulatedStep>& steps, const PublishedFigures& published);
/// The signed error of each row.
StudySection rows_section(const std::vector<SimulatedStep>& steps, const PublishedFigures& published);
/// How many rows lie in their intervals, and how wide these are.
StudySection intervals_section(const std::vector<SimulatedStep>& steps, const PublishedFigures& published);

}}  // namespace c3::studies
