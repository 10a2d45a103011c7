#pragma once
/// How a grid is dealt to XCDs, and the waves that follow.

#include <cstdint>
#include <span>

namespace c3 { inline namespace gpu {

/// Most tiles that a block of a persistent kernel may keep.
inline constexpr int kMostOwnTiles = 7;

/// A persistent kernel: as many blocks as the whole GPU holds at once go through the tiles, whatever part of it
/// they find. A block that finds no CU begins when another has ended, and still has its own tiles to do.
/// Source: nvjet kernels of cuBLAS 13 on an H100, of which 1 to 96 SMs were held (studies/one_gpu/README.md):
/// all products have a grid of 132, and the times are those of two tiles a block. Wrong when: hardware takes
/// blocks back (cluster launch control of Blackwell), or the caller tells the library how many SMs it will
/// find.
struct PersistentBlocks {
  std::int64_t blocks = 0;  ///< 0: the kernel is not persistent, its work groups are its tiles
  int own_tiles = 0;        ///< that are a block's by its number; a common counter deals the others

  friend bool operator==(const PersistentBlocks&, const PersistentBlocks&) = default;
};

/// How many of the blocks [\p first, \p end) have an own tile number \p round, from 0. Blocks stand in two
/// columns, which take consecutive tiles one after the other.
std::int64_t own_tiles_in_round(const PersistentBlocks& of, std::int64_t tiles, int round, std::int64_t first,
                                std::int64_t end);

/// Tiles that the common counter deals.
std::int64_t dealt_tiles(const PersistentBlocks& of, std::int64_t tiles);

/// Work groups of XCD \p xcd: the grid is dealt round robin, work group i to XCD i mod XCDs, as CDNA 3 does.
std::int64_t work_groups_of_xcd(std::int64_t work_groups, int xcds, int xcd);

/// Times of one tile until all are done on \p slots (at least 1), which hold one block each.
std::int64_t wave_count_on(std::int64_t tiles, std::int64_t slots, const PersistentBlocks& persistent = {});

/// Waves of a grid dealt round robin: of the XCD that needs most for its share, and at least 1.
/// \param slots_in_xcd work groups that each XCD holds at once; one that has no slot yet counts as having one.
/// Wrong when: work groups of one wave end so far apart that the next begins unevenly.
std::int64_t wave_count(std::int64_t work_groups, std::span<const std::int64_t> slots_in_xcd,
                        const PersistentBlocks& persistent = {});

}}  // namespace c3::gpu
