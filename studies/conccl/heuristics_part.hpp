#pragma once
/// What the study's runtime heuristics for SP and RP lose against the best strategy.

#include "studies/cases/found_tables.hpp"
#include "studies/conccl/ladder_part.hpp"

namespace c3 { inline namespace studies {

/// What the heuristics pick for a pair, and the best that there was: fractions of the best time.
struct PairRegret {
  int cus = 0;                ///< that RP's rule gives to the collective
  double sp = 0.0, rp = 0.0;  ///< time lost against the best strategy on CUs
  double rp_masks = 0.0;      ///< time that RP's rule loses against the best mask
  double of_all = 0.0;        ///< time that the better of both loses against all strategies, ConCCL too
  int best_cus = 0;           ///< of the best strategy on CUs; 0: it has no mask
};

/// \param launches_collective what SP's rule says: the side with fewer work groups is launched first
PairRegret regret_of(const LadderTimes& times, bool launches_collective);

/// Adds `heuristics`, the means over scenarios, and `scenario ID` of each at the first seed's nominal values,
/// with the side that SP's rule launches `first`: regrets in percent. The jobs of \p ladder are done.
void add_regrets(FoundNumbers& found, const LadderPart& ladder);

}}  // namespace c3::studies
