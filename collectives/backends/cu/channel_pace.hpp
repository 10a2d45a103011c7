#pragma once
/// What bounds a flow that channels move.

#include <algorithm>
#include <utility>
#include <vector>

#include "engine/flow.hpp"

namespace c3::inline collectives {

/// Links of its own, and channels, which go with the clock of the rank that sends.
struct ChannelPace {
  double links = kUnbounded;  ///< [1/s]
  std::vector<std::pair<int, double>>
      senders;  ///< simulated rank, and what its channels allow at boost clock [1/s]

  void add(int rank, double of_channels) {
    if (senders.empty() || senders.back().first != rank) senders.emplace_back(rank, of_channels);
    senders.back().second = std::min(senders.back().second, of_channels);
  }
  /// \param speed_of of a rank's channels, as a share of that at boost clock
  template <class SpeedOf>
  double bound(SpeedOf speed_of) const {
    double least = links;
    for (const auto& [rank, of_channels] : senders)
      least = std::min(least, of_channels * speed_of(rank));
    return least;
  }
};

}  // namespace c3::collectives
