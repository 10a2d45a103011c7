#include "studies/conccl/ladder_cases.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

#include "engine/errors.hpp"

namespace c3 { inline namespace studies {
namespace {

/// Numbers that a process leaves of a ladder: isolated times, then time and CUs of each rung.
constexpr std::size_t kNumbers = 2 + 2 * kRungs.size();
constexpr std::size_t kLargestGroup = SimulatedTime::kMostValues / kNumbers;

void write(const LadderTimes& times, std::vector<double>& numbers) {
  numbers.push_back(times.kernel.value);
  numbers.push_back(times.collective.value);
  for (const Rung rung : kRungs) {
    const std::optional<Seconds> time = times[rung];
    numbers.push_back(time ? time->value : std::numeric_limits<double>::quiet_NaN());
    numbers.push_back(times.cus[index_of(rung)]);
  }
}

LadderTimes read(const double* numbers) {
  LadderTimes times{.kernel = Seconds{numbers[0]}, .collective = Seconds{numbers[1]}};
  for (const Rung rung : kRungs) {
    const double* of_rung = numbers + 2 + 2 * index_of(rung);
    if (!std::isnan(of_rung[0])) times.together[index_of(rung)] = Seconds{of_rung[0]};
    times.cus[index_of(rung)] = static_cast<int>(of_rung[1]);
  }
  return times;
}

}  // namespace

LadderCases::LadderCases(const std::vector<Scenario>& scenarios, const RungSet& rungs)
    : scenarios_(scenarios), rungs_(rungs) {
  for (std::size_t i = 0; i < scenarios.size(); ++i) {
    const auto group = std::ranges::find_if(groups_, [&](const Group& each) {
      return each.size() < kLargestGroup && scenarios[each.front()].gemm == scenarios[i].gemm;
    });
    if (group != groups_.end())
      group->push_back(i);
    else
      groups_.push_back({i});
  }
}

std::size_t LadderCases::add(Experiment base, std::uint64_t seed) {
  cases_.push_back({std::move(base), seed, std::vector<LadderTimes>(scenarios_.size())});
  return cases_.size() - 1;
}

void LadderCases::plan(SimulationJobs& jobs) {
  for (Case& each : cases_) {
    for (const Group& group : groups_)
      jobs.push_back(
          {.run = [this, &each, &group] { return run(each, group); },
           .take = [&each, &group](const SimulatedTime& simulated) { take(each, group, simulated); }});
  }
}

SimulatedTime LadderCases::run(const Case& of, const Group& group) const {
  SimulatedTime simulated;
  std::optional<AloneTimes> kernel;
  for (const std::size_t scenario : group) {
    const Experiment pair = experiment_of(of.base, scenarios_[scenario]);
    if (!kernel) kernel = kernel_alone(pair, of.seed, rungs_);
    write(run_ladder(pair, *kernel, of.seed, rungs_), simulated.values);
  }
  return simulated;
}

void LadderCases::take(Case& of, const Group& group, const SimulatedTime& simulated) {
  if (simulated.values.size() != group.size() * kNumbers) throw InfeasibleError(simulated.said);
  for (std::size_t i = 0; i < group.size(); ++i)
    of.times[group[i]] = read(simulated.values.data() + i * kNumbers);
}

std::vector<PairSpeedup> LadderCases::speedups(std::size_t number, const StudyStrategy& strategy) const {
  std::vector<PairSpeedup> pairs;
  for (std::size_t i = 0; i < scenarios_.size(); ++i)
    pairs.push_back(study_speedup(scenarios_[i], times(number)[i], strategy));
  return pairs;
}

const StudyStrategy& study_strategy(std::string_view id) {
  const auto* const found = std::ranges::find(kStudyStrategies, id, &StudyStrategy::id);
  if (found == kStudyStrategies.end()) throw std::logic_error(fmt::format("no strategy '{}' in the study", id));
  return *found;
}

PairSpeedup study_speedup(const Scenario& scenario, const LadderTimes& times, const StudyStrategy& strategy) {
  const bool keeps_cus = strategy.of_memory_bound && scenario.bound == Bound::compute;
  return speedup_of(times.kernel, times.collective, times[keeps_cus ? Rung::conccl : strategy.rung].value());
}

}}  // namespace c3::studies
