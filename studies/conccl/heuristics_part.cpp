#include "studies/conccl/heuristics_part.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "workloads/analysis/heuristics.hpp"

namespace c3 { inline namespace studies {
namespace {

constexpr double kPercent = 100.0;
constexpr double kAlike = 0.01;  // of the best time: what is closer counts as the best

double percent_of(double fraction) { return kPercent * fraction; }

bool launches_collective(const Experiment& base, const Scenario& scenario) {
  const Experiment pair = experiment_of(base, scenario);
  const std::optional<StreamPair> streams = pair_of(pair.program);
  return streams && launched_first(pair) == streams->collective;
}

}  // namespace

PairRegret regret_of(const LadderTimes& times, bool launches_collective) {
  const auto time = [&](Rung rung) { return times[rung].value(); };
  PairRegret regret{.launches_collective = launches_collective, .cus = times.cus[index_of(Rung::rp_lookup)]};
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

HeuristicsPart::HeuristicsPart(const LadderPart& ladder) : ladder_(ladder) {
  for (const Scenario& scenario : ladder.cases().scenarios())
    collective_first_.push_back(launches_collective(ladder.cases().base(0), scenario));
}

std::vector<PairRegret> HeuristicsPart::regrets(std::size_t number) const {
  std::vector<PairRegret> regrets;
  for (std::size_t i = 0; i < collective_first_.size(); ++i)
    regrets.push_back(regret_of(ladder_.cases().times(number)[i], collective_first_[i]));
  return regrets;
}

/// The mean over scenarios: the median of draws, or the mean of seeds without.
StudyLine HeuristicsPart::summary(const PublishedFigures& published, std::string_view id,
                                  std::string_view label, OfPair of_pair) const {
  const std::size_t seeds = ladder_.cases().size() - static_cast<std::size_t>(ladder_.draws());
  LadderValue mean;
  for (std::size_t number = 0; number < ladder_.cases().size(); ++number) {
    double sum = 0.0;
    const std::vector<PairRegret> all = regrets(number);
    for (const PairRegret& each : all)
      sum += of_pair(each) / static_cast<double>(all.size());
    if (number < seeds)
      mean.nominal += sum / static_cast<double>(seeds);
    else
      mean.by_draw.push_back(sum);
  }
  StudyLine line{.figure = {.of = published.find(id), .simulated = mean.judged()}, .label = std::string(label)};
  if (const std::optional<DrawnValue> drawn = over_draws(mean.by_draw)) {
    line.figure.p5 = drawn->p5;
    line.figure.p95 = drawn->p95;
  }
  line.beside = {{"nominal", mean.nominal}};
  return line;
}

StudySection HeuristicsPart::means(const PublishedFigures& published) const {
  StudySection section{
      .heading = "Runtime heuristics: time that their pick loses, mean of the scenarios",
      .lines = {},
      .notes = {"SP's rule launches what has fewer work groups first; RP's rule takes the mask "
                "with the least max(G(k), C(k)) of isolated times."},
      .value = "regret"};
  const auto add = [&](std::string_view id, std::string_view label, OfPair of_pair) {
    section.lines.push_back(summary(published, id, label, of_pair));
  };
  add("regret.sp", "SP's rule, against the best strategy on CUs",
      [](const PairRegret& of) { return percent_of(of.sp); });
  add("regret.rp", "RP's rule, against the best strategy on CUs",
      [](const PairRegret& of) { return percent_of(of.rp); });
  add("regret.rp_masks", "RP's rule, against the best mask",
      [](const PairRegret& of) { return percent_of(of.rp_masks); });
  add("regret.of_all", "the better pick of both, against all strategies",
      [](const PairRegret& of) { return percent_of(of.of_all); });
  add("regret.sp_right", "scenarios where SP's rule is within 1 %",
      [](const PairRegret& of) { return of.sp < kAlike ? kPercent : 0.0; });
  add("regret.rp_right", "scenarios where RP's rule finds a mask within 1 %",
      [](const PairRegret& of) { return of.rp_masks < kAlike ? kPercent : 0.0; });
  return section;
}

StudySection HeuristicsPart::scenarios(const PublishedFigures& published) const {
  StudySection section{
      .heading = "The same by scenario, nominal values and the first seed",
      .lines = {},
      .notes = {"Best: CUs of the collective under the best strategy on CUs; 0: without a mask."},
      .value = "SP's rule"};
  const std::vector<PairRegret> all = regrets(0);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const PairRegret& of = all[i];
    section.lines.push_back(
        {.figure = {.of = published.find("regret.scenario." + ladder_.cases().scenarios()[i].id),
                    .simulated = percent_of(of.sp)},
         .label = fmt::format("{}: {} first", ladder_.cases().scenarios()[i].id,
                              of.launches_collective ? "collective" : "GEMM"),
         .beside = {{"RP's rule", percent_of(of.rp)},
                    {"its mask [CUs]", of.cus},
                    {"against the best mask", percent_of(of.rp_masks)},
                    {"best [CUs]", of.best_cus},
                    {"better of both against all", percent_of(of.of_all)}}});
  }
  return section;
}

StudyReport HeuristicsPart::sections(const PublishedFigures& published) const {
  return {means(published), scenarios(published)};
}

}}  // namespace c3::studies
