#pragma once
/// What NCCL passes at once through a node's switch (enqueue.cc and transport/nvls.cc, 2.30.7).

#include "collectives/library/channel_context.hpp"
#include "collectives/library/published_figures.hpp"

namespace c3 { inline namespace collectives {

/// Bytes that NCCL passes through the switch at once for each channel and head: 128 KiB, less where few of them
/// would follow one another.
Bytes nvls_chunk(Bytes bytes, int channels, int heads);

/// Channels of an in-switch collective. The preset says those of one NVLink domain; over several Blackwell has
/// others, by release, NIC and GPUs of a node.
int nvls_channels(const PublishedFigures& figures);

/// The largest chunk of nvls_tree, unless a plug-in sets another.
Bytes largest_nvls_tree_chunk(const PublishedFigures& figures);
/// What it passes at once for each channel and head, \p largest or less.
Bytes nvls_tree_chunk(Bytes bytes, int channels, int heads, Bytes largest);

/// GPUs of a node whose parts pass the switch at once, of \p gpus.
int heads_of(int gpus);

/// Channels copy all of a rank's data into the switch's buffers and out of them; infinity where the library's
/// rate is not known.
BytesPerSecond copying_in_switch(const ChannelContext& channels);

}}  // namespace c3::collectives
