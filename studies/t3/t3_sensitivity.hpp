#pragma once
/// What T3's speedups depend on: one prior at a time.

#include <deque>
#include <filesystem>
#include <string>
#include <vector>

#include "studies/study.hpp"
#include "studies/t3/sublayer_results.hpp"

namespace c3 { inline namespace studies {

class T3Sensitivity {
 public:
  /// On the main sub-layers among \p sublayers, which must outlive it, as \p nominal does. \p file is read anew
  /// for each row, with what the row sets.
  T3Sensitivity(std::span<const Sublayer> sublayers, const std::filesystem::path& file,
                const SublayerTable& nominal);

  void plan(SimulationJobs& jobs);
  StudySection section(const PublishedFigures& published) const;

 private:
  struct Row {
    std::string id, label;
    SublayerTable table;
  };
  std::vector<Sublayer> main_;
  std::deque<Row> rows_;
  const SublayerTable& nominal_;
};

}}  // namespace c3::studies
