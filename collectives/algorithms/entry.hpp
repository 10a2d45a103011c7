#pragma once
/// Everything that depends on which algorithm runs: one AlgorithmEntry for each, in a file of its own.

#include <optional>
#include <string_view>
#include <vector>

#include "collectives/algorithms/graph_request.hpp"
#include "collectives/library/published_figures.hpp"
#include "collectives/planned_flows.hpp"
#include "collectives/turning_ring.hpp"

namespace c3 { inline namespace collectives {

class Algorithm;
struct ChannelContext;

/// Kinds whose data go in a part for each rank, all alike.
constexpr bool goes_in_parts(CollectiveKind kind) {
  return kind == CollectiveKind::all_reduce || kind == CollectiveKind::all_gather ||
         kind == CollectiveKind::reduce_scatter;
}

/// What a group uses of a cluster that all its members see alike.
struct GroupShape {
  int ranks, nodes;
  bool one_gpu;  ///< each node has one GPU in the group
};

/// What one channel serves; it decides how many channels there are, and which of their limits apply.
enum class ChannelUse {
  paths,      ///< a share of every edge of its tree, chain or exchange
  pairs,      ///< one peer: every pair of ranks has channels of its own
  rings,      ///< a share of a ring, so that every rank's data pass it
  in_switch,  ///< copies into the switch's buffers and out of them (NVLS); protocol simple only
  windows,    ///< a share of buffers that every rank reaches where they lie
};

/// What an algorithm costs on channels beside the flow of its bytes. A function that is null says: as usual.
struct ChannelCosts {
  ChannelUse use = ChannelUse::paths;
  /// Time paid once, without the last slice. Usual: the protocol's base latency.
  Seconds (*setup)(const ChannelContext& channels) = nullptr;
  /// Latency of the steps that a flow takes one after another. Usual: ChannelContext::steps.
  Seconds (*latency)(const ChannelContext& channels, const PlannedFlow& flow) = nullptr;
  /// Copying of what comes last on a lane, protocol simple. Usual: none.
  Seconds (*last_slice)(const ChannelContext& channels, int lane) = nullptr;
  /// Payload per link and direction. Usual: the protocol's share of the library's.
  BytesPerSecond (*link_payload)(const ChannelContext& channels) = nullptr;
  /// What a channel of a pipelined graph passes on at once, of \p of_channel that it flows. Usual: the
  /// library's chunk.
  Bytes (*chunk)(const ChannelContext& channels, Bytes of_channel) = nullptr;
  /// Channels. Usual: the library's, fewer for small data.
  int (*width)(const PublishedFigures& figures, Algorithm algorithm, Protocol protocol) = nullptr;
  /// Payload of one channel, alone on its CU or not. Usual: the protocol's, and the library's of a CU.
  BytesPerSecond (*channel_rate)(const ChannelContext& channels) = nullptr;
  /// Bytes of the call's buffer a second that channels cannot pass, whatever links do. Usual: none.
  BytesPerSecond (*most)(const ChannelContext& channels) = nullptr;
  /// Algorithm bandwidth of an all_reduce that the library's authors have measured, filling of the pipeline
  /// included. Usual: none.
  std::optional<BytesPerSecond> (*measured_rate)(const PublishedFigures& figures, Protocol protocol) = nullptr;
};

/// One algorithm. Functions get checked calls of kinds that it supports.
struct AlgorithmEntry {
  std::string_view name;  ///< spelled as in configuration and tables
  bool (*supports)(CollectiveKind kind);
  /// The transfers of a call; positions in Transfer::after are smaller than the transfer's own, stages are
  /// written one after another. \throws InfeasibleError (GraphRequest::refuse) where it cannot run.
  TransferGraph (*graph)(const GraphRequest& request);
  /// Whether all ranks do the same at the same time; no root, no unequal sizes. Null: they never do.
  bool (*is_symmetric)(CollectiveKind kind, const GroupShape& group, const NodeSpec& node) = nullptr;
  /// Rings that channels turn step by step without a graph. Null: it has none.
  std::vector<TurningRing> (*turning_rings)(const GraphRequest& request) = nullptr;
  /// The time that the library's tuner expects; absent where it does not offer the two. Null: it has no
  /// formula, and the tuner never takes the algorithm by itself.
  std::optional<Seconds> (*expected_time)(const PublishedFigures& figures, Protocol protocol) = nullptr;
  ChannelCosts channels = {};
};

}}  // namespace c3::collectives
