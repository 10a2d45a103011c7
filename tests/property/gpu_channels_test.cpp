// Loads of channels against a search byte by byte.

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "gpu/channels/channel_load.hpp"

namespace c3::gpu_channels_test {

using namespace literals;

namespace {

ChannelSpec any_channels() {
  const auto mapping = *rc::gen::elementOf(
      std::vector<ChannelMapping>{ChannelMapping::consecutive, ChannelMapping::exclusive_or,
                                  ChannelMapping::ipoly, ChannelMapping::page_entropy, ChannelMapping::random});
  const bool divides = mapping == ChannelMapping::consecutive || mapping == ChannelMapping::random;
  const int count = divides ? *rc::gen::inRange(1, 13) : 1 << *rc::gen::inRange(0, 4);
  return {.count = count,
          .interleave = Bytes{static_cast<double>(*rc::gen::inRange(1, 9))},
          .banks = *rc::gen::inRange(1, 5),
          .row = 16.0_B,
          .row_cycle = {},
          .mapping = mapping};
}

Footprint any_footprint() {
  return {.start = *rc::gen::inRange(0, 1000),
          .extent = *rc::gen::inRange(1, 40),
          .rows = *rc::gen::inRange(1, 8),
          .stride = *rc::gen::inRange(0, 200),
          .planes = *rc::gen::inRange(1, 4),
          .plane_stride = *rc::gen::inRange(0, 900)};
}

}  // namespace

TEST_CASE("property: bytes of channels and opened rows are those of a search byte by byte") {
  CHECK(rc::check([] {
    const AddressMapping mapping(any_channels());
    ChannelLoad load(mapping);
    std::vector<double> bytes(static_cast<std::size_t>(mapping.spec().count), 0.0);
    std::map<std::pair<int, int>, std::int64_t> open;
    std::map<std::pair<int, int>, double> opened;
    for (int i = *rc::gen::inRange(1, 4); i > 0; --i) {
      const Footprint footprint = any_footprint();
      load.add(footprint);
      for (std::int64_t plane = 0; plane < footprint.planes; ++plane)
        for (std::int64_t row = 0; row < footprint.rows; ++row)
          for (std::int64_t byte = 0; byte < footprint.extent; ++byte) {
            const DramPlace place = mapping.place_of(footprint.start + plane * footprint.plane_stride +
                                                     row * footprint.stride + byte);
            bytes[static_cast<std::size_t>(place.channel)] += 1.0;
            const auto [found, is_first] = open.try_emplace({place.channel, place.bank}, place.row);
            if (is_first || found->second != place.row) opened[{place.channel, place.bank}] += 1.0;
            found->second = place.row;
          }
    }
    RC_ASSERT(load.of_channels() == bytes);
    for (const auto& [bank, rows] : opened)
      RC_ASSERT(load.rows_opened(bank.first, bank.second) == rows);
    const double effective = load.effective();
    RC_ASSERT(effective <= 1.0 + 1e-12);
    RC_ASSERT(effective >= 1.0 / mapping.spec().count - 1e-12);
  }));
}

}  // namespace c3::gpu_channels_test
