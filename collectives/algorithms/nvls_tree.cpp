// The node's switch adds S/g for each GPU, two binary trees over nodes join GPUs of a rail.

#include <algorithm>

#include "collectives/algorithms/algorithm.hpp"
#include "collectives/algorithms/double_tree.hpp"
#include "collectives/algorithms/entry.hpp"
#include "collectives/library/switch_chunks.hpp"
#include "interconnect/fabric.hpp"

namespace c3::inline collectives {
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

/// Whether authors have measured channels there.
bool is_measured(const PublishedFigures& figures) {
  return figures.caps.nvls_tree[figures.index_of_nodes()] > 0.0;
}

/// Eight channels, one for each head; of two nodes each carries its result one way only.
BytesPerSecond rate(const PublishedFigures& figures) {
  const double within = 2.0 * figures.library.nvls_tuner_bandwidth.value;
  const double between = figures.fabric.value * (figures.nodes == 2 ? 2.0 : 1.0);
  const double cap = kNvlsTreeHeads * 1e9 * figures.caps.nvls_tree[figures.index_of_nodes()];
  return BytesPerSecond{std::min({within, between, cap})} * figures.ring_ratio();
}

std::optional<Seconds> expected_time(const PublishedFigures& figures, Protocol protocol) {
  const bool is_offered = figures.cluster.node.switch_reduces && figures.nodes > 1 &&
                          figures.ranks > figures.nodes && figures.library.nvls_channels > 0 &&
                          protocol == Protocol::simple && is_measured(figures) &&
                          figures.call.dtype != DType::fp8;
  if (!is_offered) return std::nullopt;
  const double latency = figures.table.nvls + 2.0 * figures.depth() * figures.table.nvls_tree_network;
  return microseconds(latency) + figures.call.bytes / rate(figures);
}

std::optional<BytesPerSecond> measured_rate(const PublishedFigures& figures, Protocol) {
  return is_measured(figures) ? std::optional(rate(figures)) : std::nullopt;
}

/// A chunk's second copy, out of the buffer into which it was copied first, begins when the first has ended.
/// Each chunk synchronises the node's GPUs; those of the size at which the rate was measured are in the rate.
Seconds setup(const ChannelContext& channels) {
  if (!channels.measured_rate) return channels.costs.base_latency;
  const Bytes bytes = channels.call.bytes;
  const int width = channels.width;
  const int heads = heads_of(channels.graph.ranks() / channels.nodes);
  const Bytes set = channels.cluster.fabric->transport.switch_chunk;
  const Bytes pass = nvls_tree_chunk(bytes, width, heads, channels.nodes, set) * (1.0 * width * heads);
  const Bytes measured = largest_nvls_tree_chunk(channels.nodes) * width * heads;
  const double more = std::max(1.0, bytes / pass) - bytes / measured;
  return std::min(bytes, pass) / *channels.measured_rate +
         channels.costs.hop_latency * (0.5 * std::max(0.0, more));
}

Seconds latency(const ChannelContext& channels, const PlannedFlow& flow) {
  const CollectiveLibrarySpec& library = channels.library();
  const Seconds between = library.nvls_tree_network_latency + channels.cluster.fabric->transport.slice_latency +
                          channels.between_switches;
  return library.nvls_tree_latency * flow.hops + between * flow.network_hops;
}

}  // namespace

extern constexpr AlgorithmEntry kNvlsTree = {
    .name = "nvls_tree",
    .supports = supports,
    .graph = graph,
    .expected_time = expected_time,
    .channels = {
        .use = ChannelUse::in_switch, .setup = setup, .latency = latency, .measured_rate = measured_rate}};

}  // namespace c3::collectives
