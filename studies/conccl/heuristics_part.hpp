#pragma once
/// What the study's runtime heuristics for SP and RP lose against the best strategy.

#include <cstddef>
#include <vector>

#include "studies/conccl/ladder_part.hpp"
#include "studies/study.hpp"

namespace c3 { inline namespace studies {

/// What the heuristics pick for a pair, and the best that there was: fractions of the best time.
struct PairRegret {
  bool launches_collective = true;  ///< SP's rule: the side with fewer work groups is launched first
  int cus = 0;                      ///< that RP's rule gives to the collective
  double sp = 0.0, rp = 0.0;        ///< time lost against the best strategy on CUs
  double rp_masks = 0.0;            ///< time that RP's rule loses against the best mask
  double of_all = 0.0;              ///< time that the better of both loses against all strategies, ConCCL too
  int best_cus = 0;                 ///< of the best strategy on CUs; 0: it has no mask
};

/// \param launches_collective what SP's rule says
PairRegret regret_of(const LadderTimes& times, bool launches_collective);

class HeuristicsPart {
 public:
  /// \p ladder must outlive it.
  explicit HeuristicsPart(const LadderPart& ladder);

  /// Complete when the ladder's jobs are done.
  StudyReport sections(const PublishedFigures& published) const;

 private:
  using OfPair = double (*)(const PairRegret&);
  std::vector<PairRegret> regrets(std::size_t number) const;  ///< by scenario
  StudyLine summary(const PublishedFigures& published, std::string_view id, std::string_view label,
                    OfPair of_pair) const;
  StudySection means(const PublishedFigures& published) const;
  StudySection scenarios(const PublishedFigures& published) const;

  const LadderPart& ladder_;
  std::vector<bool> collective_first_;  ///< by scenario: what SP's rule says at nominal values
};

}}  // namespace c3::studies
