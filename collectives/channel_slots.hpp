#pragma once
/// How the channels of collectives came to CUs.

namespace c3 { inline namespace collectives {

/// Sums over channels and simulated GPUs. A channel waits from the date at which the last member has joined
/// until every member has placed it; it lasts from the same date until it has moved its share.
struct ChannelSlots {
  double waited = 0.0;        ///< channel-seconds
  double lasted = 0.0;        ///< channel-seconds
  double placed = 0.0;        ///< channels
  double crowded = 0.0;       ///< placed channels that found others on their CU then
  double crowded_rate = 0.0;  ///< their rates, each relative to a channel that has its CU to itself

  ChannelSlots& operator+=(const ChannelSlots& other) {
    waited += other.waited;
    lasted += other.lasted;
    placed += other.placed;
    crowded += other.crowded;
    crowded_rate += other.crowded_rate;
    return *this;
  }
};

}}  // namespace c3::collectives
