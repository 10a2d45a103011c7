#pragma once
/// The parts of the study of scaling laws.

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "configs/jobs/experiment_reader.hpp"
#include "studies/simulations.hpp"
#include "studies/study.hpp"

namespace c3 { inline namespace studies {

/// A model on GPUs.
struct LawPoint {
  std::int64_t hidden = 0, sequence = 0, batch = 0, tensor_parallel = 1;
  int faster = 1;  ///< times the flops and HBM bandwidth of an A100

  bool operator==(const LawPoint&) const = default;
};

/// Three layers of \p point with two data-parallel replicas.
Experiment experiment_of(const LawPoint& point);

/// How far what a step moves and computes is from its closed forms.
struct LawDeviations {
  double edge = 0.0;     ///< flops over bytes of serialised collectives, relative
  double slack = 0.0;    ///< backward flops of products with weights over bytes of these weights' gradients
  double buckets = 0.0;  ///< bytes of gradients reduced beyond those
};
LawDeviations deviations_of(const LawPoint& point, const Experiment& step);

/// Whether memory requires so high a degree of tensor parallelism.
enum class Need {
  none,
  required,
  capped,  ///< it would require more, which no node has GPUs for
};

/// What is known of a point's step. Times are in seconds.
enum class LawNumber : std::uint8_t {
  simulated,
  by_operators,  ///< each timed alone
  projected,
  from_large,  ///< projected from the larger baseline
  serialized,  ///< of its passes with operators alone, the share of tensor parallelism's collectives
  overlapped,  ///< collectives of data parallelism over the backward passes, with operators alone
  exposed_alone,
  exposed_simulated,
  edge,
  slack,
  buckets,
  operators,
  products,  ///< error of the projection of products, of other kernels, of collectives, against each alone
  vectors,
  collectives,
};
inline constexpr std::size_t kLawNumbers = 15;

/// Points, projected and simulated.
class PointsPart {
 public:
  /// \param file of columns hidden, sequence, batch, tensor_parallel, needed (0, 1, 2: see Need). \throws
  /// ConfigError, IoError
  explicit PointsPart(const std::filesystem::path& file);

  void plan(SimulationJobs& jobs);
  StudyReport sections(const PublishedFigures& published) const;
  std::string rows_csv() const;

  struct Row {
    LawPoint point;
    Need need = Need::none;
    std::array<double, kLawNumbers> numbers = {};

    double operator[](LawNumber number) const { return numbers.at(static_cast<std::size_t>(number)); }
  };

 private:
  StudySection projections(const PublishedFigures& published) const;
  StudySection laws(const PublishedFigures& published) const;
  StudySection communication(const PublishedFigures& published) const;

  std::vector<Row> rows_;
  double profiled_ = 0.0;  ///< operators of the baseline that were timed
  double baseline_ = 0.0;  ///< its step, operators alone [s]
};

/// Measured tables, projected from one row of each by the same rules.
StudySection tables_section(const std::filesystem::path& data, const PublishedFigures& published);

}}  // namespace c3::studies
