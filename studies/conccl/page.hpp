#pragma once
/// The study as one page: the ladder with what was published, what each side does alone, every scenario, and
/// what the shares depend on. No network, no scripts.

#include <string>
#include <vector>

#include "results/report/curve_plot.hpp"
#include "studies/conccl/page_sections.hpp"
#include "studies/study.hpp"

namespace c3 { inline namespace studies {

struct StudyPage {
  std::string conditions;  ///< under which it was simulated: a sentence
  StudyReport report;      ///< of all parts: bars are drawn of the lines of known ids
  std::vector<CurvePlot> plots;
  std::vector<ScenarioShares> scenarios;
};

std::string study_page(const StudyPage& page);

}}  // namespace c3::studies
