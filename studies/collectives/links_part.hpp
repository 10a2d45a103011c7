#pragma once
/// Bandwidth between every two GPUs of a node, as TransferBench prints it: a matrix, sources down, destinations
/// across.

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "collectives/spec.hpp"
#include "importers/collective_times/headed_table.hpp"
#include "studies/collectives/systems_map.hpp"
#include "studies/simulations.hpp"
#include "studies/study.hpp"

namespace c3 { inline namespace studies {

/// Whether \p file is such a matrix: it has columns `src` and `gpu0`.
bool is_link_matrix(const HeadedTable& file);

/// Copies by kernels, without a library's protocol: what the links carry.
class LinksPart {
 public:
  /// The map's `op` says what was measured: `one_way`, one copy at a time, or `all_at_once`. Cells of a GPU
  /// with itself, of CPUs, and without a number are not read. \throws ConfigError
  void add(const HeadedTable& file, const MapEntry& entry);
  void plan(SimulationJobs& jobs);
  std::vector<std::string> broken() const { return broken_; }
  StudyReport sections(const PublishedFigures& published) const;

 private:
  struct Pair {
    int from = 0;
    int to = 0;
    BytesPerSecond measured;
    SimulatedTime simulated = {};
  };
  struct Matrix {
    std::string name;
    bool at_once = false;
    bool sets_parameters = false;
    std::shared_ptr<const ClusterSpec> cluster;
    std::vector<Pair> pairs = {};
  };

  std::deque<Matrix> matrices_;
  std::vector<std::string> broken_;
};

}}  // namespace c3::studies
