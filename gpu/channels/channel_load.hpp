#pragma once
/// How the addresses that a stream touches at a time load the channels of memory.

#include <cstdint>
#include <vector>

#include "gpu/channels/address_mapping.hpp"
#include "gpu/channels/footprint.hpp"

namespace c3 { inline namespace gpu {

/// What footprints ask of each channel and bank. Of several streams at a time loads add up before the fullest
/// channel decides.
class ChannelLoad {
 public:
  explicit ChannelLoad(const AddressMapping& mapping);

  /// Touches the footprint once, \p times over. A bank opens a row when it is not the one that it has open.
  void add(const Footprint& footprint, double times = 1.0);
  void add(const ChannelLoad& other);

  double bytes() const;  ///< of all channels
  const std::vector<double>& of_channels() const { return bytes_; }
  /// Rows that bank \p bank of \p channel opens.
  double rows_opened(int channel, int bank) const { return opened_[index(channel, bank)]; }
  /// How long each channel is busy, in bytes that it moves meanwhile: its bytes, or the row cycles of its
  /// busiest bank. \param channel rate of one
  std::vector<double> busy(BytesPerSecond channel) const;
  /// Share of the bandwidth of all channels that is reached: sum / (C max). \p channel as busy()'s.
  double effective(BytesPerSecond channel) const;
  /// The same of row cycles that cost nothing.
  double effective() const { return effective(BytesPerSecond{0.0}); }

 private:
  std::size_t index(int channel, int bank) const {
    return static_cast<std::size_t>(channel) * static_cast<std::size_t>(mapping_->spec().banks) +
           static_cast<std::size_t>(bank);
  }

  const AddressMapping* mapping_;   ///< which outlives it
  std::vector<double> bytes_;       ///< by channel
  std::vector<double> opened_;      ///< shape [channels][banks]
  std::vector<std::int64_t> open_;  ///< rows, shape [channels][banks]; -1: none
};

}}  // namespace c3::gpu
