#pragma once
/// The tables of measured collectives: each on its system, then all together.

#include <deque>
#include <string>
#include <vector>

#include "studies/collectives/scores.hpp"
#include "studies/collectives/table_run.hpp"
#include "studies/study.hpp"

namespace c3 { inline namespace studies {

class CollectivesPart {
 public:
  /// The tables of \p file. \throws ConfigError when none can be run on the system of \p entry
  void add(const HeadedTable& file, const MapEntry& entry);
  void plan(SimulationJobs& jobs);
  bool empty() const { return tables_.empty(); }

  /// What could not be read or run, each with its place. Complete when the jobs are done.
  std::vector<std::string> broken() const;
  /// Every row of every table, as CSV with a header.
  std::string rows_as_csv() const;
  StudyReport sections(const PublishedFigures& published) const;

 private:
  StudySection times(const PublishedFigures& published) const;
  StudySection peaks(const PublishedFigures& published) const;
  StudySection overall(const PublishedFigures& published, bool of_setting) const;
  /// What the libraries' choices cost, where a map leaves the choice to them.
  StudySection regrets(const PublishedFigures& published) const;

  std::deque<TableRun> tables_;  // jobs keep references
  std::vector<std::string> broken_;
};

}}  // namespace c3::studies
