#pragma once
/// Simulates candidates of a search until their best is found.

#include <vector>

#include "app/tune/tuning.hpp"

namespace c3 { inline namespace app {

/// How many simulations run at once: \p jobs, or as many as there are cores where that is 0.
int workers_of(int jobs);

/// Searches \p candidates within the limits of \p tuning, and puts what it finds there. Where they have several
/// seeds, and unless the search is exact, each is simulated with one first. Then the better half goes on with
/// twice as many, and so on until what is left has all of them (successive halving).
/// \throws IoError
void search_candidates(const TuneRequest& request, Tuning& tuning,
                       const std::vector<TuneCandidate>& candidates);

}}  // namespace c3::app
