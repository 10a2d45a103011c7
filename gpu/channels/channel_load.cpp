#include "gpu/channels/channel_load.hpp"

#include <algorithm>
#include <numeric>

namespace c3 { inline namespace gpu {

ChannelLoad::ChannelLoad(const AddressMapping& mapping)
    : mapping_(&mapping), bytes_(static_cast<std::size_t>(mapping.spec().count), 0.0) {
  opened_.assign(bytes_.size() * static_cast<std::size_t>(mapping.spec().banks), 0.0);
  open_.assign(opened_.size(), -1);
}

void ChannelLoad::add(const Footprint& footprint, double times) {
  const auto block = static_cast<std::int64_t>(mapping_->spec().interleave.value);
  for (std::int64_t plane = 0; plane < footprint.planes; ++plane) {
    for (std::int64_t row = 0; row < footprint.rows; ++row) {
      const std::int64_t first = footprint.start + plane * footprint.plane_stride + row * footprint.stride;
      const std::int64_t end = first + footprint.extent;
      for (std::int64_t at = first; at < end; at = (at / block + 1) * block) {
        const DramPlace place = mapping_->place_of(at);
        bytes_[static_cast<std::size_t>(place.channel)] +=
            times * static_cast<double>(std::min(end, (at / block + 1) * block) - at);
        const std::size_t bank = index(place.channel, place.bank);
        if (open_[bank] != place.row) opened_[bank] += times;
        open_[bank] = place.row;
      }
    }
  }
}

void ChannelLoad::add(const ChannelLoad& other) {
  std::ranges::transform(bytes_, other.bytes_, bytes_.begin(), std::plus());
  std::ranges::transform(opened_, other.opened_, opened_.begin(), std::plus());
}

double ChannelLoad::bytes() const { return std::accumulate(bytes_.begin(), bytes_.end(), 0.0); }

std::vector<double> ChannelLoad::busy(BytesPerSecond channel) const {
  std::vector<double> busy = bytes_;
  const double cycle = (mapping_->spec().row_cycle * channel).value;
  const auto banks = static_cast<std::size_t>(mapping_->spec().banks);
  for (std::size_t c = 0; c < busy.size(); ++c) {
    const auto* const first = opened_.data() + c * banks;
    busy[c] = std::max(busy[c], cycle * *std::max_element(first, first + banks));
  }
  return busy;
}

double ChannelLoad::effective(BytesPerSecond channel) const {
  const std::vector<double> busy = this->busy(channel);
  const double most = *std::ranges::max_element(busy);
  return most > 0.0 ? bytes() / (static_cast<double>(busy.size()) * most) : 1.0;
}

}}  // namespace c3::gpu
