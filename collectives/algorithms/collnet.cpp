// Direct within nodes, the fabric's switches add between them (SHARP).

#include <algorithm>

#include "collectives/algorithms/algorithm.hpp"
#include "collectives/algorithms/entry.hpp"
#include "collectives/algorithms/hierarchy.hpp"

namespace c3 { inline namespace collectives {
namespace {

TransferGraph graph(const GraphRequest& request) { return hierarchy(request, BetweenNodes::fabric); }

bool supports(CollectiveKind kind) { return kind == CollectiveKind::all_reduce; }

bool is_alike(CollectiveKind, const GroupShape&, const NodeSpec&) { return true; }

/// NCCL's CollNet direct (src/graph/tuning.cc): behind a switch, of at most eight GPUs a node.
std::optional<Seconds> expected_time(const PublishedFigures& figures, Protocol protocol) {
  constexpr double kMostGpus = 8.0;
  const SearchedGraph& graph = figures.graphs.collnet;
  const double gpus = figures.ranks_per_node();
  const bool is_offered = graph.channels > 0 && figures.nodes > 1 && figures.reduces_to_all() &&
                          protocol == Protocol::simple && gpus <= kMostGpus &&
                          figures.cluster.node.topology == NodeTopology::switched;
  if (!is_offered) return std::nullopt;
  const double of_nic = gpus / graph.channels;
  const TunedGpu gpu = figures.cluster.gpu.family.tuned_as;
  const double share = gpu == TunedGpu::hopper || gpu == TunedGpu::blackwell ? 0.85 : 1.0;
  const double bus = graph.channels * graph.intra * share / (of_nic - (of_nic - 1.0) / 2.0);
  const double arity = figures.since(19) ? 0.4 : 0.5;  // [us]
  const double latency = 2.0 * (std::min(1.0, gpus - 1.0) * figures.table.collnet_hop + (gpus - 1.0) * arity) +
                         figures.table.collnet_network;
  return microseconds(latency) + figures.call.bytes / gigabytes(0.5 * bus);
}

}  // namespace

extern constexpr AlgorithmEntry kCollnet = {.name = "collnet",
                                            .supports = supports,
                                            .graph = graph,
                                            .is_symmetric = is_alike,
                                            .expected_time = expected_time};

}}  // namespace c3::collectives
