#include "studies/conccl/scenario_shares.hpp"

#include <fmt/format.h>

#include "results/report/html.hpp"

namespace c3 { inline namespace studies {
namespace {

constexpr double kPercent = 100.0;

}  // namespace

std::vector<ScenarioShares> scenario_shares(const LadderCases& cases, std::size_t number) {
  std::vector<ScenarioShares> rows;
  for (std::size_t i = 0; i < cases.scenarios().size(); ++i) {
    const Scenario& scenario = cases.scenarios()[i];
    const LadderTimes& times = cases.times(number)[i];
    ScenarioShares row{.id = scenario.id,
                       .bound = std::string(name_of(scenario.bound)),
                       .length = std::string(name_of(scenario.length)),
                       .gemm = fmt::format("{} x {} x {}", scenario.gemm.m, scenario.gemm.n, scenario.gemm.k),
                       .collective = fmt::format("{} {} MiB", name_of(scenario.collective.kind),
                                                 short_number(scenario.collective.bytes.value / kMebi)),
                       .kernel_alone = times.kernel,
                       .collective_alone = times.collective,
                       .shares = {}};
    for (const StudyStrategy& strategy : kStudyStrategies) {
      const PairSpeedup pair = study_speedup(scenario, times, strategy);
      row.ideal = pair.ideal;
      row.shares.push_back(kPercent * pair.share());
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

}}  // namespace c3::studies
