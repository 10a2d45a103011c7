#pragma once
/// The parts of the study of JIT-Q.

#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "studies/jitq/step.hpp"
#include "studies/simulations.hpp"
#include "studies/study.hpp"

namespace c3 { inline namespace studies {

/// What is known without a simulation: bytes of a parameter, with copies and without.
StudySection capacity(const PublishedFigures& published);

/// Steps of models and batches, whose copies are kept or made just in time.
class LossPart {
 public:
  /// Internal bandwidth over that outside, of the curve.
  static constexpr std::array kAmplifications = {0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0};

  /// \param file of columns model, sequences, sequence, gpus. \throws ConfigError, IoError
  explicit LossPart(const std::filesystem::path& file);

  void plan(SimulationJobs& jobs);
  StudyReport sections(const PublishedFigures& published) const;
  std::string rows_csv() const;

 private:
  struct Row {
    JitStep step;
    std::vector<double> losses;         ///< by amplification, of the time of a step [%]
    std::optional<double> needed = {};  ///< amplification
    double updated = 0.0, by_gpu = 0.0, one_buffer = 0.0, four_buffers = 0.0, mx6 = 0.0;  ///< losses [%]
    double there = 0.0;                                                                   ///< time [ms]

    std::string label() const;
  };
  static std::vector<double> values_of(const JitStep& step);
  static void take(Row& row, const std::vector<double>& values);
  StudySection mechanism(const PublishedFigures& published) const;
  StudySection losses(const PublishedFigures& published) const;
  StudySection needs(const PublishedFigures& published) const;
  StudySection windows(const PublishedFigures& published) const;

  std::vector<Row> rows_;
  double same_ = 0.0;  ///< time in memory over that at HBM
};

}}  // namespace c3::studies
