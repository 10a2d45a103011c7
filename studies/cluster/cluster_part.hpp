#pragma once
/// Measured steps of clusters beside simulated ones, and where the simulated ones' time and memory go.

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "studies/simulations.hpp"
#include "studies/study.hpp"
#include "studies/training/step_scores.hpp"

namespace c3 { inline namespace studies {

/// What a step's communication is for, by the stream that it is on.
enum class StepTraffic { tensor, pipeline, data, context, experts };
inline constexpr std::size_t kStepTraffics = 5;

/// Numbers of a simulated step, times in seconds of an average GPU; those behind the bubble in the order of
/// StepTraffic.
enum class ClusterNumber {
  tokens_per_second,  ///< of one GPU
  mfu,                ///< 1 is the peak
  in_use,             ///< bytes of the stage that holds most
  reserved,
  bubble,  ///< 0 without a pipeline
  tensor,  ///< in which such traffic was in flight and no kernel ran: messages wait for their senders
  pipeline,
  data,
  context,
  experts,
};
inline constexpr std::size_t kClusterNumbers = 10;

struct ClusterStep {
  Seconds time;
  std::vector<double> numbers;

  double operator[](ClusterNumber number) const { return numbers.at(static_cast<std::size_t>(number)); }
};

class ClusterStepsPart {
 public:
  explicit ClusterStepsPart(const std::vector<MeasuredStep>& steps);
  void plan(SimulationJobs& jobs);
  /// Mean absolute and signed errors, of all rows and by table.
  StudySection errors(const PublishedFigures& published) const;
  /// Time on most GPUs over time on fewest, where only replicas are added.
  StudySection scaling(const PublishedFigures& published) const;
  /// Compares rows that differ in their recipe of precision alone, or in what the table changes with it: which
  /// is faster.
  StudySection precisions(const PublishedFigures& published) const;
  /// Compares layouts of one model: how near their order is to the measured one.
  StudySection rankings(const PublishedFigures& published) const;
  /// How many rows lie in their intervals, and how wide these are.
  StudySection intervals(const PublishedFigures& published) const;
  /// Every row: its error and what it is made of.
  StudySection rows(const PublishedFigures& published) const;
  std::string rows_csv() const;

 private:
  struct Row {
    MeasuredStep reference;
    std::optional<ClusterStep> here = {};
    std::string why_not = {};           ///< it could not be simulated
    std::optional<Seconds> small = {};  ///< the step with fewer layers and micro-batches
    std::vector<Seconds> drawn = {};    ///< the same under draws of everything that is a range

    /// Time with its interval, in proportion to \p drawn over \p small. \pre here
    StepTime time() const;
  };

  std::vector<SimulatedStep> simulated() const;

  std::vector<Row> rows_;
};

}}  // namespace c3::studies
