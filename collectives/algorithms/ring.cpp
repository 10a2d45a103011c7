// Along as many rings as links and NICs allow: S/N/R in each step of a ring; a pipelined chain for a root.

#include <algorithm>
#include <cmath>

#include "collectives/algorithms/algorithm.hpp"
#include "collectives/algorithms/entry.hpp"
#include "collectives/algorithms/node_paths.hpp"
#include "collectives/library/channel_context.hpp"
#include "collectives/turning_ring.hpp"
#include "interconnect/interconnect.hpp"

namespace c3 { inline namespace collectives {
namespace {

using Ring = std::vector<int>;

/// Ring k takes path k through nodes 0, 2, 4, .. and its reverse through the others: it leaves a node at the
/// GPU at which it enters the next, so on one rail, as NCCL's alternating rings do. Only the last of an odd
/// number of nodes sends to another rail.
std::vector<Ring> rings_over_nodes(const GraphRequest& request) {
  const NodeSpec& node = request.cluster.node;
  std::vector<std::vector<Ring>> ways;  // one per node
  std::size_t rings = 0;
  for (const std::vector<int>& ranks : request.layout.nodes) {
    std::vector<int> gpus;
    for (const int rank : ranks)
      gpus.push_back(rank % node.gpus);
    ways.push_back(node_paths(node, gpus, request.nics()));
    rings = std::max(rings, ways.back().size());
  }
  std::vector<Ring> joined(rings);
  for (std::size_t k = 0; k < rings; ++k) {
    for (std::size_t n = 0; n < ways.size(); ++n) {
      Ring way = ways[n][k % ways[n].size()];
      if (n % 2 == 1) std::ranges::reverse(way);
      const int first = request.layout.nodes[n].front() / node.gpus * node.gpus;
      for (const int gpu : way)
        joined[k].push_back(first + gpu);
    }
  }
  return joined;
}

std::vector<Ring> rings_of(const GraphRequest& request) {
  std::vector<Ring> rings = request.layout.node_count() == 1
                                ? disjoint_rings(request.cluster.node, request.layout.nodes.front())
                                : rings_over_nodes(request);
  rings.resize(static_cast<std::size_t>(request.lanes(rings.size())));
  return rings;
}

std::vector<TurningRing> turn(const GraphRequest& request, const std::vector<Ring>& rings) {
  const CollectiveKind kind = request.call.kind;
  std::vector<TurningRing> turning;
  for (const Ring& ring : rings) {
    const auto turns = static_cast<int>(ring.size()) - 1;
    const Bytes piece = request.call.bytes / static_cast<double>(rings.size() * ring.size());
    const bool forwards = kind == CollectiveKind::all_to_all;  // the pieces for others
    turning.push_back({.order = ring,
                       .lane = static_cast<int>(turning.size()),
                       .steps = kind == CollectiveKind::all_reduce ? 2 * turns : turns,
                       .adding_steps = reduces(kind) ? turns : 0,
                       .first = forwards ? piece * turns : piece,
                       .less = forwards ? piece : Bytes{}});
  }
  return turning;
}

/// Writes rings out, step by step or all steps of an edge that do the same as one.
class TurningRings {
 public:
  TurningRings(const GraphRequest& request, GraphBuilder& graph) : request_(request), graph_(graph) {}

  void add(const TurningRing& ring) {
    if (request_.form.every_step) {
      for (int step = 0; step < ring.steps; ++step)
        add_step(ring, step);
      return;
    }
    if (ring.adding_steps > 0) add_turns(ring, 0, ring.adding_steps);
    if (ring.adding_steps < ring.steps) add_turns(ring, ring.adding_steps, ring.steps);
  }

 private:
  int at(const TurningRing& ring, std::size_t index) const { return ring.order[index % ring.order.size()]; }

  void add_step(const TurningRing& ring, int step) {
    const std::size_t ranks = ring.order.size();
    const std::uint32_t first = graph_.next();
    for (std::size_t from = 0; from < ranks; ++from) {
      Transfer transfer{at(ring, from), at(ring, from + 1), ring.lane, step, ring.bytes(step), {},
                        ring.op(step)};
      const auto upstream = static_cast<std::uint32_t>((from + ranks - 1) % ranks);
      if (step > 0) transfer.after.push_back(first - static_cast<std::uint32_t>(ranks) + upstream);
      graph_.add(std::move(transfer));
    }
  }

  /// Steps [begin, end) at once. What an edge sends last has come over every edge but the one after it.
  void add_turns(const TurningRing& ring, int begin, int end) {
    const std::size_t ranks = ring.order.size();
    Bytes bytes;
    for (int step = begin; step < end; ++step)
      bytes += ring.bytes(step);
    int crossings = 0;
    for (std::size_t from = 0; from < ranks; ++from)
      crossings += graph_.crosses(at(ring, from), at(ring, from + 1)) ? 1 : 0;
    const std::uint32_t first = graph_.next();
    const bool goes_on = begin > 0;
    for (std::size_t from = 0; from < ranks; ++from) {
      Transfer transfer{at(ring, from), at(ring, from + 1), ring.lane, goes_on ? 1 : 0, bytes, {},
                        ring.op(begin)};
      transfer.network_hops = crossings - (graph_.crosses(at(ring, from + 1), at(ring, from + 2)) ? 1 : 0);
      transfer.hops = end - begin - transfer.network_hops;
      const auto downstream = static_cast<std::uint32_t>((from + 1) % ranks);
      if (goes_on) transfer.after.push_back(first - static_cast<std::uint32_t>(ranks) + downstream);
      graph_.add(std::move(transfer));
    }
  }

  const GraphRequest& request_;
  GraphBuilder& graph_;
};

/// Adds the transfers along the ring that begin at the root (broadcast) or end there (reduce).
void add_chain(GraphBuilder& graph, const CollectiveCall& call, Ring ring, int lane, Bytes bytes) {
  std::ranges::rotate(ring, std::ranges::find(ring, call.root));
  const bool to_root = call.kind == CollectiveKind::reduce;
  if (to_root) std::ranges::rotate(ring, ring.begin() + 1);
  const TransferOp op = to_root ? TransferOp::update : TransferOp::store;
  for (std::size_t at = 0; at + 1 < ring.size(); ++at) {
    const auto step = static_cast<int>(at);
    Transfer transfer{ring[at], ring[at + 1], lane, step, bytes, {}, op};
    transfer.stage = step;
    if (step > 0) transfer.after.push_back(graph.next() - 1);
    graph.add(std::move(transfer));
  }
}

TransferGraph graph(const GraphRequest& request) {
  const std::vector<Ring> rings = rings_of(request);
  const CollectiveCall& call = request.call;
  const bool rooted = is_rooted(call.kind);
  GraphBuilder builder = request.builder(static_cast<int>(rings.size()), /*pipelined=*/rooted);
  if (rooted) {
    for (std::size_t k = 0; k < rings.size(); ++k)
      add_chain(builder, call, rings[k], static_cast<int>(k), call.bytes / static_cast<double>(rings.size()));
  } else {
    for (const TurningRing& ring : turn(request, rings))
      TurningRings(request, builder).add(ring);
  }
  return request.form.folded ? fold(builder.take()) : builder.take();
}

std::vector<TurningRing> rings_to_turn(const GraphRequest& request) { return turn(request, rings_of(request)); }

bool supports(CollectiveKind kind) {
  return goes_in_parts(kind) || kind == CollectiveKind::all_to_all || kind == CollectiveKind::broadcast ||
         kind == CollectiveKind::reduce;
}

/// A GPU's NIC is loaded by its own ring alone, which is another for each.
bool is_alike(CollectiveKind, const GroupShape& group, const NodeSpec&) {
  return group.nodes == 1 || group.one_gpu;
}

// --- What the tuner expects.

/// A host's, for a step between nodes; protocol simple posts thrice [us]. NCCL 2.30.7, getNetOverhead.
double post_of_step(const CollectiveLibrarySpec& library) {
  return library.host_processor == HostProcessor::amd ? 2.0 : 1.0;
}

/// Bytes of one rank and channel from which a ring over nodes waits longer for each step (NCCL 2.30.7, plateau
/// effect of ring, published for all_reduce).
constexpr double kPlateauBytes = 64.0;

/// The share of the bus bandwidth that protocol ll reaches.
double share_in_ll(const PublishedFigures& figures) {
  if (figures.since(21)) return kRingShareInLl;
  const bool adds = figures.reduces_to_all() || figures.call.kind == CollectiveKind::reduce;
  return figures.nodes > 1 || adds ? 1.0 / 4.0 : 1.0 / 3.0;
}

/// RCCL expects more of ll where one rank of a node of MI300X or MI355X sends to all, or gets sums from them.
double rccl_share_of_root(const PublishedFigures& figures, Protocol protocol) {
  const TunedGpu gpu = figures.cluster.gpu.family.tuned_as;
  const bool applies = is_rooted(figures.call.kind) && figures.nodes == 1 && protocol == Protocol::ll &&
                       (gpu == TunedGpu::mi300x || gpu == TunedGpu::mi355x);
  return applies ? 1.65 : 1.0;
}

BytesPerSecond expected_rate(const PublishedFigures& figures, Protocol protocol) {
  if (const TunerShares* shares = figures.table.shares) {
    const SharesBySize* by_size = figures.nodes > 1 ? &shares->ring_by_size : nullptr;
    const double share = figures.share(shares->ring, by_size, protocol) * rccl_share_of_root(figures, protocol);
    return figures.bandwidth() * (share * figures.ring_ratio());
  }
  const SearchedGraph& graph = figures.graphs.ring;
  BytesPerSecond bus = figures.bandwidth(graph);
  if (protocol == Protocol::ll) bus = std::min(bus * share_in_ll(figures), figures.most_in_ll());
  if (protocol == Protocol::ll128) {
    const bool turns_at_gpu = figures.ranks_per_node() < 2.0 && !figures.since(23);
    const double cap = figures.caps.ring_ll128[figures.index_of_nodes()];
    bus = std::min(bus * (turns_at_gpu ? 0.7 : kRingShareInLl128), gigabytes(graph.channels * cap));
  }
  return bus * figures.ring_ratio();
}

/// Steps between nodes, as the tuner counts them.
int steps_between(const PublishedFigures& figures) {
  if (figures.nodes == 1) return 0;
  const bool is_nccl = figures.library.rules == TunerRules::nccl;
  if (figures.reduces_to_all()) return 2 * (is_nccl && !figures.since(23) ? figures.nodes : figures.nodes - 1);
  return figures.nodes - 1;
}

/// [us]
double expected_latency(const PublishedFigures& figures, Protocol its_protocol) {
  const TunerTable& table = figures.table;
  const auto protocol = static_cast<std::size_t>(its_protocol);
  const bool is_simple = its_protocol == Protocol::simple;
  const int nodes = figures.nodes;
  const double hop = (figures.over_pcie ? table.ring_pcie : table.ring_hop)[protocol];
  if (is_rooted(figures.call.kind))
    return table.ring_base[protocol] + (nodes == 1 ? hop : table.ring_network[protocol]);
  const double posts = (is_simple ? 3.0 : 1.0) * post_of_step(figures.library);
  const double within = nodes == 1 ? hop : std::max(hop, posts);
  const int between = steps_between(figures);
  // With one GPU a node nothing hides a network hop; releases before 2.23 did not tell.
  const bool exposed = figures.ranks == nodes && figures.since(23);
  const double network = (exposed ? table.tree_network : table.ring_network)[protocol];
  const double latency = table.ring_base[protocol] + (figures.steps() - between) * within + between * network;
  const int channels =
      figures.library.rules == TunerRules::nccl ? figures.graphs.channels : figures.library.channels;
  const bool plateau = nodes > 1 && is_simple && figures.reduces_to_all() &&
                       figures.call.bytes.value / (channels * figures.ranks) >= kPlateauBytes;
  return plateau ? figures.library.ring_plateau * latency : latency;
}

std::optional<Seconds> expected_time(const PublishedFigures& figures, Protocol protocol) {
  if (figures.call.kind == CollectiveKind::all_to_all) return std::nullopt;  // libraries send in pairs
  return microseconds(expected_latency(figures, protocol)) +
         figures.call.bytes / expected_rate(figures, protocol);
}

// --- What channels pay.

Seconds setup(const ChannelContext& channels) {
  const bool meets_neighbours = channels.protocol == Protocol::simple && channels.nodes == 1;
  return channels.costs.base_latency +
         channels.costs.hop_latency * (meets_neighbours ? channels.library().handshake_hops : 0.0);
}

/// Steps between nodes take longer once channels carry more than a line.
double plateau(const ChannelContext& channels) {
  const CollectiveLibrarySpec& library = channels.library();
  const bool applies = channels.protocol == Protocol::simple && channels.nodes > 1 &&
                       !channels.graph.pipelined &&
                       channels.call.bytes.value / (library.channels * channels.graph.ranks()) >= kPlateauBytes;
  return applies ? library.ring_plateau : 1.0;
}

/// Payload rate of one channel, with its share of the link.
BytesPerSecond rate_in_lane(const ChannelContext& channels, int lane) {
  const BytesPerSecond link = channels.library().link_payload * channels.costs.link_share;
  return std::min(channels.costs.channel_rate, link / static_cast<double>(channels.in_lane(lane)));
}

/// Half a chunk: a chunk is two slices.
Seconds last_slice(const ChannelContext& channels, int lane) {
  const Bytes chunk = channels.library().ring_chunk;
  if (chunk.value <= 0.0) return {};
  const Bytes most =
      channels.longest[static_cast<std::size_t>(lane)] / static_cast<double>(channels.in_lane(lane));
  return std::min(most, chunk) * 0.5 / rate_in_lane(channels, lane);
}

/// The part of the slices' latency that the flow of the chunk's other slice does not hide.
Seconds of_slices(const ChannelContext& channels, const PlannedFlow& flow) {
  const Seconds slice = channels.node_hop() + channels.library().slice_wait;
  return std::max(Seconds{}, slice - last_slice(channels, flow.legs.front().lane)) * flow.hops;
}

/// Without a known slice_wait, a step's latency is paid in full.
Seconds latency(const ChannelContext& channels, const PlannedFlow& flow) {
  const bool in_slices = channels.protocol == Protocol::simple && channels.nodes == 1 &&
                         !channels.graph.pipelined && channels.library().slice_wait.value > 0.0;
  return in_slices && !flow.legs.empty() ? of_slices(channels, flow) : channels.steps(flow) * plateau(channels);
}

/// The chunk of a chain: as small as keeps the time in which the chain fills (a chunk for each rank between its
/// ends) at half of the time in which its bytes flow, in whole smallest slices of the primitives (a step by
/// 32). Assumed: no source says how a chain's filling stays hidden, but measured broadcasts show none.
Bytes chunk(const ChannelContext& channels, Bytes of_channel) {
  const Bytes most = channels.library().chunk_size;
  const int between = channels.graph.ranks() - 2;
  if (between < 1 || most.value <= 0.0) return most;
  const Bytes slice = most / 32.0;
  const double slices = std::ceil(of_channel / (2.0 * between) / slice);
  return std::clamp(slice * slices, slice, most);
}

}  // namespace

extern constexpr AlgorithmEntry kRing = {.name = "ring",
                                         .supports = supports,
                                         .graph = graph,
                                         .is_symmetric = is_alike,
                                         .turning_rings = rings_to_turn,
                                         .expected_time = expected_time,
                                         .channels = {.use = ChannelUse::rings,
                                                      .setup = setup,
                                                      .latency = latency,
                                                      .last_slice = last_slice,
                                                      .chunk = chunk}};

}}  // namespace c3::collectives
