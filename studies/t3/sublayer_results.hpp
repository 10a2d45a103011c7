#pragma once
/// Sub-layers and what was simulated of them, under several beliefs of what the machine is.

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "studies/simulations.hpp"
#include "studies/t3/sublayer_run.hpp"
#include "studies/t3/sublayers.hpp"

namespace c3 { inline namespace studies {

/// A sub-layer and what came of it.
struct SublayerResult {
  const Sublayer* sublayer = nullptr;
  SublayerTimes times;
};

/// Summary of a value over some sub-layers; nothing without any.
struct Summary {
  double geomean = 0.0, most = 0.0;
  std::size_t count = 0;
};
using SublayerValue = std::function<double(const SublayerTimes&)>;
using SublayerFilter = std::function<bool(const Sublayer&)>;
Summary summarise(std::span<const SublayerResult> results, const SublayerFilter& keep,
                  const SublayerValue& value);

SublayerFilter in_group(std::string group);

/// What stands beside a published figure, with how many \p rows it is of.
StudyLine line_of(const PublishedFigures& published, const std::string& id, std::string label, double value,
                  std::size_t rows = 0);

/// Times of all \p sublayers on one machine. Those with the same GEMM on as many GPUs are simulated once.
class SublayerTable {
 public:
  /// \p sublayers must outlive it.
  SublayerTable(std::span<const Sublayer> sublayers, Experiment base);

  void plan(SimulationJobs& jobs);
  const std::vector<SublayerResult>& results() const { return results_; }
  const Experiment& base() const { return base_; }

 private:
  std::vector<SublayerResult> results_;
  Experiment base_;
};

}}  // namespace c3::studies
