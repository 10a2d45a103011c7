#pragma once
/// What RCCL decides beside its tuner's formulas: protocols, algorithms and channels that follow from sizes
/// alone. Source: RCCL 2.21.5 to 2.28.3 (commits as in rccl_tables.hpp), src/rccl_wrap.cc, enqueue.cc,
/// collectives.cc and graph/connect.cc.

#include "collectives/library/method.hpp"
#include "collectives/library/published_figures.hpp"

namespace c3 { inline namespace collectives {

/// Whether the library offers \p protocol for \p figures' call: ll128 from 2.26 on over nodes of MI300X and
/// MI355X. Models of one node have it switched off; 2.22.3 has it in its tables with the time of ll, and so
/// never takes it.
bool rccl_offers(const PublishedFigures& figures, Protocol protocol);

/// The method that the release takes: \p by_formula, which the tuner took, or one of its exceptions. Over nodes
/// the protocol follows the bytes of a rank (2.26 on); within a node of MI355X or MI300X small calls take ll;
/// small all-reduces of MI355X take trees in ll (2.28). Whatever \p wish or library.protocols says stays.
CollectiveMethod rccl_method(const PublishedFigures& figures, const CollectiveMethod& by_formula,
                             const MethodWish& wish);

/// Whether an all-gather goes as sends and receives of every pair (2.26 on): up to 4 MiB on MI300X, on MI355X
/// up to 8 MiB within a node and 2 MiB for each of several; 2.26 between 2 and 16 nodes alone, and only where
/// it sends through NICs of other GPUs, on 64 GPUs (MI355X: 32) and more.
bool gathers_in_pairs(const PublishedFigures& figures);

/// Most channels of a call over nodes. What 2.28 can take off MI355X's (48 of them over nodes, half of them
/// within one: RCCL_REDUCED_CU_ENABLE, RCCL_WARP_SPEED_AUTO) is off in the commit that was read.
inline constexpr int kMostRcclChannelsOverNodes = 64;

/// Channels by size instead of by the bytes of a thread (gathers and scatters over nodes of MI355X, 2.27 on).
std::optional<int> rccl_channels_by_size(const PublishedFigures& figures);

/// Least bytes of a thread that keep a channel in use, over nodes; absent: as usual.
std::optional<double> rccl_bytes_per_thread(const PublishedFigures& figures, Protocol protocol);

}}  // namespace c3::collectives
