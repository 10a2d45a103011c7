#include "studies/conccl/ladder_part.hpp"

#include <fmt/format.h>

#include "base/percent.hpp"
#include "workloads/analysis/study.hpp"

namespace c3 { inline namespace studies {

LadderPart::LadderPart(const std::vector<Scenario>& scenarios, const DrawnExperiment& make, LadderSize size)
    : size_(size), cases_(scenarios, all_rungs()) {
  for (int seed = 0; seed < size.seeds; ++seed)
    cases_.add(make(std::nullopt), static_cast<std::uint64_t>(seed));
  for (int draw = 0; draw < size.draws; ++draw)
    cases_.add(make(static_cast<std::uint64_t>(draw)), static_cast<std::uint64_t>(draw));
}

Found LadderPart::found(const std::function<NamedNumbers(std::size_t number)>& numbers) const {
  const StudyConditions conditions = conditions_of(cases_.base(0));
  Found found;
  for (std::size_t number = 0; number < cases_.size(); ++number)
    (number < static_cast<std::size_t>(size_.seeds) ? found.nominal : found.draws)
        .push_back(numbers ? numbers(number) : cases_.numbers(number));
  found.texts = {
      {"scenarios", std::to_string(cases_.scenarios().size())},
      {"conditions",
       fmt::format(
           "{}; HBM arbitration {}, dispatch {} unless said; nominal: mean of {} seeds{}.", conditions.system,
           name_of(conditions.hbm_arbitration), name_of(conditions.dispatch_policy), size_.seeds,
           size_.draws > 0 ? fmt::format("; here: median of {} draws of all priors", size_.draws) : "")}};
  return found;
}

std::string_view LadderPart::row_columns() {
  return "role,draw,seed,scenario,bound,class,model,projection,m,n,k,traffic,collective,bytes,gemm_alone_us,"
         "collective_alone_us,strategy,cus,time_us,speedup,ideal_speedup,share_percent";
}

std::string LadderPart::rows_as_csv(std::string_view role) const {
  constexpr double kMicro = 1e6;
  std::string text;
  for (std::size_t number = 0; number < cases_.size(); ++number) {
    const bool is_draw = number >= static_cast<std::size_t>(size_.seeds);
    const std::string of_case =
        fmt::format("{},{},{}", role, is_draw ? std::to_string(cases_.seed(number)) : "", cases_.seed(number));
    for (std::size_t i = 0; i < cases_.scenarios().size(); ++i) {
      const Scenario& scenario = cases_.scenarios()[i];
      const LadderTimes& times = cases_.times(number)[i];
      const std::string of_pair =
          fmt::format("{},{},{},{},{},{},{},{},{},{},{},{:.0f},{:.3f},{:.3f}", of_case, scenario.id,
                      name_of(scenario.bound), name_of(scenario.length), scenario.model, scenario.projection,
                      scenario.gemm.m, scenario.gemm.n, scenario.gemm.k, name_of(scenario.gemm.traffic),
                      name_of(scenario.collective.kind), scenario.collective.bytes.value,
                      times.kernel.value * kMicro, times.collective.value * kMicro);
      for (const StudyStrategy& strategy : kStudyStrategies) {
        const PairSpeedup pair = study_speedup(scenario, times, strategy);
        const Seconds together = (times.kernel + times.collective) / pair.speedup;
        text += fmt::format("{},{},{},{:.3f},{:.6f},{:.6f},{:.3f}\n", of_pair, strategy.id,
                            times.cus[index_of(strategy.rung)], together.value * kMicro, pair.speedup,
                            pair.ideal, kPercent * pair.share());
      }
    }
  }
  return text;
}

}}  // namespace c3::studies
