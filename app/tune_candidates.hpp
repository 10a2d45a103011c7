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
  std::size_t point = 0;  ///< of the space
  ReadPoint read = {};
  std::string refused = {};  ///< which rule it breaks, or why it cannot run; then there are no facts
  CandidateFacts facts = {};
};

/// Reads every point of \p space once, by up to \p workers processes. \returns them in their order \param
/// progress called with (done, all) points. \throws InterruptedError, std::runtime_error when a process fails
std::vector<TuneCandidate> tune_candidates(const Sweep& space, int workers,
                                           const std::function<void(std::size_t, std::size_t)>& progress);

}  // namespace c3::app
