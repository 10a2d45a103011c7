#pragma once
/// What choices of convolutions' and of products' kernels share.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "gpu/calibration/cross_validation.hpp"
#include "gpu/calibration/row_groups.hpp"
#include "studies/jobs.hpp"

namespace c3 { inline namespace studies {

/// Plans \p choose(fitted, held_out) for each fifth of the rows, which is chosen by what the other four teach;
/// rows of one of \p keys are on one side. \returns false, and plans nothing, where there are too few keys
template <class Choose>
bool plan_fifths(const std::vector<std::uint64_t>& keys, Jobs& jobs, Choose choose) {
  constexpr std::size_t kFolds = 5, kFewestKeys = 20;
  constexpr std::uint64_t kSeed = 1;
  if (std::set<std::uint64_t>(keys.begin(), keys.end()).size() < kFewestKeys) return false;
  for (const Split& split : folds_by_key(keys, kFolds, kSeed))
    jobs.emplace_back([choose, split] { choose(split.fitted, split.held_out); });
  return true;
}

/// Votes of the 8 of \p rows with the least \p distance(row) for \p choice_of(row). A tie goes to the nearest.
template <class Distance, class ChoiceOf>
auto votes_of_nearest(const Rows& rows, Distance distance, ChoiceOf choice_of) {
  constexpr std::size_t kNeighbours = 8;
  constexpr double kTie = 1e-3;
  std::vector<std::pair<double, std::size_t>> near;
  for (const std::size_t row : rows)
    near.emplace_back(distance(row), row);
  const std::size_t count = std::min(kNeighbours, near.size());
  std::ranges::partial_sort(near, near.begin() + static_cast<std::ptrdiff_t>(count));
  std::map<std::decay_t<decltype(choice_of(std::size_t{}))>, double> votes;
  for (std::size_t i = 0; i < count; ++i)
    votes[choice_of(near[i].second)] += 1.0 - kTie * static_cast<double>(i);
  return votes;
}

}}  // namespace c3::studies
