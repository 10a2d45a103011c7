#include "gpu/waves.hpp"

#include <algorithm>
#include <array>

namespace c3 { inline namespace gpu {
namespace {

std::int64_t ceil_of(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// The first tile of a block: it stands in column \p block mod 2.
std::int64_t place_of(const PersistentBlocks& of, std::int64_t block) {
  return block % 2 * ceil_of(of.blocks, 2) + block / 2;
}

std::int64_t own_tiles(const PersistentBlocks& of, std::int64_t tiles, std::int64_t block) {
  const std::int64_t left = tiles - place_of(of, block);
  return std::clamp<std::int64_t>(ceil_of(left, of.blocks), 0, of.own_tiles);
}

/// Slots by the time at which they become free, for as far ahead as a block's own tiles reach.
class FreeSlots {
 public:
  std::int64_t& at(std::int64_t time) { return free_[static_cast<std::size_t>(time) % free_.size()]; }

 private:
  std::array<std::int64_t, kMostOwnTiles + 1> free_{};
};

}  // namespace

std::int64_t own_tiles_in_round(const PersistentBlocks& of, std::int64_t tiles, int round, std::int64_t first,
                                std::int64_t end) {
  if (round >= of.own_tiles) return 0;
  std::int64_t found = 0;
  for (std::int64_t block = first; block < end; ++block)
    found += own_tiles(of, tiles, block) > round ? 1 : 0;
  return found;
}

std::int64_t dealt_tiles(const PersistentBlocks& of, std::int64_t tiles) {
  return of.blocks > 0 ? std::max<std::int64_t>(0, tiles - of.own_tiles * of.blocks) : 0;
}

std::int64_t work_groups_of_xcd(std::int64_t work_groups, int xcds, int xcd) {
  return work_groups / xcds + (xcd < work_groups % xcds ? 1 : 0);
}

std::int64_t wave_count_on(std::int64_t tiles, std::int64_t slots, const PersistentBlocks& persistent) {
  PersistentBlocks of = persistent;
  of.blocks = std::min(of.blocks, tiles);
  if (slots >= of.blocks) return ceil_of(tiles, std::min(slots, std::max<std::int64_t>(tiles, 1)));

  // Those that found a slot have the counter for themselves: late ones begin when it is empty.
  FreeSlots free;
  std::int64_t now = 1;
  std::int64_t end = 1;
  if (const std::int64_t dealt = dealt_tiles(of, tiles); dealt > 0) {
    const std::int64_t done = of.own_tiles * slots + dealt;
    now = done / slots;
    end = ceil_of(done, slots);
    free.at(now) = slots - done % slots;
    free.at(now + 1) = done % slots;
  } else {
    for (std::int64_t block = 0; block < slots; ++block) {
      const std::int64_t own = own_tiles(of, tiles, block);
      end = std::max(end, own);
      ++free.at(own);
    }
  }
  for (std::int64_t block = slots; block < of.blocks; ++block) {
    while (free.at(now) == 0)
      ++now;
    --free.at(now);
    const std::int64_t ends = now + own_tiles(of, tiles, block);
    ++free.at(ends);
    end = std::max(end, ends);
  }
  return end;
}

std::int64_t wave_count(std::int64_t work_groups, std::span<const std::int64_t> slots_in_xcd,
                        const PersistentBlocks& persistent) {
  const auto xcds = static_cast<int>(slots_in_xcd.size());
  std::int64_t most = 1;
  for (int xcd = 0; xcd < xcds; ++xcd) {
    const std::int64_t share = work_groups_of_xcd(work_groups, xcds, xcd);
    const std::int64_t slots = std::max<std::int64_t>(1, slots_in_xcd[static_cast<std::size_t>(xcd)]);
    const PersistentBlocks here{work_groups_of_xcd(persistent.blocks, xcds, xcd), persistent.own_tiles};
    most = std::max(most, wave_count_on(share, slots, here));
  }
  return most;
}

}}  // namespace c3::gpu
