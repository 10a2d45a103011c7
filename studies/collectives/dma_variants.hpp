#pragma once
/// Collectives on copy engines against DMA-Latte's table: the speed-up of each variant over a copy for each
/// peer.

#include <cstddef>
#include <string>
#include <vector>

#include "collectives/collective_run.hpp"
#include "collectives/spec.hpp"
#include "studies/study.hpp"

namespace c3 { inline namespace studies {

/// Eight MI300X fed by one host thread, as in that benchmark. Timed from the first command, prelaunched from
/// the trigger, to the last signal that the host has seen.
class DmaVariants {
 public:
  /// \p published has rows `dma.COLLECTIVE.SIZE.VARIANT`, VARIANT as in `bcst_prelaunch`, and
  /// `dma.COLLECTIVE.limit.VARIANT`; other rows are not asked for. \throws std::logic_error for a row that is
  /// neither, ConfigError when the system's preset cannot be read.
  explicit DmaVariants(PublishedFigures published);

  /// Simulations, to be run in any order and any process, each followed by take() here.
  std::size_t runs() const { return runs_.size(); }
  Seconds run(std::size_t index) const;
  void take(std::size_t index, Seconds time) { runs_[index].time = time; }

  StudySection section() const;

 private:
  struct Run {
    CollectiveKind kind;
    Bytes bytes;
    DmaOptions dma;
    Seconds time = {};
    bool operator==(const Run&) const = default;
  };
  struct Cell {
    PublishedFigure of;
    std::size_t run, baseline;  ///< positions in runs_
  };

  std::size_t position_of(const Run& run);
  void add(const PublishedFigure& of);

  ClusterSpec cluster_;
  std::vector<Run> runs_;
  std::vector<Cell> cells_;
};

/// All of it, in this process: studies/collectives/dma_latte.csv.
StudySection dma_variants(const StudyProgress& progress);

}}  // namespace c3::studies
