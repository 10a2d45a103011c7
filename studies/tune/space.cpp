#include "studies/tune/space.hpp"

#include <algorithm>

#include "base/cpu_clock.hpp"
#include "configs/jobs/sweep_positions.hpp"
#include "configs/toml/config_error.hpp"
#include "engine/errors.hpp"

namespace c3 { inline namespace studies {
namespace {

/// What a job hands over: numbers only.
std::vector<double> values_of(const MeasuredCandidate& its) {
  return {its.reading,
          its.looking,
          its.simulating,
          its.is_sound ? 1.0 : 0.0,
          static_cast<double>(its.facts.size.tokens),
          static_cast<double>(its.facts.size.gpus),
          its.facts.needed.value,
          its.facts.fits ? 1.0 : 0.0,
          its.facts.bound.time.value,
          its.facts.estimate.time.value,
          its.time.value_or(Seconds{}).value};
}

MeasuredCandidate candidate_of(const std::vector<double>& values) {
  MeasuredCandidate its{
      .reading = values[0],
      .looking = values[1],
      .simulating = values[2],
      .facts = {.size = {.tokens = static_cast<std::int64_t>(values[4]), .gpus = static_cast<int>(values[5])},
                .needed = Bytes{values[6]},
                .fits = values[7] > 0.0,
                .bound = {.time = Seconds{values[8]}},
                .estimate = {.time = Seconds{values[9]}}},
      .is_sound = values[3] > 0.0};
  if (values[10] > 0.0) its.time = Seconds{values[10]};
  return its;
}

Seconds fastest(const StudyResult& result) {
  Seconds least = result.strategies.front().time;
  for (const StrategyResult& strategy : result.strategies)
    least = std::min(least, strategy.time);
  return least;
}

}  // namespace

MeasuredSpace::MeasuredSpace(const std::filesystem::path& file)
    : file_(TuneFile::load(file)),
      positions_(positions_of(file_.space)),
      candidates_(file_.space.points().size()) {}

void MeasuredSpace::plan(SimulationJobs& jobs) {
  for (std::size_t point = 0; point < candidates_.size(); ++point)
    jobs.push_back({.run = [this, point] { return SimulatedTime{.values = values_of(measure(point))}; },
                    .take =
                        [this, point](const SimulatedTime& its) {
                          if (!its.values.empty()) candidates_[point] = candidate_of(its.values);
                        }});
}

MeasuredCandidate MeasuredSpace::measure(std::size_t point) const {
  const SweepPoint& which = file_.space.points()[point];
  MeasuredCandidate its;
  CpuClock clock;
  try {
    const auto [file, outline] = file_.space.with_outline(which);
    const auto make = [&](std::optional<std::uint64_t> draw) { return file.make(draw); };
    its.facts = candidate_facts(outline, make);
    its.looking = clock.lap();
    its.is_sound = true;
    file_.space.experiment(which);
    its.reading = clock.lap();
    if (!its.facts.fits) return its;
    its.time = fastest(run_study(make));
    its.simulating = clock.lap();
  } catch (const ConfigError&) {
    its.looking = its.reading = clock.lap();
  } catch (const InfeasibleError&) {
    (its.is_sound ? its.simulating : its.looking) = clock.lap();
  }
  return its;
}

std::vector<std::size_t> MeasuredSpace::admitted() const {
  std::vector<std::size_t> admitted;
  for (std::size_t i = 0; i < candidates_.size(); ++i)
    if (candidates_[i].is_sound && candidates_[i].facts.fits) admitted.push_back(i);
  return admitted;
}

double MeasuredSpace::cost(std::size_t candidate, const Expense& expense) const {
  return cost_of(file_.goal.objective, expense, candidates_[candidate].facts.size);
}

double MeasuredSpace::least_cost() const {
  std::optional<double> least;
  for (std::size_t i = 0; i < candidates_.size(); ++i) {
    if (!candidates_[i].time) continue;
    const double its = cost(i, {.time = *candidates_[i].time});
    least = least ? std::min(*least, its) : its;
  }
  return least.value();
}

double MeasuredSpace::exhaustive_seconds() const {
  double sum = 0.0;
  for (const MeasuredCandidate& its : candidates_) {
    sum += its.reading;
    if (its.is_sound && its.facts.fits) sum += its.reading + its.simulating;
  }
  return sum;
}

double MeasuredSpace::search_seconds(const std::vector<std::size_t>& simulated) const {
  double sum = 0.0;
  for (const MeasuredCandidate& its : candidates_)
    sum += its.looking;
  for (const std::size_t i : simulated)
    sum += candidates_[i].reading + candidates_[i].simulating;
  return sum;
}

}}  // namespace c3::studies
