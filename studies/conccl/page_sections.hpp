#pragma once
/// The parts of the page, each a <section>, or nothing where there is nothing to show.

#include <string>
#include <vector>

#include "studies/conccl/ladder_cases.hpp"
#include "studies/study.hpp"

namespace c3 { inline namespace studies {

/// A row of the table behind the averages.
struct ScenarioShares {
  std::vector<std::string> cells;  ///< what it is, and its times alone
  std::vector<double> shares;      ///< of the ideal, percent, in the order of kStudyStrategies
};
/// Shares of the first case.
std::vector<ScenarioShares> scenario_shares(const LadderCases& cases);

/// Added to kReportStyle.
extern const char* const kStudyPageStyle;

/// Bars of the mean shares with the draws' 5-95 %, the targets, and what was published.
std::string ladder_section(const StudyReport& report);
/// A row a scenario, its shares shaded.
std::string scenarios_section(const std::vector<ScenarioShares>& scenarios);
/// How far one prior at the ends of its range moves the shares.
std::string tornado_section(const StudyReport& report);

/// Lines of \p report whose figure's id is \p id or begins with it and a dot.
std::vector<const StudyLine*> lines_of(const StudyReport& report, std::string_view id);

}}  // namespace c3::studies
