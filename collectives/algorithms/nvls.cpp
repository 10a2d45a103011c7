// S/N by each rank, or S by the root, through the node's switch, which adds and multicasts (NVLink SHARP). An
// all-reduce over nodes goes on to the fabric's switches, which add what the nodes have (SHARP).

#include <algorithm>

#include "collectives/algorithms/algorithm.hpp"
#include "collectives/algorithms/entry.hpp"
#include "collectives/algorithms/hierarchy.hpp"
#include "collectives/library/channel_context.hpp"
#include "collectives/library/switch_chunks.hpp"

namespace c3 { inline namespace collectives {
namespace {

TransferOp op_of(CollectiveKind kind) {
  if (kind == CollectiveKind::all_reduce) return TransferOp::switch_all_reduce;
  return reduces(kind) ? TransferOp::switch_reduce : TransferOp::switch_multicast;
}

TransferGraph graph(const GraphRequest& request) {
  if (!request.cluster.node.switch_reduces)
    request.refuse("needs a switch that reduces, node '" + request.cluster.node.name + "' has none");
  const CollectiveCall& call = request.call;
  if (request.layout.node_count() > 1) {
    const bool fabric_adds = request.cluster.fabric->switch_reduces;
    if (call.kind != CollectiveKind::all_reduce || !fabric_adds)
      request.refuse(
          "reaches GPUs of one node only, unless the fabric's switches reduce all to all; see nvls_tree");
    return hierarchy(request, BetweenNodes::fabric, WithinNodes::node_switch);
  }
  const Bytes shard = call.bytes / static_cast<double>(request.ranks());
  GraphBuilder builder = request.builder(1);
  for (const int rank : request.members) {
    if (is_rooted(call.kind) && rank != call.root) continue;
    if (request.form.folded && rank != 0) continue;
    builder.add({rank, rank, 0, 0, is_rooted(call.kind) ? call.bytes : shard, {}, op_of(call.kind)});
  }
  return builder.take();
}

bool supports(CollectiveKind kind) {
  return goes_in_parts(kind) || kind == CollectiveKind::broadcast || kind == CollectiveKind::reduce;
}

bool is_alike(CollectiveKind kind, const GroupShape& group, const NodeSpec&) {
  return group.nodes == 1 || (kind == CollectiveKind::all_reduce && !group.one_gpu);
}

/// GPUs that pull from the switch at once.
constexpr int kMostHeads = 32;

/// Broadcast and reduce go along rings only (NCCL 2.30.7). An fp8 sum is left to channels: the switch adds 16
/// and 32 bits.
bool is_offered(const PublishedFigures& figures, Protocol protocol) {
  const CollectiveCall& call = figures.call;
  const bool sums_bytes = reduces(call.kind) && call.dtype == DType::fp8;
  const bool gathers = !figures.reduces_to_all();
  const bool takes_kind = !gathers || (figures.since(19) && figures.ranks <= kMostHeads);
  const bool over_sharp = figures.nodes > 1 && figures.reduces_to_all() && figures.library.permits.collnet &&
                          figures.cluster.fabric->switch_reduces;
  return figures.graphs.nvls.channels >= 2 && (figures.nodes == 1 || over_sharp) &&
         protocol == Protocol::simple && !sums_bytes && !is_rooted(call.kind) && takes_kind;
}

/// Releases before 2.28 (src/graph/tuning.cc): five sixths of what the search found.
BytesPerSecond early_rate(const PublishedFigures& figures) {
  const SearchedGraph& graph = figures.graphs.nvls;
  const double all = graph.channels * std::min(graph.intra, graph.inter);
  if (figures.reduces_to_all()) return gigabytes(all * 5.0 / 6.0);
  if (!figures.since(23)) return gigabytes(all * 5.0 / 6.0);
  if (!figures.since(27)) return gigabytes(all);
  const double gpus = figures.ranks_per_node();
  return gigabytes(graph.channels * std::min(graph.intra * (gpus - 1.0) / gpus, graph.inter * 0.9));
}

BytesPerSecond expected_rate(const PublishedFigures& figures) {
  if (!figures.since(28)) return early_rate(figures);
  const SearchedGraph& graph = figures.graphs.nvls;
  const double gpus = figures.ranks_per_node();
  const double intra = graph.intra * nvls_efficiency(figures.cluster.gpu.family.tuned_as) *
                       (graph.channels - 1.0) / graph.channels;
  const double of_call = figures.reduces_to_all() ? 2.0 : (gpus - 1.0) / gpus;
  const double bus = graph.channels * std::min(intra * of_call, graph.inter);
  return gigabytes(figures.reduces_to_all() ? bus * figures.ring_ratio() : bus);
}

std::optional<Seconds> expected_time(const PublishedFigures& figures, Protocol protocol) {
  if (!is_offered(figures, protocol)) return std::nullopt;
  const double between = figures.nodes > 1 ? figures.table.nvls_network : 0.0;
  return microseconds(figures.table.nvls + between) + figures.call.bytes / expected_rate(figures);
}

// --- What channels pay.

/// Over SHARP channels reach what the tuner expects, half of what NICs carry: a NIC's search speed as bus
/// bandwidth. Why they do not reach more no source says; a table of 12 nodes of H100 has 386 GB/s of 384.
std::optional<BytesPerSecond> measured_rate(const PublishedFigures& figures, Protocol) {
  return figures.nodes > 1 ? std::optional(expected_rate(figures)) : std::nullopt;
}

/// Latency of a step over nodes: half of the latency within a node each way, the fabric's once.
Seconds latency_over_nodes(const ChannelContext& channels, const PlannedFlow& flow) {
  const PublishedFigures figures(channels.call, channels.cluster);
  const Seconds between = microseconds(figures.table.nvls_network) +
                          channels.cluster.fabric->transport.slice_latency + channels.between_switches;
  return microseconds(figures.table.nvls / 2.0) * flow.hops + between * flow.network_hops;
}

/// Chunks pass the switch one after another, each behind a synchronisation; two more fill and drain the three
/// stages: copy in, reduce and multicast, copy out.
Seconds latency(const ChannelContext& channels, const PlannedFlow& flow) {
  if (channels.nodes > 1) return latency_over_nodes(channels, flow);
  const Bytes bytes = channels.call.bytes;
  const int ranks = channels.graph.ranks();
  const int heads = heads_of(ranks);
  const Bytes pass = nvls_chunk(bytes, channels.width, heads) * (1.0 * channels.width * heads);
  const double passes = std::max(1.0, bytes / pass);
  const Bytes at_once = std::min(bytes, pass);
  const Seconds on_links = at_once * (1.0 + 1.0 / ranks) / channels.library().nvls_payload;
  const Seconds of_pass = std::max(on_links, at_once / copying_in_switch(channels));
  return channels.library().nvls_latency * (passes + 2.0) + of_pass * 2.0;
}

}  // namespace

extern constexpr AlgorithmEntry kNvls = {.name = "nvls",
                                         .supports = supports,
                                         .graph = graph,
                                         .is_symmetric = is_alike,
                                         .expected_time = expected_time,
                                         .channels = {.use = ChannelUse::in_switch,
                                                      .latency = latency,
                                                      .most = copying_in_switch,
                                                      .measured_rate = measured_rate}};

}}  // namespace c3::collectives
