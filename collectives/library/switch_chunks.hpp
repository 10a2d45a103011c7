#pragma once
/// What NCCL passes at once through a node's switch (enqueue.cc, 2.30.7).

#include "collectives/library/channel_context.hpp"

namespace c3::inline collectives {

/// Bytes that NCCL passes through the switch at once for each channel and head: 128 KiB, less where few of them
/// would follow one another.
Bytes nvls_chunk(Bytes bytes, int channels, int heads);

/// The largest in a tree over \p nodes nodes, unless a plug-in sets another.
Bytes largest_nvls_tree_chunk(int nodes);
/// The same of nvls_tree. \param set by a plug-in, in place of the library's largest chunk
Bytes nvls_tree_chunk(Bytes bytes, int channels, int heads, int nodes, Bytes set = {});

/// GPUs of a node whose parts pass the switch at once, of \p gpus.
int heads_of(int gpus);

/// Channels copy all of a rank's data into the switch's buffers and out of them; infinity where the library's
/// rate is not known.
BytesPerSecond copying_in_switch(const ChannelContext& channels);

}  // namespace c3::collectives
