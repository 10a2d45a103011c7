#pragma once
/// Bytes at HBM of T3's study, and the split of CUs between a GEMM and an all-reduce.

#include <array>
#include <vector>

#include "studies/study.hpp"
#include "studies/t3/sublayer_results.hpp"

namespace c3 { inline namespace studies {

/// Simulates what SublayerTable does not: traffic of the main sub-layers, GEMMs on fewer CUs of all.
class TrafficPart {
 public:
  /// \p table must outlive it.
  explicit TrafficPart(const SublayerTable& table) : table_(table), rows_(table.results().size()) {}

  void plan(SimulationJobs& jobs);
  /// Complete when the jobs are done, and those of the table.
  StudySection movement(const PublishedFigures& published) const;
  /// The same by class, as shares of what Sequential moves.
  StudySection classes(const PublishedFigures& published) const;
  StudySection split(const PublishedFigures& published) const;

 private:
  struct Row {
    std::array<HbmTraffic, 2> traffic;  ///< sequential, T3-MCA; of main sub-layers
    std::array<Seconds, 2> gemm;        ///< with 8 and with 16 CUs fewer
  };
  const SublayerTable& table_;
  std::vector<Row> rows_;  ///< by result of the table
};

}}  // namespace c3::studies
