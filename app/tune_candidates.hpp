#pragma once
/// What is known of the candidates of a search before one is simulated.

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "app/sweep/sweep_plan.hpp"
#include "workloads/tune/candidate.hpp"

namespace c3::inline app {

struct TuneCandidate {
  std::size_t point = 0;     ///< of the plan
  std::string refused = {};  ///< which rule it breaks; then the rest is empty
  CandidateFacts facts = {};

  bool operator==(const TuneCandidate&) const = default;
};

/// Of \p points of \p plan, in their order, by up to \p workers processes. \param progress called with (done,
/// all) points. \throws InterruptedError, std::runtime_error when a process fails
std::vector<TuneCandidate> tune_candidates(const SweepPlan& plan, const std::vector<std::size_t>& points,
                                           int workers,
                                           const std::function<void(std::size_t, std::size_t)>& progress);

}  // namespace c3::app
