#pragma once
/// What a library leaves aside although it takes less time here: tuners expect, and may be wrong.

#include <optional>
#include <string>

#include "collectives/measure.hpp"

namespace c3 { inline namespace collectives {

/// A choice that takes so much longer than another one is worth a word.
inline constexpr double kWorthAWord = 0.1;

/// What a library runs, and what it could have run in less time, both alone.
struct BetterChoice {
  CollectiveMethod chosen;
  CollectiveMeasurement of_chosen;
  CollectiveMethod better;
  CollectiveMeasurement of_better;

  Seconds saved() const { return of_chosen.time - of_better.time; }
  double share_saved() const { return saved() / of_chosen.time; }
};

/// The fastest of the methods for which the library's tuner has a formula, where \p wish leaves something to
/// it, if that takes less than 1 - kWorthAWord of the time of \p how: \p of_chosen, measured here where absent.
/// Others are tried at grain gang, and only the best of them as \p how says. Not tried are collnet and, on more
/// than 128 ranks, calls of several groups and methods of which no rank stands for all. None where one of them
/// cannot run. Wrong when: grain gang mistakes which of two others is faster.
std::optional<BetterChoice> better_choice(const ClusterSpec& cluster, const CollectiveCall& call,
                                          const MeasuredMethod& how, const MethodWish& wish,
                                          std::optional<CollectiveMeasurement> of_chosen = {});

/// "NCCL 2.30.7 takes ring simple (908.0 us, limit latency); ring ll128 would take 46 % less (493.1 us, limit
/// channels)".
std::string words_of(const BetterChoice& choice, const CollectiveLibrarySpec& library);

}}  // namespace c3::collectives
