#pragma once
/// Ladders of all scenarios under several beliefs of what the machine is.

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string_view>
#include <vector>

#include "studies/cases/found_tables.hpp"
#include "studies/conccl/ladder.hpp"
#include "studies/conccl/scenarios.hpp"
#include "studies/simulations.hpp"

namespace c3 { inline namespace studies {

/// A line of the study: a strategy as it is printed, and what it is in figures' ids.
struct StudyStrategy {
  std::string_view id;
  std::string_view label;
  Rung rung;
  bool of_memory_bound = false;  ///< of a compute-bound GEMM the time of ConCCL stands instead
};

/// The published ConCCL with CUs removed takes them from memory-bound GEMMs only.
inline constexpr std::array<StudyStrategy, 10> kStudyStrategies = {{
    {"base", "base", Rung::base},
    {"base.round_robin", "base, round robin", Rung::base_round_robin},
    {"base.random_order", "base, random order", Rung::base_random_order},
    {"sp", "SP", Rung::sp},
    {"rp", "RP, best mask", Rung::rp},
    {"rp.lookup", "RP, mask by isolated times", Rung::rp_lookup},
    {"sp_rp", "SP+RP, best mask", Rung::sp_rp},
    {"conccl", "ConCCL", Rung::conccl},
    {"conccl_8", "ConCCL, 8 CUs removed", Rung::conccl_8, true},
    {"conccl_8.from_all", "ConCCL, removed from all", Rung::conccl_8},
}};
/// \throws std::logic_error for an id that none has
const StudyStrategy& study_strategy(std::string_view id);

/// A pair of a kernel and a collective that ran together. Ideal is (G + C) / max(G, C) of its own isolated
/// times, which is above 1. Nothing is filtered or clipped: a collective that is faster on copy engines than
/// alone on CUs may have more than all of the ideal.
struct PairSpeedup {
  double ideal = 1.0;
  double speedup = 1.0;  ///< (G + C) / time

  double share() const { return (speedup - 1.0) / (ideal - 1.0); }
};

/// The result of \p strategy on \p scenario.
PairSpeedup study_speedup(const Scenario& scenario, const LadderTimes& times, const StudyStrategy& strategy);

/// Pairs with the same GEMM are run in one process, one after another, so that what the GEMM takes alone is
/// simulated once. Everything of one case is simulated under the same values of what is drawn.
class LadderCases {
 public:
  /// \p scenarios must outlive it.
  LadderCases(const std::vector<Scenario>& scenarios, const RungSet& rungs);

  /// Every scenario on the machine and with the strategies of \p base. \returns the number of the case.
  std::size_t add(Experiment base, std::uint64_t seed);

  /// Its address must not change from here on.
  void plan(SimulationJobs& jobs);

  std::size_t size() const { return cases_.size(); }
  const std::vector<Scenario>& scenarios() const { return scenarios_; }
  const Experiment& base(std::size_t number) const { return cases_[number].base; }
  std::uint64_t seed(std::size_t number) const { return cases_[number].seed; }

  /// Times by scenario, complete when the jobs are done.
  const std::vector<LadderTimes>& times(std::size_t number) const { return cases_[number].times; }
  /// Speedups by scenario. The rung of \p strategy, and Rung::conccl, were asked for.
  std::vector<PairSpeedup> speedups(std::size_t number, const StudyStrategy& strategy) const;
  /// What the case comes to: `ideal`, the mean ideal speedup; for each strategy that was asked for, by its id,
  /// the averages `ID.share` (mean share of the ideal), `ID.share_of_means`, `ID.median`, `ID.cb` and other
  /// shares of a kind of scenarios, all in percent, and the speedups `ID.speedup` (mean) and `ID.most`; with
  /// all strategies `tau`, Kendall's rank correlation with the published shares.
  NamedNumbers numbers(std::size_t number) const;

 private:
  struct Case {
    Experiment base;
    std::uint64_t seed = 0;
    std::vector<LadderTimes> times;
  };
  using Group = std::vector<std::size_t>;  ///< scenarios with one GEMM

  SimulatedTime run(const Case& ladder_case, const Group& group) const;
  static void take(Case& ladder_case, const Group& group, const SimulatedTime& simulated);

  const std::vector<Scenario>& scenarios_;
  RungSet rungs_;
  std::vector<Group> groups_;
  std::deque<Case> cases_;
};

}}  // namespace c3::studies
