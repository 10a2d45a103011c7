#pragma once
/// What mechanisms do to the ladder, alone and together: hypotheses put in, measured ones taken away.

#include <array>
#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "studies/conccl/ladder_cases.hpp"
#include "studies/hypotheses.hpp"
#include "studies/study.hpp"

namespace c3 { inline namespace studies {

class HypothesesPart {
 public:
  /// \p scenarios must outlive it; \p file is read anew for each mechanism, with what it sets.
  HypothesesPart(const std::vector<Scenario>& scenarios, const std::filesystem::path& file);

  void plan(SimulationJobs& jobs) { cases_.plan(jobs); }

  /// Complete when the jobs are done. Never judged.
  StudyReport sections(const PublishedFigures& published) const;

 private:
  struct Row {
    Hypothesis mechanism;
    std::size_t number = 0;  ///< of its case
  };
  double share(std::size_t number, std::string_view strategy) const;  ///< mean, in percent
  double largest_speedup(std::size_t number) const;
  StudyLine line(const PublishedFigures& published, const Row& row) const;
  StudyLine change(const PublishedFigures& published, const Row& row) const;

  LadderCases cases_;  ///< case 0: all as in the ladder
  std::vector<Row> rows_;
};

}}  // namespace c3::studies
