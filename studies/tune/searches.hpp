#pragma once
/// What searches of a space find that is known whole.

#include <cstddef>
#include <optional>
#include <vector>

#include "studies/tune/space.hpp"

namespace c3 { inline namespace studies {

struct SearchOutcome {
  std::vector<std::size_t> simulated;  ///< candidates, in the order of the search
  double regret = 0.0;                 ///< of the best found, over the least cost of all
  std::optional<double> stated = {};   ///< by how much the search says that its best exceeds the least at most
  std::optional<double> worst = {};    ///< the same by the bounds alone
  double seconds = 0.0;                ///< of CPU
};

/// Searches \p space as c3sim tune does by default, or with --exact.
SearchOutcome search(const MeasuredSpace& space, bool exact);

}}  // namespace c3::studies
