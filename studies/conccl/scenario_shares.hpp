#pragma once
/// What each strategy makes of each scenario: the table behind the averages.

#include <string>
#include <vector>

#include "studies/conccl/ladder_cases.hpp"

namespace c3 { inline namespace studies {

struct ScenarioShares {
  std::string id, bound, length, gemm, collective;
  Seconds kernel_alone, collective_alone;
  double ideal = 1.0;          ///< speedup
  std::vector<double> shares;  ///< of the ideal, percent, in the order of kStudyStrategies
};

/// Of the case \p number.
std::vector<ScenarioShares> scenario_shares(const LadderCases& cases, std::size_t number);

}}  // namespace c3::studies
