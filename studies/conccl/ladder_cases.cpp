#include "studies/conccl/ladder_cases.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <stdexcept>
#include <utility>

#include "base/percent.hpp"
#include "base/statistics.hpp"
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

// --- What a case comes to.

/// Published shares in percent, in the order of the ladder; SP and SP+RP are tied.
constexpr std::array<std::pair<std::string_view, double>, 6> kPublishedOrder = {
    {{"base", 21.0}, {"sp", 42.0}, {"rp", 41.0}, {"sp_rp", 42.0}, {"conccl", 66.0}, {"conccl_8", 72.0}}};

/// Scenarios that are looked at apart.
struct Split {
  std::string_view name;
  bool (*has)(const Scenario&);
};
constexpr std::array<Split, 7> kSplits = {{
    {"cb", [](const Scenario& s) { return s.bound == Bound::compute; }},
    {"mb", [](const Scenario& s) { return s.bound == Bound::memory; }},
    {"all_gather", [](const Scenario& s) { return s.collective.kind == CollectiveKind::all_gather; }},
    {"all_to_all", [](const Scenario& s) { return s.collective.kind == CollectiveKind::all_to_all; }},
    {"g_long", [](const Scenario& s) { return s.length == LengthClass::gemm_long; }},
    {"gc_equal", [](const Scenario& s) { return s.length == LengthClass::equal; }},
    {"c_long", [](const Scenario& s) { return s.length == LengthClass::collective_long; }},
}};

/// Values of all pairs, or of those whose scenario \p split has.
std::vector<double> values_of(const std::vector<PairSpeedup>& pairs,
                              const std::function<double(const PairSpeedup&)>& value,
                              const std::vector<Scenario>& scenarios = {}, const Split* split = nullptr) {
  std::vector<double> values;
  for (std::size_t i = 0; i < pairs.size(); ++i)
    if (split == nullptr || split->has(scenarios[i])) values.push_back(value(pairs[i]));
  return values;
}

}  // namespace

LadderCases::LadderCases(const std::vector<Scenario>& scenarios, const RungSet& rungs)
    : scenarios_(scenarios), rungs_(rungs) {
  for (std::size_t i = 0; i < scenarios.size(); ++i) {
    const auto group = std::ranges::find_if(groups_, [&](const Group& earlier) {
      return earlier.size() < kLargestGroup && scenarios[earlier.front()].gemm == scenarios[i].gemm;
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
  for (Case& ladder_case : cases_) {
    for (const Group& group : groups_)
      jobs.push_back({.run = [this, &ladder_case, &group] { return run(ladder_case, group); },
                      .take = [&ladder_case, &group](
                                  const SimulatedTime& simulated) { take(ladder_case, group, simulated); }});
  }
}

SimulatedTime LadderCases::run(const Case& ladder_case, const Group& group) const {
  SimulatedTime simulated;
  std::optional<AloneTimes> kernel;
  for (const std::size_t scenario : group) {
    const Experiment pair = experiment_of(ladder_case.base, scenarios_[scenario]);
    if (!kernel) kernel = kernel_alone(pair, ladder_case.seed, rungs_);
    write(run_ladder(pair, *kernel, ladder_case.seed, rungs_), simulated.values);
  }
  return simulated;
}

void LadderCases::take(Case& ladder_case, const Group& group, const SimulatedTime& simulated) {
  if (simulated.values.size() != group.size() * kNumbers) throw InfeasibleError(simulated.said);
  for (std::size_t i = 0; i < group.size(); ++i)
    ladder_case.times[group[i]] = read(simulated.values.data() + i * kNumbers);
}

std::vector<PairSpeedup> LadderCases::speedups(std::size_t number, const StudyStrategy& strategy) const {
  std::vector<PairSpeedup> pairs;
  for (std::size_t i = 0; i < scenarios_.size(); ++i)
    pairs.push_back(study_speedup(scenarios_[i], times(number)[i], strategy));
  return pairs;
}

NamedNumbers LadderCases::numbers(std::size_t number) const {
  NamedNumbers numbers;
  for (const StudyStrategy& strategy : kStudyStrategies) {
    if (!rungs_.test(index_of(strategy.rung))) continue;
    const auto put = [&](std::string_view name, double value) {
      numbers.emplace(fmt::format("{}.{}", strategy.id, name), value);
    };
    const std::vector<PairSpeedup> pairs = speedups(number, strategy);
    const std::vector<double> shares = values_of(pairs, &PairSpeedup::share);
    const std::vector<double> times = values_of(pairs, &PairSpeedup::speedup);
    const double ideal = mean(values_of(pairs, &PairSpeedup::ideal));
    numbers.emplace("ideal", ideal);
    put("share", kPercent * mean(shares));
    put("share_of_means", kPercent * (mean(times) - 1.0) / (ideal - 1.0));
    put("median", kPercent * median(shares));
    put("speedup", mean(times));
    put("most", std::ranges::max(times));
    for (const Split& split : kSplits) {
      const std::vector<double> part = values_of(pairs, &PairSpeedup::share, scenarios_, &split);
      if (!part.empty()) put(split.name, kPercent * mean(part));
    }
  }
  if (!rungs_.all()) return numbers;
  std::vector<double> here, there;
  for (const auto& [strategy, share] : kPublishedOrder) {
    here.push_back(numbers.at(fmt::format("{}.share", strategy)));
    there.push_back(share);
  }
  numbers.emplace("tau", kendall_tau(here, there).value_or(0.0));
  return numbers;
}

const StudyStrategy& study_strategy(std::string_view id) {
  const auto* const found = std::ranges::find(kStudyStrategies, id, &StudyStrategy::id);
  if (found == kStudyStrategies.end()) throw std::logic_error(fmt::format("no strategy '{}' in the study", id));
  return *found;
}

PairSpeedup study_speedup(const Scenario& scenario, const LadderTimes& times, const StudyStrategy& strategy) {
  const bool keeps_cus = strategy.of_memory_bound && scenario.bound == Bound::compute;
  const Seconds serial = times.kernel + times.collective;
  return {.ideal = serial / std::max(times.kernel, times.collective),
          .speedup = serial / times[keeps_cus ? Rung::conccl : strategy.rung].value()};
}

}}  // namespace c3::studies
