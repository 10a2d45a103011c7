#pragma once
/// The parts of the study of scaling laws.

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "configs/jobs/experiment_reader.hpp"
#include "studies/simulations.hpp"
#include "studies/study.hpp"
#include "workloads/analysis/projection.hpp"

namespace c3 { inline namespace studies {

/// A model on GPUs.
struct LawPoint {
  std::int64_t hidden = 0, sequence = 0, batch = 0, tensor_parallel = 1;
  int faster = 1;  ///< times the flops and HBM bandwidth of an A100

  bool operator==(const LawPoint&) const = default;
};

/// Three layers of \p point with two data-parallel replicas.
Experiment experiment_of(const LawPoint& point);

/// Whether memory requires so high a degree of tensor parallelism.
enum class Need {
  none,
  required,
  capped,  ///< it would require more, which no node has GPUs for
};

/// Where the time of a step goes, by operators that take turns.
struct LawShares {
  Seconds compute;     ///< kernels of the passes: without the optimizer
  Seconds backward;    ///< of those, of backward passes
  Seconds serialized;  ///< collectives of tensor parallelism
  Seconds gradients;   ///< collectives of data parallelism

  double serialized_share() const { return serialized / (compute + serialized); }
  double overlapped_share() const { return gradients / backward; }
};
LawShares shares_of(const ProjectedStep& step);

/// How far what a step moves and computes is from its closed forms.
struct LawDeviations {
  double edge = 0.0;     ///< flops over bytes of serialised collectives, relative
  double slack = 0.0;    ///< backward flops of products with weights over bytes of these weights' gradients
  double buckets = 0.0;  ///< bytes of gradients reduced beyond those
};
LawDeviations deviations_of(const LawPoint& point, const Experiment& step);

/// Points, projected and simulated.
class PointsPart {
 public:
  /// \param file of columns hidden, sequence, batch, tensor_parallel, needed (0, 1, 2: see Need). \throws
  /// ConfigError, IoError
  explicit PointsPart(const std::filesystem::path& file);

  void plan(SimulationJobs& jobs);
  StudyReport sections(const PublishedFigures& published) const;
  std::string rows_csv() const;

 private:
  struct Row {
    LawPoint point;
    Need need = Need::none;
    Seconds simulated, alone, projected, from_large;
    LawShares shares;                                     ///< of operators alone
    double exposed_alone = 0.0, exposed_simulated = 0.0;  ///< shares of the step
    LawDeviations off;
    double operators = 0.0;
    std::vector<double> errors;  ///< of the projection, by rule, against operators alone
  };
  struct Range;
  static std::vector<double> values_of(const LawPoint& point);
  static void take(Row& row, const std::vector<double>& values);
  StudySection projections(const PublishedFigures& published) const;
  StudySection laws(const PublishedFigures& published) const;
  StudySection communication(const PublishedFigures& published) const;

  std::vector<Row> rows_;
  double profiled_ = 0.0;  ///< operators of the baseline that were timed
  Seconds baseline_;       ///< its step, operators alone
};

/// Measured tables, projected from one row of each by the same rules.
StudySection tables_section(const std::filesystem::path& data, const PublishedFigures& published);

}}  // namespace c3::studies
