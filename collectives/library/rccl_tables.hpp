#pragma once
/// RCCL's tables, release by release, copied out of its sources: what its tuner expects, and (2.26 on) sizes at
/// which it takes a protocol or a number of channels whatever the tuner expects. Source: src/graph/tuning.cc of
/// RCCL 2.21.5 (0cbce2a7), 2.22.3 (36343be8), 2.26.6 (5e7937ef), 2.27.7 (0f99fd84) and 2.28.3 (3d4813d9),
/// models 3 (MI250X with four NICs), 5 (MI300X) and 6 (MI350X, MI355X).

#include <optional>
#include <span>

#include "collectives/call.hpp"
#include "collectives/library/tuner_table.hpp"
#include "collectives/library/version.hpp"
#include "gpu/spec.hpp"

namespace c3 { inline namespace collectives {

/// A GPU for which RCCL has no table has that of its nearest relative.
TunerTable rccl_table(const LibraryVersion& version, TunedGpu gpu);

/// Bytes of a rank, above the first and up to the second. An all-reduce counts its buffer, other kinds count
/// the buffer divided by ranks.
struct ByteRange {
  double above = 0.0;
  double up_to = 0.0;

  constexpr bool holds(double bytes) const { return bytes > above && bytes <= up_to; }
};

/// Over nodes, the bytes of a rank that go in a protocol with flags; all others go in Simple.
struct FlagRanges {
  CollectiveKind kind;
  ByteRange ll, ll128;
};

/// Absent where the release leaves the protocol to the tuner. \p nodes is more than one.
std::optional<FlagRanges> flag_ranges(const LibraryVersion& version, TunedGpu gpu, CollectiveKind kind,
                                      int nodes);

/// Over nodes, the channels of a call by the bytes of a rank.
struct ChannelsBySize {
  ByteRange bytes;
  int channels;
};

/// Empty where the release leaves channels to the bytes of a thread.
std::span<const ChannelsBySize> channels_by_size(const LibraryVersion& version, TunedGpu gpu,
                                                 CollectiveKind kind);

}}  // namespace c3::collectives
