// The node's switch adds S/g for each GPU, two binary trees over nodes join GPUs of a rail.

#include <algorithm>

#include "collectives/algorithms/algorithm.hpp"
#include "collectives/algorithms/double_tree.hpp"
#include "collectives/algorithms/entry.hpp"
#include "collectives/library/channel_context.hpp"
#include "collectives/library/switch_chunks.hpp"
#include "interconnect/fabric.hpp"

namespace c3 { inline namespace collectives {
namespace {

/// One tree over the GPUs of a rail. Each has its node's sum of its part from the switch, adds what comes from
/// below, and multicasts the result that comes from above.
class RailTree {
 public:
  RailTree(GraphBuilder& graph, int lane, Bytes bytes, std::vector<int> numbered)
      : graph_(graph),
        lane_(lane),
        bytes_(bytes),
        tree_{static_cast<int>(numbered.size())},
        ranks_(std::move(numbered)) {
    spread(0, gather(0));
  }

 private:
  int rank(int number) const { return ranks_[static_cast<std::size_t>(number)]; }

  std::uint32_t send(int src, int dst, std::vector<std::uint32_t> after, TransferOp op) {
    return graph_.add_next({src, dst, lane_, 0, bytes_, std::move(after), op});
  }

  std::vector<std::uint32_t> gather(int number) {
    std::vector<std::uint32_t> here = {send(rank(number), rank(number), {}, TransferOp::switch_reduce)};
    for (const int child : tree_.children(number)) {
      std::vector<std::uint32_t> below = gather(child);
      here.push_back(send(rank(child), rank(number), std::move(below), TransferOp::update));
    }
    return here;
  }

  void spread(int number, const std::vector<std::uint32_t>& here) {
    send(rank(number), rank(number), here, TransferOp::switch_multicast);
    for (const int child : tree_.children(number))
      spread(child, {send(rank(number), rank(child), here, TransferOp::store)});
  }

  GraphBuilder& graph_;
  int lane_;
  Bytes bytes_;
  InOrderTree tree_;
  std::vector<int> ranks_;
};

TransferGraph graph(const GraphRequest& request) {
  const GroupLayout& layout = request.layout;
  if (!request.cluster.node.switch_reduces)
    request.refuse("needs a switch that reduces, node '" + request.cluster.node.name + "' has none");
  if (layout.node_count() < 2) request.refuse("joins several nodes; within one see nvls");
  if (!layout.is_regular()) request.refuse("needs the same GPUs of every node");
  const int lanes = request.lanes(2);
  GraphBuilder builder = request.builder(lanes, /*pipelined=*/true);
  const double parts = static_cast<double>(layout.members_per_node()) * lanes;
  for (int lane = 0; lane < lanes; ++lane) {
    for (int slot = 0; slot < layout.members_per_node(); ++slot) {
      std::vector<int> rail;
      for (const std::vector<int>& node : layout.nodes)
        rail.push_back(node[static_cast<std::size_t>(slot)]);
      RailTree(builder, lane, request.call.bytes / parts, nccl_numbering(rail, lane));
    }
  }
  return builder.take();
}

bool supports(CollectiveKind kind) { return kind == CollectiveKind::all_reduce; }

/// What authors have measured of a head's channel there; 0: nothing.
double measured_head(const ChannelCaps& caps, const PublishedFigures& figures) {
  return caps.nvls_tree[figures.index_of_nodes()];
}

/// Releases before 2.28 (src/graph/tuning.cc).
BytesPerSecond early_rate(const PublishedFigures& figures) {
  const SearchedGraph& graph = figures.graphs.nvls;
  const double nodes = figures.nodes;
  if (!figures.since(19)) return figures.bandwidth(graph) * (0.7 * nodes / (2.0 * (nodes - 1.0)));
  const double inter = nodes <= 2 ? graph.inter : graph.inter / 2.0;
  return gigabytes(graph.channels * std::min(graph.intra, inter) * 5.0 / 6.0);
}

/// With two nodes each channel carries its result one way only.
BytesPerSecond expected_rate(const PublishedFigures& figures) {
  if (!figures.since(28)) return early_rate(figures);
  const SearchedGraph& graph = figures.graphs.nvls;
  const double intra = 2.0 * graph.intra * nvls_efficiency(figures.cluster.gpu.family.tuned_as) *
                       (graph.channels - 1.0) / graph.channels;
  const double inter = graph.inter * (figures.nodes == 2 ? 2.0 : 1.0);
  return gigabytes(graph.channels * std::min({intra, inter, measured_head(figures.caps, figures)})) *
         figures.ring_ratio();
}

/// [us]
double expected_latency(const PublishedFigures& figures) {
  const double network = figures.table.nvls_tree_network;
  const double steps = figures.since(19) ? 2.0 * figures.depth() : 2.0 * (figures.nodes - 1.0);
  return figures.table.nvls + steps * network;
}

/// Trees of Blackwell with hosts by x86 lose by size as others do, from 2.29 on.
double correction(const PublishedFigures& figures) {
  const bool applies = figures.since(29) && figures.cluster.gpu.family.tuned_as == TunedGpu::blackwell &&
                       figures.library.host_processor != HostProcessor::arm;
  return applies ? nvls_tree_correction(figures.log_size()) : 1.0;
}

std::optional<Seconds> expected_time(const PublishedFigures& figures, Protocol protocol) {
  const bool is_offered = figures.graphs.nvls.channels >= 2 && figures.nodes > 1 &&
                          protocol == Protocol::simple && figures.call.dtype != DType::fp8;
  if (!is_offered) return std::nullopt;
  return microseconds(expected_latency(figures)) +
         figures.call.bytes / (expected_rate(figures) * correction(figures));
}

std::optional<BytesPerSecond> measured_rate(const PublishedFigures& figures, Protocol) {
  const double cap = measured_head(figures.measured, figures) * figures.graphs.nvls.channels;
  return cap > 0.0 ? std::optional(gigabytes(cap) * figures.ring_ratio()) : std::nullopt;
}

/// Largest chunks of all channels, as passed the switch when the rate was measured.
Bytes measured_pass(const ChannelContext& channels) {
  const Bytes largest = largest_nvls_tree_chunk(PublishedFigures(channels.call, channels.cluster));
  return largest * (1.0 * channels.width * heads_of(channels.graph.ranks() / channels.nodes));
}

/// Within a node channels do what they do in nvls, however many nodes there are: they copy each pass. Where the
/// rate was measured, each pass waits for a synchronisation first; elsewhere that wait is part of the latency.
BytesPerSecond most(const ChannelContext& channels) {
  if (!channels.measured_rate) return copying_in_switch(channels);
  const Bytes pass = measured_pass(channels);
  return pass / (pass / copying_in_switch(channels) + channels.library().nvls_latency);
}

/// A chunk's second copy, out of the buffer into which it was copied first, begins when the first has ended.
/// Each chunk synchronises the node's GPUs; those of the size at which the rate was measured are in the rate.
Seconds setup(const ChannelContext& channels) {
  if (!channels.measured_rate) return channels.costs.base_latency;
  const Bytes bytes = channels.call.bytes;
  const int width = channels.width;
  const int heads = heads_of(channels.graph.ranks() / channels.nodes);
  const Bytes set = channels.cluster.fabric->transport.switch_chunk;
  const Bytes largest = largest_nvls_tree_chunk(PublishedFigures(channels.call, channels.cluster));
  const Bytes pass =
      nvls_tree_chunk(bytes, width, heads, set.value > 0.0 ? set : largest) * (1.0 * width * heads);
  const double more = std::max(1.0, bytes / pass) - bytes / measured_pass(channels);
  return std::min(bytes, pass) / std::min(*channels.measured_rate, copying_in_switch(channels)) +
         channels.costs.hop_latency * (0.5 * std::max(0.0, more));
}

Seconds latency(const ChannelContext& channels, const PlannedFlow& flow) {
  const CollectiveLibrarySpec& library = channels.library();
  const Seconds between = library.nvls_tree_network_latency + channels.cluster.fabric->transport.slice_latency +
                          channels.between_switches;
  return library.nvls_tree_latency * flow.hops + between * flow.network_hops;
}

}  // namespace

extern constexpr AlgorithmEntry kNvlsTree = {.name = "nvls_tree",
                                             .supports = supports,
                                             .graph = graph,
                                             .expected_time = expected_time,
                                             .channels = {.use = ChannelUse::in_switch,
                                                          .setup = setup,
                                                          .latency = latency,
                                                          .most = most,
                                                          .measured_rate = measured_rate}};

}}  // namespace c3::collectives
