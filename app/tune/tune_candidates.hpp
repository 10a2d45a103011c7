#pragma once
/// What is known of the candidates of a search before one is simulated.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/sweep/sweep_plan.hpp"
#include "configs/sweeps/tune_reader.hpp"
#include "workloads/recommendation/sharders.hpp"
#include "workloads/tune/candidate.hpp"

namespace c3 { inline namespace app {

struct TuneCandidate {
  std::size_t point = 0;  ///< position in the space
  ReadPoint read = {};
  std::string refused = {};  ///< which rule it breaks, or why it cannot run; then there are no facts
  CandidateFacts facts = {};
  std::int64_t seeds = 1;                   ///< seeds that its experiment asks for
  std::optional<Placement> placement = {};  ///< placement of its tables, where one was searched for
  bool is_rough = false;                    ///< facts are of one stage of its pipeline (rough_facts())
};

/// Spaces of more points are first looked at by one stage of each pipeline.
inline constexpr std::size_t kManyCandidates = 500;
/// A candidate is not looked at any closer when its rough cost exceeds the least of all whole ones by more than
/// this share (assumed: stages that wait for others only add to a rough estimate).
inline constexpr double kRoughMargin = 0.05;

/// Reads every point of \p space, by up to \p workers processes. When there are many points, and unless \p
/// needs_all, whole steps are looked at in the order of their rough estimates until these exceed the best by
/// kRoughMargin: the others' facts stay rough.
/// \returns all in the order of points \param progress called with (done, all) points
/// \throws InterruptedError, std::runtime_error when a process fails
std::vector<TuneCandidate> tune_candidates(const Sweep& space, const TuneGoal& goal, bool needs_all,
                                           int workers,
                                           const std::function<void(std::size_t, std::size_t)>& progress);

}}  // namespace c3::app
