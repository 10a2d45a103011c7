#include "studies/conccl/heuristics_part.hpp"

#include <algorithm>

#include "base/percent.hpp"
#include "workloads/analysis/heuristics.hpp"

namespace c3 { inline namespace studies {
namespace {

constexpr double kAlike = 0.01;  // of the best time: what is closer counts as the best

NamedNumbers numbers_of(const PairRegret& regret) {
  return {{"sp", kPercent * regret.sp},
          {"rp", kPercent * regret.rp},
          {"rp_masks", kPercent * regret.rp_masks},
          {"of_all", kPercent * regret.of_all},
          {"sp_right", regret.sp < kAlike ? kPercent : 0.0},
          {"rp_right", regret.rp_masks < kAlike ? kPercent : 0.0},
          {"cus", regret.cus},
          {"best_cus", regret.best_cus}};
}

bool launches_collective(const Experiment& base, const Scenario& scenario) {
  const Experiment pair = experiment_of(base, scenario);
  const std::optional<StreamPair> streams = pair_of(pair.program);
  return streams && launched_first(pair) == streams->collective;
}

}  // namespace

PairRegret regret_of(const LadderTimes& times, bool launches_collective) {
  const auto time = [&](Rung rung) { return times[rung].value(); };
  PairRegret regret{.cus = times.cus[index_of(Rung::rp_lookup)]};
  Rung best = Rung::base;
  for (const Rung rung : {Rung::sp, Rung::rp, Rung::sp_rp}) {
    if (time(rung) < time(best)) best = rung;
  }
  const auto lost = [](Seconds picked, Seconds least) { return picked / least - 1.0; };
  const Seconds by_order = time(launches_collective ? Rung::sp : Rung::base);
  const Seconds by_mask = time(Rung::rp_lookup);
  regret.sp = lost(by_order, time(best));
  regret.rp = lost(by_mask, time(best));
  regret.rp_masks = lost(by_mask, time(Rung::rp));
  regret.of_all =
      lost(std::min(by_order, by_mask), std::min({time(best), time(Rung::conccl), time(Rung::conccl_8)}));
  regret.best_cus = times.cus[index_of(best)];
  return regret;
}

void add_regrets(FoundNumbers& found, const LadderPart& ladder) {
  const LadderCases& cases = ladder.cases();
  const std::vector<Scenario>& scenarios = cases.scenarios();
  std::vector<bool> collective_first;
  for (const Scenario& scenario : scenarios)
    collective_first.push_back(launches_collective(cases.base(0), scenario));
  found["heuristics"] = ladder.found([&](std::size_t number) {
    NamedNumbers means;
    for (std::size_t i = 0; i < scenarios.size(); ++i)
      for (const auto& [name, percent] : numbers_of(regret_of(cases.times(number)[i], collective_first[i])))
        means[name] += percent / static_cast<double>(scenarios.size());
    return means;
  });
  for (std::size_t i = 0; i < scenarios.size(); ++i)
    found["scenario " + scenarios[i].id] = {
        .nominal = {numbers_of(regret_of(cases.times(0)[i], collective_first[i]))},
        .texts = {{"first", collective_first[i] ? "collective" : "GEMM"}}};
}

}}  // namespace c3::studies
