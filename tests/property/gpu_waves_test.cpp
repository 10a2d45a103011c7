// Waves of a persistent kernel, against a simulation of its blocks one tile at a time.

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "gpu/waves.hpp"

namespace c3::gpu_waves_test { namespace {

/// At every time each slot whose block has ended takes the next one; blocks do their own tiles, then what is
/// left.
std::int64_t by_blocks(std::int64_t tiles, std::int64_t slots, const PersistentBlocks& persistent) {
  struct Slot {
    std::int64_t own = 0;  ///< tiles that its block still has
    bool busy = false;
  };
  std::vector<Slot> all(static_cast<std::size_t>(slots));
  std::int64_t begun = 0, dealt = dealt_tiles(persistent, tiles), done = 0, time = 0;
  const auto own = [&](std::int64_t block) {
    std::int64_t found = 0;
    for (int round = 0; round < persistent.own_tiles; ++round)
      found += own_tiles_in_round(persistent, tiles, round, block, block + 1);
    return found;
  };
  while (done < tiles) {
    for (Slot& slot : all) {
      const bool ends = slot.own == 0 && dealt == 0;
      if (!slot.busy || ends) {
        slot.busy = begun < persistent.blocks;
        if (slot.busy) slot.own = own(begun++);
      }
      if (!slot.busy) continue;
      --(slot.own > 0 ? slot.own : dealt);
      ++done;
    }
    ++time;
  }
  return time;
}

TEST_CASE("property: waves of a persistent kernel are those of its blocks, whatever slots they find") {
  CHECK(rc::check([] {
    const auto tiles = *rc::gen::inRange<std::int64_t>(1, 2000);
    const auto most = *rc::gen::inRange<std::int64_t>(1, 200);
    const PersistentBlocks persistent{std::min(most, tiles), *rc::gen::inRange(1, kMostOwnTiles + 1)};
    const auto slots = *rc::gen::inRange<std::int64_t>(1, persistent.blocks + 1);
    RC_ASSERT(wave_count_on(tiles, slots, persistent) == by_blocks(tiles, slots, persistent));
  }));
}

TEST_CASE("property: a persistent kernel never needs fewer waves than one that is not") {
  CHECK(rc::check([] {
    const auto tiles = *rc::gen::inRange<std::int64_t>(1, 5000);
    const PersistentBlocks persistent{std::min<std::int64_t>(132, tiles),
                                      *rc::gen::inRange(1, kMostOwnTiles + 1)};
    const auto slots = *rc::gen::inRange<std::int64_t>(1, 133);
    RC_ASSERT(wave_count_on(tiles, slots, persistent) >= wave_count_on(tiles, slots));
  }));
}

}}  // namespace c3::gpu_waves_test
