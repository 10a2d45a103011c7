#pragma once
/// What the shares depend on: ranks over the draws, one prior at a time, and one choice at a time.

#include <cstddef>
#include <string>
#include <vector>

#include "configs/jobs/experiment_reader.hpp"
#include "studies/conccl/ladder_cases.hpp"
#include "studies/study.hpp"

namespace c3 { inline namespace studies {

/// One scenario of each bound and class, all-gather and all-to-all in turn: the first of each in the list.
std::vector<Scenario> stratified(const std::vector<Scenario>& scenarios);

class SensitivityPart {
 public:
  /// One at a time on \p scenarios, which are kept; \p file must outlive it.
  SensitivityPart(std::vector<Scenario> scenarios, const ExperimentFile& file);
  SensitivityPart(const SensitivityPart&) = delete;  // cases_ refers to scenarios_
  SensitivityPart& operator=(const SensitivityPart&) = delete;
  SensitivityPart(SensitivityPart&&) = delete;
  SensitivityPart& operator=(SensitivityPart&&) = delete;
  ~SensitivityPart() = default;

  void plan(SimulationJobs& jobs) { cases_.plan(jobs); }

  /// Complete when the jobs are done. \p draws are those of the ladder, see LadderCases::numbers.
  StudyReport sections(const PublishedFigures& published, const std::vector<NamedNumbers>& draws) const;

 private:
  /// A prior at its ends: cases, 0 where an end is the nominal value.
  struct Swing {
    NamedRange range;
    std::size_t low = 0, high = 0;
  };
  struct Choice {
    std::string label;
    std::size_t number = 0;
  };

  std::size_t add(Experiment experiment);  ///< \returns its case: 0 for one like the nominal one
  double change(std::size_t number, const StudyStrategy& strategy) const;  ///< of the mean share, in points
  double largest_change(const Swing& swing) const;                         ///< of any strategy, in points

  StudySection ranks(const PublishedFigures& published, const std::vector<NamedNumbers>& draws) const;
  StudyLine line(const PublishedFigure& reference, const Swing& swing) const;
  StudySection tornado(const PublishedFigures& published) const;
  StudySection candidates(const PublishedFigures& published) const;
  StudySection choices(const PublishedFigures& published) const;

  std::vector<Scenario> scenarios_;
  const ExperimentFile& file_;
  LadderCases cases_;  ///< case 0 is the nominal one
  std::vector<Swing> swings_;
  std::vector<Choice> choices_;
};

}}  // namespace c3::studies
