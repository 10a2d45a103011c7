#pragma once
/// The tables of measured collectives, each on its system.

#include <deque>
#include <string>
#include <vector>

#include "studies/collectives/table_run.hpp"
#include "studies/collectives/table_sections.hpp"
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
  StudyReport sections(const PublishedFigures& published) const { return table_sections(tables_, published); }

 private:
  std::deque<TableRun> tables_;  // jobs keep references
  std::vector<std::string> broken_;
};

}}  // namespace c3::studies
