// Which channels and banks addresses load, in closed form.

#include "gpu/channels/channel_load.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <numeric>
#include <set>
#include <tuple>

#include "engine/errors.hpp"
#include "tests/support/near.hpp"

namespace c3::gpu_channels_test {

using namespace literals;

namespace {

ChannelSpec channels(int count, ChannelMapping mapping) {
  return {
      .count = count, .interleave = 256.0_B, .banks = 16, .row = 1024.0_B, .row_cycle = {}, .mapping = mapping};
}

double effective(const ChannelSpec& spec, const Footprint& footprint) {
  const AddressMapping mapping(spec);
  ChannelLoad load(mapping);
  load.add(footprint);
  return load.effective();
}

Footprint strided(std::int64_t stride, std::int64_t rows = 4096) {
  return {.start = 0, .extent = 32, .rows = rows, .stride = stride};
}

}  // namespace

TEST_CASE("consecutive mapping reaches 1 over the channels that a stride leaves out, exactly") {
  // A stride of s blocks visits C / gcd(s, C) channels equally often, whatever C is.
  for (const int count : {8, 12, 32, 48}) {
    for (const std::int64_t blocks : {1, 2, 3, 4, 6, 8, 16, 24, 32, 64, 96}) {
      CAPTURE(count);
      CAPTURE(blocks);
      const double visited = 1.0 / static_cast<double>(std::gcd(blocks, std::int64_t{count}));
      CHECK(effective(channels(count, ChannelMapping::consecutive), strided(256 * blocks, 96 * count)) ==
            visited);
    }
  }
}

TEST_CASE("consecutive mapping of powers of two gives max(1 / C, 256 / stride)") {
  for (int log = 8; log <= 20; ++log) {
    CAPTURE(log);
    const double law = std::max(1.0 / 32, 256.0 / static_cast<double>(std::int64_t{1} << log));
    CHECK(effective(channels(32, ChannelMapping::consecutive), strided(std::int64_t{1} << log)) == law);
  }
}

TEST_CASE("a stride below a block fills the blocks one after another") {
  CHECK(effective(channels(32, ChannelMapping::consecutive), strided(64)) == 1.0);
}

TEST_CASE("IPOLY takes each power of two apart as it takes neighbours: no channel has more than its part") {
  for (const int count : {2, 4, 8, 16, 32, 64, 128, 256, 512}) {
    for (int log = 8; log <= 30; ++log) {
      CAPTURE(count);
      CAPTURE(log);
      CHECK(effective(channels(count, ChannelMapping::ipoly), strided(std::int64_t{1} << log, count)) == 1.0);
    }
  }
}

TEST_CASE("IPOLY divides by a polynomial that no other divides") {
  // Block 2^b is x^b, whose remainder is the polynomial without its leading term.
  for (unsigned bits = 1; bits <= 9; ++bits) {
    CAPTURE(bits);
    const AddressMapping mapping(channels(1 << bits, ChannelMapping::ipoly));
    const unsigned leading = 1U << bits;
    const unsigned divided =
        leading | static_cast<unsigned>(mapping.place_of(256 * static_cast<std::int64_t>(leading)).channel);
    for (unsigned divisor = 2; divisor < leading; ++divisor) {
      unsigned rest = divided;
      while (std::bit_width(rest) >= std::bit_width(divisor))
        rest ^= divisor << (std::bit_width(rest) - std::bit_width(divisor));
      CHECK(rest != 0);
    }
  }
}

TEST_CASE("XOR removes camping of strides up to C blocks squared, and no further") {
  // Bits 0 to 4 of the block XOR bits 5 to 9: a stride of 2^k blocks, k < 5, runs through both; one of 2^k with
  // 5 <= k < 10 through the upper alone, of which it leaves 2^(10 - k) values; none above.
  const ChannelSpec spec = channels(32, ChannelMapping::exclusive_or);
  for (int k = 0; k <= 12; ++k) {
    CAPTURE(k);
    const double channels_hit = k <= 5 ? 32.0 : k < 10 ? static_cast<double>(1 << (10 - k)) : 1.0;
    CHECK(effective(spec, strided(std::int64_t{256} << k, 1024)) == channels_hit / 32.0);
  }
}

TEST_CASE("every mapping sends neighbouring blocks to all channels alike, and is one of the channels' number") {
  for (const ChannelMapping mapping : {ChannelMapping::consecutive, ChannelMapping::exclusive_or,
                                       ChannelMapping::ipoly, ChannelMapping::page_entropy}) {
    CAPTURE(name_of(mapping));
    CHECK(effective(channels(64, mapping), {.start = 1 << 20, .extent = 64 * 256 * 10}) == 1.0);
  }
  // 65,536 blocks: 2,048 a channel, with a deviation of 45.
  CHECK(effective(channels(32, ChannelMapping::random), {.extent = 65'536 * 256}) > 0.9);
  CHECK(effective(channels(32, ChannelMapping::random), strided(std::int64_t{256} * 4096, 65'536)) > 0.9);
}

TEST_CASE("no two blocks are in one place, but where a hash draws") {
  for (const ChannelMapping mapping : {ChannelMapping::consecutive, ChannelMapping::exclusive_or,
                                       ChannelMapping::ipoly, ChannelMapping::page_entropy}) {
    CAPTURE(name_of(mapping));
    ChannelSpec spec = channels(8, mapping);
    spec.row = 256.0_B;  // a block a row: places then tell blocks apart
    const AddressMapping addresses(spec);
    std::set<std::tuple<int, int, std::int64_t>> places;
    for (std::int64_t block = 0; block < 4096; ++block) {
      const DramPlace place = addresses.place_of(block * 256);
      CHECK(place.channel >= 0);
      CHECK(place.channel < 8);
      places.emplace(place.channel, place.bank, place.row);
    }
    CHECK(places.size() == 4096);
  }
}

TEST_CASE("streams that camp on one channel share it and on unlike channels do not meet") {
  // Each has one of 32 channels; together they reach 1/32 on the same and 2/32 on two.
  const AddressMapping mapping(channels(32, ChannelMapping::consecutive));
  const auto together = [&](std::int64_t apart) {
    ChannelLoad first(mapping), second(mapping);
    first.add(strided(256 * 32));
    Footprint other = strided(256 * 32);
    other.start = apart;
    second.add(other);
    first.add(second);
    return first.effective();
  };
  CHECK(together(256 * 32 * 4096) == 1.0 / 32);
  CHECK(together(256) == 2.0 / 32);
}

TEST_CASE("rows of one bank wait for its cycles, rows of all banks for their bytes") {
  // 32 bytes of a row each, on one channel of 32 GB/s: a row cycle of 40 ns is 1,280 B. Rows of a bank are 16 x
  // 1 KiB apart in the channel, neighbouring banks 1 KiB.
  ChannelSpec spec = channels(1, ChannelMapping::consecutive);
  spec.row_cycle = 40.0_ns;
  const AddressMapping mapping(spec);
  const auto reached = [&](std::int64_t stride) {
    ChannelLoad load(mapping);
    load.add(strided(stride, 1600));
    return load.effective(32.0_GBps);
  };
  CHECK(reached(16 * 1024) == near(32.0 / 1280));
  CHECK(reached(1024) == near(16.0 * 32.0 / 1280));
  CHECK(reached(32) == 1.0);  // 32 of a row before the next
  ChannelLoad load(mapping);
  load.add(strided(16 * 1024, 1600));
  CHECK(load.rows_opened(0, 0) == 1600.0);
  CHECK(load.rows_opened(0, 1) == 0.0);
}

TEST_CASE("mappings of bits refuse channels that are no power of two, and memory without channels is refused") {
  for (const ChannelMapping mapping :
       {ChannelMapping::exclusive_or, ChannelMapping::ipoly, ChannelMapping::page_entropy})
    CHECK_THROWS_AS(AddressMapping{channels(12, mapping)}, InfeasibleError);
  CHECK_NOTHROW(AddressMapping{channels(12, ChannelMapping::random)});
  CHECK_THROWS_AS(AddressMapping{channels(0, ChannelMapping::consecutive)}, InfeasibleError);
  ChannelSpec small = channels(8, ChannelMapping::consecutive);
  small.row = 128.0_B;
  CHECK_THROWS_AS(AddressMapping{small}, InfeasibleError);
}

}  // namespace c3::gpu_channels_test
