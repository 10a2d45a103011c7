#pragma once
/// Ranks whose hardware is known not to be as good as that of the others: hot, late, or with a lost link.

#include <string>
#include <vector>

#include "engine/units.hpp"

namespace c3 { inline namespace collectives {

/// How one rank differs from a sound one.
struct RankCondition {
  double factor = 1.0;  ///< its arithmetic takes so many times as long, for its clock; >= 1
  double links = 1.0;   ///< see LinkShares
  double nics = 1.0;
  Seconds late = {};  ///< how much later it begins; once, not in every step

  bool operator==(const RankCondition&) const = default;
};

/// What a file states of some ranks; of each rank at most once. Wrong when: a library notices a slow link and
/// takes another way, or a limit of temperature comes and goes.
struct Straggler {
  std::string name;
  std::vector<int> ranks;
  RankCondition condition = {};

  bool operator==(const Straggler&) const = default;
};

}}  // namespace c3::collectives
