#include "collectives/library/rccl_tables.hpp"

#include <algorithm>
#include <array>
#include <iterator>

namespace c3 { inline namespace collectives {
namespace {

constexpr LibraryVersion k26{2, 26, 0};
constexpr LibraryVersion k27{2, 27, 0};
constexpr LibraryVersion k28{2, 28, 0};

using Shares = std::array<double, 27>;

// --- What the tuner expects.

// Model 3. It offers no ll128, which its tables hold as 0.
constexpr TunerShares kMi250xShares = {
    .tree = {{{0.20, 0.0, 1.75}, {0.20, 0.0, 0.96}}},
    .ring = {{{0.20, 0.0, 1.0}, {0.20, 0.0, 1.0}}},
    .tree_by_size = {{{.1, .1, .1, .1, .1, .1, 1., 1., .2, 1., .9, 1., .6, .4,
                       .6, .4, .3, .3, .3, .3, .3, .2, .2, .2, .2, .2, .2},
                      {},
                      {1., 1., 1., 1., 1., 1., .1, .1, .1, .2, 1., .8, 1., 1.,
                       1., 1., 1., 1., 1., 1., 1., .8, .7, .8, .9, .7, .7}}},
    .ring_by_size = {{{.1, .1, .1, .1, .1, .3, .1, .2, .1, .4, .4, .2, .2, .3,
                       .7, .5, .4, .3, .3, .3, .3, .2, .2, .2, .2, .2, .2},
                      {},
                      {.1, .1, .1, .1, .1, .1, .1, .5, 1., .1, .3, .1, .1, .1,
                       .2, .2, .2, .3, .4, .7, 1., 1., 1., 1., 1., 1., 1.}}}};

constexpr TunerTable kMi250x = {.ring_base = {12.0, 12.0, 17.0},
                                .tree_base = {12.0, 12.0, 17.0},
                                .ring_hop = {0.8, 0.0, 3.6},
                                .tree_hop = {0.8, 0.0, 2.5},
                                .ring_pcie = {2.2, 2.2, 5.7},
                                .tree_pcie = {2.2, 2.2, 5.7},
                                .ring_network = {9.5, 0.0, 19.8},
                                .tree_network = {12.5, 0.0, 22.4},
                                .nvls = 0.0,
                                .nvls_network = 0.0,
                                .nvls_tree_network = 0.0,
                                .collnet_hop = 0.0,
                                .collnet_network = 0.0,
                                .shares = &kMi250xShares};

// Models 5 and 6 share latencies and what nodes leave; ll128 is expected to take what ll takes, except on
// MI355X.
constexpr Shares kTreeInLl = {.1, .1, .1, .1, .1, .1, 1., 1., 1., 1., 1., .6, 1., .9,
                              1., 1., .1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1};
constexpr Shares kRingInLl = {.1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1, 1., .2, 1.,
                              .4, .4, .1, .2, .2, .1, .1, .1, .1, .1, .1, .1, .1};

/// Up to 1 MiB all have the same in protocol simple; \p last is from 2 MiB on.
constexpr Shares simple(const std::array<double, 12>& last) {
  Shares shares = {.1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1};
  std::copy(last.begin(), last.end(), shares.begin() + 15);
  return shares;
}

constexpr TunerShares mi300x(const Shares& tree, const Shares& ring) {
  return {.tree = {{{0.06, 0.06, 0.11}, {0.06, 0.06, 0.59}}},
          .ring = {{{0.08, 0.08, 1.0}, {0.08, 0.08, 1.0}}},
          .tree_by_size = {{kTreeInLl, kTreeInLl, tree}},
          .ring_by_size = {{kRingInLl, kRingInLl, ring}}};
}

constexpr TunerShares mi355x(TunerShares shares, const std::array<double, 11>& tree_ll128,
                             const std::array<double, 9>& ring_ll128) {
  std::copy(tree_ll128.begin(), tree_ll128.end(), shares.tree_by_size[1].begin() + 16);
  std::copy(ring_ll128.begin(), ring_ll128.end(), shares.ring_by_size[1].begin() + 18);
  return shares;
}

constexpr TunerShares kMi300xBefore26 = mi300x(simple({.7, 1., 1., 1., 1., 1., 1., 1., 1., 1., 1., .8}),
                                               simple({.1, .1, .1, .1, .1, .1, .1, .1, .8, 1., 1., 1.}));
constexpr TunerShares kMi300x26 = mi300x(simple({.7, 1., 1., 1., 1., 1., .7, .7, .5, .6, .6, .6}),
                                         simple({.1, .1, .1, .1, .1, .1, .1, 1., .8, 1., 1., 1.}));
constexpr TunerShares kMi300x28 = mi300x(simple({.7, 1., 1., 1., 1., 1., .7, .7, .5, .6, .6, .6}),
                                         simple({.1, .1, .1, .1, .1, .1, .1, .7, .2, 1., 1., 1.}));
constexpr TunerShares kMi355x26 =
    mi355x(mi300x(simple({.7, 1., .1, .1, .1, .9, .9, .7, .8, .6, .6, .6}),
                  simple({.1, .1, .1, .1, .1, .1, .1, 1., .8, .8, 1., 1.})),
           {1., 1., 1., 2., .1, .1, .1, .1, .1, .1, .1}, {.1, .1, .1, .1, .1, .1, .1, .1, .1});
constexpr TunerShares kMi355x28 =
    mi355x(mi300x(simple({.7, 1., .1, .1, .1, .1, .1, .7, .15, .6, .1, .6}),
                  simple({.1, .1, .1, .1, .1, .9, .1, 1., .1, .6, 1., 1.})),
           {1., 1., 1., 2., 2., 1., .1, .9, .9, .1, .1}, {.1, .1, .1, .1, 5.5, .1, .1, 1., 1.});

TunerTable of_mi300x(const TunerShares& shares) {
  return {.ring_base = {12.0, 12.0, 17.0},
          .tree_base = {12.0, 12.0, 17.0},
          .ring_hop = {0.8, 0.8, 2.1},
          .tree_hop = {0.9, 0.9, 2.3},
          .ring_pcie = {2.2, 2.2, 5.7},
          .tree_pcie = {2.2, 2.2, 5.7},
          .ring_network = {9.5, 9.5, 320.0},
          .tree_network = {10.5, 10.5, 25.0},
          .nvls = 0.0,
          .nvls_network = 0.0,
          .nvls_tree_network = 0.0,
          .collnet_hop = 0.0,
          .collnet_network = 0.0,
          .shares = &shares};
}

/// RCCL knows MI355X from 2.26 on; before it would take it for MI300X.
const TunerShares& shares_of(const LibraryVersion& version, TunedGpu gpu) {
  if (version < k26) return kMi300xBefore26;
  const bool is_mi355x = gpu == TunedGpu::mi355x;
  if (version < k28) return is_mi355x ? kMi355x26 : kMi300x26;
  return is_mi355x ? kMi355x28 : kMi300x28;
}

// --- Protocols by size over nodes (llProtoRanges).

using Kind = CollectiveKind;

constexpr std::array kMi300xRanges26 = {FlagRanges{Kind::reduce_scatter, {0, 655'360}, {131'072, 3'211'264}},
                                        FlagRanges{Kind::all_gather, {0, 98'304}, {98'304, 5'046'272}},
                                        FlagRanges{Kind::all_reduce, {0, 1'048'576}, {1'048'576, 9'437'184}}};
constexpr std::array kMi300xRanges27 = {kMi300xRanges26[0], kMi300xRanges26[1], kMi300xRanges26[2],
                                        FlagRanges{Kind::reduce, {0, 4096}, {4096, 16'777'216}},
                                        FlagRanges{Kind::broadcast, {0, 8192}, {8192, 33'554'432}}};
constexpr std::array kMi300xRanges28 = {kMi300xRanges26[0], kMi300xRanges26[1],
                                        FlagRanges{Kind::all_reduce, {0, 524'288}, {524'288, 4'415'057}},
                                        kMi300xRanges27[3], kMi300xRanges27[4]};
constexpr std::array kMi355xRanges26 = {FlagRanges{Kind::reduce_scatter, {0, 131'071}, {131'071, 4'194'304}},
                                        FlagRanges{Kind::all_gather, {0, 7}, {7, 8'388'608}},
                                        FlagRanges{Kind::all_reduce, {0, 131'071}, {131'071, 17'660'227}},
                                        FlagRanges{Kind::broadcast, {0, 2048}, {2048, 16'777'216}}};
constexpr std::array kMi355xRanges27 = {kMi355xRanges26[0], kMi355xRanges26[1], kMi355xRanges26[2],
                                        kMi355xRanges26[3],
                                        FlagRanges{Kind::reduce, {0, 16'383}, {16'383, 16'777'216}}};
constexpr std::array kMi355xRanges28 = {FlagRanges{Kind::reduce_scatter, {0, 65'536}, {65'536, 8'388'608}},
                                        FlagRanges{Kind::all_gather, {0, 65'536}, {65'536, 8'388'608}},
                                        FlagRanges{Kind::all_reduce, {0, 262'144}, {262'144, 70'640'910}},
                                        kMi355xRanges26[3], kMi355xRanges27[4]};

std::span<const FlagRanges> ranges_of(const LibraryVersion& version, TunedGpu gpu) {
  if (version < k26 || gpu == TunedGpu::mi250x) return {};
  const bool is_mi355x = gpu == TunedGpu::mi355x;
  if (version < k27) return is_mi355x ? std::span<const FlagRanges>(kMi355xRanges26) : kMi300xRanges26;
  if (version < k28) return is_mi355x ? std::span<const FlagRanges>(kMi355xRanges27) : kMi300xRanges27;
  return is_mi355x ? std::span<const FlagRanges>(kMi355xRanges28) : kMi300xRanges28;
}

/// On more than two nodes, all-reduces go on in ll128 up to as many times the bytes.
constexpr double kOnMoreNodes = 3.8;

// --- Channels by size over nodes (channelThresholds).

constexpr std::array kScatters = {
    ChannelsBySize{{512, 1024}, 2},           ChannelsBySize{{1024, 2048}, 4},
    ChannelsBySize{{2048, 4096}, 8},          ChannelsBySize{{4096, 65'536}, 16},
    ChannelsBySize{{65'536, 262'144}, 32},    ChannelsBySize{{262'144, 524'288}, 40},
    ChannelsBySize{{524'288, 1'048'576}, 56}, ChannelsBySize{{1'048'576, 268'435'457}, 64}};
constexpr std::array kGathers = {ChannelsBySize{{2048, 4096}, 2},
                                 ChannelsBySize{{4096, 8192}, 4},
                                 ChannelsBySize{{8192, 16'384}, 8},
                                 ChannelsBySize{{16'384, 262'144}, 16},
                                 ChannelsBySize{{262'144, 524'288}, 32},
                                 ChannelsBySize{{524'288, 1'048'576}, 40},
                                 ChannelsBySize{{1'048'576, 4'194'304}, 56},
                                 ChannelsBySize{{4'194'304, 268'435'457}, 64}};

}  // namespace

TunerTable rccl_table(const LibraryVersion& version, TunedGpu gpu) {
  return gpu == TunedGpu::mi250x ? kMi250x : of_mi300x(shares_of(version, gpu));
}

std::optional<FlagRanges> flag_ranges(const LibraryVersion& version, TunedGpu gpu, CollectiveKind kind,
                                      int nodes) {
  const std::span<const FlagRanges> ranges = ranges_of(version, gpu);
  const auto found = std::ranges::find(ranges, kind, &FlagRanges::kind);
  if (found == ranges.end()) return std::nullopt;
  FlagRanges range = *found;
  if (kind == CollectiveKind::all_reduce && nodes > 2) range.ll128.up_to *= kOnMoreNodes;
  return range;
}

std::span<const ChannelsBySize> channels_by_size(const LibraryVersion& version, TunedGpu gpu,
                                                 CollectiveKind kind) {
  if (version < k27 || gpu != TunedGpu::mi355x) return {};
  if (kind == CollectiveKind::reduce_scatter) return kScatters;
  return kind == CollectiveKind::all_gather ? std::span<const ChannelsBySize>(kGathers)
                                            : std::span<const ChannelsBySize>();
}

}}  // namespace c3::collectives
