#pragma once
/// Every number that is said of a strategy, with its name and unit: what tables of many runs have a column of.

#include <string>
#include <vector>

#include "workloads/execute/study.hpp"

namespace c3 {

struct SummaryNumber {
  std::string name;       ///< as the column of a result file's `summary` or `step`
  std::string units;      ///< UDUNITS; times are "us"
  std::string long_name;  ///< what it is
  double value = 0;
};

/// In the order of the printed tables. What is absent in \p result is absent here.
std::vector<SummaryNumber> summary_numbers(const StrategyResult& result);

/// What is known of a training step before it runs: its memory.
std::vector<SummaryNumber> memory_numbers(const StepFacts& facts);

}  // namespace c3
