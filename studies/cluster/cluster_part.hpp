#pragma once
/// Measured steps of clusters beside simulated ones, and where the simulated ones' time and memory go.

#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "configs/jobs/experiment_reader.hpp"
#include "studies/simulations.hpp"
#include "studies/study.hpp"
#include "studies/training/first_table.hpp"
#include "studies/training/measured_steps.hpp"

namespace c3 { inline namespace studies {

/// What a step's communication is for, by the stream that it is on.
enum class StepTraffic { tensor, pipeline, data, context, experts };
inline constexpr std::size_t kStepTraffics = 5;

/// A simulated step, of an average GPU.
struct ClusterStep {
  Seconds time;
  double tokens_per_second = 0.0;  ///< of one GPU
  double mfu = 0.0;                ///< 1 is the peak
  Bytes in_use, reserved;          ///< of the stage that holds most
  Seconds bubble;                  ///< 0 without a pipeline
  /// In which such traffic was in flight and no kernel ran: messages of a pipeline wait for their senders.
  std::array<Seconds, kStepTraffics> exposed = {};
};

class ClusterStepsPart {
 public:
  /// Reads the experiment of each of \p steps. \throws ConfigError, IoError
  explicit ClusterStepsPart(std::vector<MeasuredStep> steps);
  void plan(SimulationJobs& jobs);
  /// Mean absolute and signed errors, of all rows and by table.
  StudySection errors(const PublishedFigures& published, const FirstTable& first) const;
  /// Time on most GPUs over time on fewest, where only replicas are added.
  StudySection scaling(const PublishedFigures& published) const;
  /// Of rows that differ in their recipe of precision alone, or in what the table changes with it: which is
  /// faster.
  StudySection precisions(const PublishedFigures& published) const;
  /// Of models with several layouts: how near the order of layouts is to the measured one.
  StudySection rankings(const PublishedFigures& published) const;
  /// How many rows lie in their intervals, and how wide these are.
  StudySection intervals(const PublishedFigures& published, const FirstTable& first) const;
  /// Every row: its error and what it is made of.
  StudySection rows(const PublishedFigures& published, const FirstTable& first) const;
  std::string rows_csv() const;

 private:
  struct Row {
    MeasuredStep of;
    ExperimentFile file;
    std::optional<ClusterStep> here = {};
    std::string why_not = {};           ///< it could not be simulated
    std::optional<Seconds> small = {};  ///< the step with fewer layers and micro-batches
    std::vector<Seconds> drawn = {};    ///< the same under draws of everything that is a range

    double error(Seconds time) const;  ///< of \p time [%]
    /// With an interval: in proportion to \p drawn over \p small. \pre here
    StepTime time() const;
  };

  std::vector<Row> rows_;
};

}}  // namespace c3::studies
