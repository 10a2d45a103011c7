#pragma once
/// What HBM is made of: channels and banks, and units that compute inside. Parts of HbmSpec (gpu/spec.hpp).

#include <array>

#include "base/enum_names.hpp"
#include "engine/units.hpp"

namespace c3 { inline namespace gpu {

/// How addresses are dealt to the channels of memory (gpu/channels/address_mapping.hpp).
enum class ChannelMapping { consecutive, exclusive_or, ipoly, page_entropy, random };
constexpr auto enum_names(ChannelMapping) {
  return std::to_array<EnumName<ChannelMapping>>({{"consecutive", ChannelMapping::consecutive},
                                                  {"xor", ChannelMapping::exclusive_or},
                                                  {"ipoly", ChannelMapping::ipoly},
                                                  {"page_entropy", ChannelMapping::page_entropy},
                                                  {"random", ChannelMapping::random}});
}

/// The channels and banks of HBM.
struct ChannelSpec {
  int count = 0;           ///< 0: not known
  Bytes interleave{256};   ///< neighbours in one channel
  int banks = 16;          ///< of a channel
  Bytes row{1024};         ///< of a bank
  Seconds row_cycle = {};  ///< from one row to the next of a bank; 0: rows cost nothing
  ChannelMapping mapping = ChannelMapping::ipoly;

  bool operator==(const ChannelSpec&) const = default;
};

/// Arithmetic units beside the banks of HBM (HBM-PIM). One command makes the units of many banks work at once,
/// on rows that never leave them; the channel can give no other command meanwhile.
struct PimSpec {
  double units = 0.0;     ///< of a channel that answer one command, each for a column; 0: memory cannot compute
  double interval = 1.0;  ///< least time between two such commands, over that between two columns read outside
  double slots = 1.0;     ///< most of a channel's command slots that they take: others always find the rest

  /// Bytes inside over bytes that the same slots bring outside.
  double amplification() const { return units / interval; }

  bool operator==(const PimSpec&) const = default;
};

/// Of what HBM is made in a simulation.
enum class MemoryGrain {
  whole,     ///< one bandwidth, which any bytes may use
  channels,  ///< a bandwidth for each channel, which the bytes at its addresses use
};
constexpr auto enum_names(MemoryGrain) {
  return std::to_array<EnumName<MemoryGrain>>(
      {{"whole", MemoryGrain::whole}, {"channels", MemoryGrain::channels}});
}

}}  // namespace c3::gpu
