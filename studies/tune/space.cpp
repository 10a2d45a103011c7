#include "studies/tune/space.hpp"

#include <algorithm>

#include "base/cpu_clock.hpp"
#include "configs/jobs/sweep_positions.hpp"
#include "configs/toml/config_error.hpp"
#include "engine/errors.hpp"

namespace c3 { inline namespace studies {
namespace {

/// What a job hands over: numbers only.
std::vector<double> values_of(const MeasuredCandidate& candidate) {
  return {candidate.reading,
          candidate.looking,
          candidate.simulating,
          candidate.is_sound ? 1.0 : 0.0,
          static_cast<double>(candidate.facts.size.tokens),
          static_cast<double>(candidate.facts.size.gpus),
          candidate.facts.needed.value,
          candidate.facts.fits ? 1.0 : 0.0,
          candidate.facts.bound.time.value,
          candidate.facts.estimate.time.value,
          candidate.time.value_or(Seconds{}).value};
}

MeasuredCandidate candidate_of(const std::vector<double>& values) {
  MeasuredCandidate candidate{
      .reading = values[0],
      .looking = values[1],
      .simulating = values[2],
      .facts = {.size = {.tokens = static_cast<std::int64_t>(values[4]), .gpus = static_cast<int>(values[5])},
                .needed = Bytes{values[6]},
                .fits = values[7] > 0.0,
                .bound = {.time = Seconds{values[8]}},
                .estimate = {.time = Seconds{values[9]}}},
      .is_sound = values[3] > 0.0};
  if (values[10] > 0.0) candidate.time = Seconds{values[10]};
  return candidate;
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
                        [this, point](const SimulatedTime& simulated) {
                          if (!simulated.values.empty()) candidates_[point] = candidate_of(simulated.values);
                        }});
}

MeasuredCandidate MeasuredSpace::measure(std::size_t point) const {
  const SweepPoint& which = file_.space.points()[point];
  MeasuredCandidate candidate;
  CpuClock clock;
  try {
    const auto [file, outline] = file_.space.with_outline(which);
    const auto make = [&](std::optional<std::uint64_t> draw) { return file.make(draw); };
    candidate.facts = candidate_facts(outline, make);
    candidate.looking = clock.lap();
    candidate.is_sound = true;
    file_.space.experiment(which);
    candidate.reading = clock.lap();
    if (!candidate.facts.fits) return candidate;
    candidate.time = fastest(run_study(make));
    candidate.simulating = clock.lap();
  } catch (const ConfigError&) {
    candidate.looking = candidate.reading = clock.lap();
  } catch (const InfeasibleError&) {
    (candidate.is_sound ? candidate.simulating : candidate.looking) = clock.lap();
  }
  return candidate;
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
    const double candidate_cost = cost(i, {.time = *candidates_[i].time});
    least = least ? std::min(*least, candidate_cost) : candidate_cost;
  }
  return least.value();
}

double MeasuredSpace::exhaustive_seconds() const {
  double sum = 0.0;
  for (const MeasuredCandidate& candidate : candidates_) {
    sum += candidate.reading;
    if (candidate.is_sound && candidate.facts.fits) sum += candidate.reading + candidate.simulating;
  }
  return sum;
}

double MeasuredSpace::search_seconds(const std::vector<std::size_t>& simulated) const {
  double sum = 0.0;
  for (const MeasuredCandidate& candidate : candidates_)
    sum += candidate.looking;
  for (const std::size_t i : simulated)
    sum += candidates_[i].reading + candidates_[i].simulating;
  return sum;
}

}}  // namespace c3::studies
