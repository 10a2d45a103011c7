#pragma once
/// Simulated steps beside measured ones: errors by group and by row, and whether intervals hold what was
/// measured.

#include <compare>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "studies/comparison.hpp"
#include "studies/simulations.hpp"
#include "studies/study.hpp"
#include "studies/training/measured_steps.hpp"

namespace c3 { inline namespace studies {

/// A run of a step.
struct StepSample {
  Seconds time, kernels, exposed, idle;
  double cpu = 0.0;  ///< s, that it took to simulate

  auto operator<=>(const StepSample&) const = default;
};

/// A measured step and its simulation.
struct SimulatedStep {
  MeasuredStep reference;
  std::optional<StepTime> now = {};  ///< absent: could not be simulated
  StepSample sample = {};            ///< of the median

  double error(Seconds time) const;  ///< of \p time [%]
};

/// Measured steps, nominal and under draws of everything that is a range.
class MeasuredStepsPart {
 public:
  explicit MeasuredStepsPart(const std::vector<MeasuredStep>& steps);
  void plan(SimulationJobs& jobs);
  std::vector<SimulatedStep> results() const;

 private:
  struct Row {
    MeasuredStep reference;
    std::vector<StepSample> samples = {};  ///< by seed
    std::vector<double> drawn = {};        ///< seconds
  };

  std::vector<Row> rows_;
};

/// The 5 % and 95 % quantiles of \p drawn seconds around \p here; without any, \p here alone.
StepTime time_with_interval(Seconds here, const std::vector<double>& drawn);

/// Their sets, or their groups, each once.
std::vector<std::string> names_of(const std::vector<SimulatedStep>& steps, std::string MeasuredStep::*name);

/// Errors of those of \p steps that \p is accepts, each a block of its own; beside them, as `first`, the
/// errors of the times that were simulated first.
Comparison errors_of(const std::vector<SimulatedStep>& steps,
                     const std::function<bool(const SimulatedStep&)>& is);

/// The signed error of \p step, where it was simulated, with its interval, and as it was first.
void set_error(StudyLine& line, const SimulatedStep& step);

/// Mean absolute error of each group.
StudySection groups_section(const std::vector<SimulatedStep>& steps, const PublishedFigures& published);
/// What asynchronous tensor parallelism gains.
StudySection gain_section(const std::vector<SimulatedStep>& steps, const PublishedFigures& published);
/// The signed error of each row.
StudySection rows_section(const std::vector<SimulatedStep>& steps, const PublishedFigures& published);
/// How many rows lie in their intervals, by set, and how wide these are.
StudySection intervals_section(const std::vector<SimulatedStep>& steps, const PublishedFigures& published);

}}  // namespace c3::studies
