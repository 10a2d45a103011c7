#pragma once
/// Measured steps of GPTs on the GPUs of one node, each beside its simulation.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "studies/simulations.hpp"
#include "studies/study.hpp"
#include "workloads/experiment.hpp"

namespace c3 { inline namespace studies {

struct MeasuredGpt {
  std::int64_t hidden = 0, heads = 0, layers = 0, sequence = 0;
  std::int64_t global_batch = 0, micro_batch = 0;
  int gpus = 0, tensor_parallel = 0;
  Seconds measured;

  std::string name() const;  ///< "h1024 l12 tp2 dp1 mb4 gb16"
  std::int64_t micro_batches() const { return global_batch / (micro_batch * (gpus / tensor_parallel)); }
};

struct SimulatedGpt {
  MeasuredGpt of;
  std::optional<Seconds> here = {};  ///< absent: could not be simulated
};

/// Rows without a pipeline, whose ranks and batches multiply up, of a table with the columns GPUs, global
/// batch, micro batch, hidden size, attention heads, layers, sequence length, tensor, data and pipeline
/// parallelism, iteration time (ms). What is wrong with others is added to \p broken. \throws ConfigError,
/// IoError
std::vector<MeasuredGpt> read_measured_gpts(const std::filesystem::path& file,
                                            std::vector<std::string>& broken);

/// \p frame with a row's model, ranks and batches.
Experiment step_of(const MeasuredGpt& row, const Experiment& frame);

class MeasuredGptsPart {
 public:
  /// \param frame with nominal host times \param slow_host with the longest that are assumed; absent: rows are
  /// not simulated with them
  MeasuredGptsPart(const std::vector<MeasuredGpt>& rows, Experiment frame, std::optional<Experiment> slow_host);
  void plan(SimulationJobs& jobs);
  /// Mean absolute error over all, and by what a row is bound by and how it is spread.
  StudySection summary(const PublishedFigures& published) const;
  /// The fifth of the rows with the largest error.
  StudySection worst(const PublishedFigures& published) const;
  std::vector<SimulatedGpt> results() const;
  /// CPU time of each row that could be simulated [s].
  std::vector<double> costs() const;
  /// Lines of StudyOutcome::rows_csv (training_study.cpp).
  std::string rows_csv() const;

 private:
  struct Row {
    MeasuredGpt of;
    std::optional<Seconds> here = {}, slow_host = {}, kernels = {}, exposed = {};
    double cpu = 0.0;  ///< s, with `here`
    double error() const { return *here / of.measured - 1.0; }
    /// The GPU has nothing to do for a tenth of the step.
    bool waits_for_host() const { return *kernels + *exposed < 0.9 * *here; }
  };

  std::vector<Row> rows_;
  Experiment frame_;
  std::optional<Experiment> slow_host_;
};

}}  // namespace c3::studies
