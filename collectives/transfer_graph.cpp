#include "collectives/transfer_graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <optional>
#include <stdexcept>

#include "collectives/algorithms.hpp"
#include "engine/errors.hpp"

namespace c3 {

bool supports(Algorithm algorithm, CollectiveKind kind) {
  const bool in_parts = kind == CollectiveKind::all_reduce || kind == CollectiveKind::all_gather ||
                        kind == CollectiveKind::reduce_scatter;
  const bool one_to_all = kind == CollectiveKind::broadcast || kind == CollectiveKind::reduce;
  switch (algorithm) {
    case Algorithm::direct:
      return true;
    case Algorithm::ring:
      return in_parts || one_to_all || kind == CollectiveKind::all_to_all;
    case Algorithm::tree:
      return one_to_all || kind == CollectiveKind::all_reduce;
    case Algorithm::nvls:
      return in_parts || one_to_all;
    case Algorithm::hierarchical:
    case Algorithm::halving_doubling:
      return in_parts;
    case Algorithm::pat:
      return kind == CollectiveKind::all_gather || kind == CollectiveKind::reduce_scatter;
    case Algorithm::nvls_tree:
    case Algorithm::collnet:
      return kind == CollectiveKind::all_reduce;
  }
  throw std::logic_error("supports: unknown algorithm");
}

namespace {

/// What a group uses of a cluster.
struct GroupShape {
  int ranks, nodes;
  bool one_gpu;  ///< of each node
};

/// Of each rank's group, where all see the cluster alike: all ranks, part of a node, or a GPU of every so many
/// nodes.
std::optional<GroupShape> common_shape(const CollectiveCall& call, const ClusterSpec& cluster) {
  if (!call.ranks.empty()) return std::nullopt;
  const int gpus = cluster.node.gpus;
  if (!call.groups || call.groups->size == cluster.ranks())
    return GroupShape{cluster.ranks(), cluster.nodes, gpus == 1};
  members_of(call, cluster.ranks());  // refuses groups that there cannot be
  const RankGroups& groups = *call.groups;
  if (gpus % groups.block() == 0) return GroupShape{groups.size, 1, false};
  const bool spans_nodes = groups.stride % gpus == 0 && groups.block() == cluster.ranks();
  return spans_nodes ? std::optional(GroupShape{groups.size, groups.size, true}) : std::nullopt;
}

}  // namespace

bool is_symmetric(const CollectiveCall& call, Algorithm algorithm, const ClusterSpec& cluster) {
  const std::optional<GroupShape> group = common_shape(call, cluster);
  if (!group || is_rooted(call.kind) || call.kind == CollectiveKind::all_to_all_v) return false;
  switch (algorithm) {
    case Algorithm::direct:
    case Algorithm::hierarchical:
    case Algorithm::collnet:
      // A shift sends to another node from the last GPU of one only.
      return call.kind != CollectiveKind::send_receive || group->nodes == 1 || group->one_gpu;
    case Algorithm::ring:  // a GPU's NIC is loaded by its own ring alone, which is another for each
      return group->nodes == 1 || group->one_gpu;
    case Algorithm::nvls:
      return group->nodes == 1;
    case Algorithm::halving_doubling:  // partners at different distances share a link of a mesh both ways
      return std::has_single_bit(static_cast<unsigned>(group->ranks)) &&
             (group->one_gpu || cluster.node.topology == NodeTopology::switched);
    case Algorithm::pat:
      return group->one_gpu;
    case Algorithm::tree:
    case Algorithm::nvls_tree:
      return false;
  }
  throw std::logic_error("is_symmetric: unknown algorithm");
}

namespace {

/// Whether an all-reduce of S through the switch, S (1 + 1/n) a direction, is faster than along a ring, 2S
/// (n-1)/n. A library does not try with two ranks.
bool is_faster_in_switch(const CollectiveCall& call, const ClusterSpec& cluster) {
  const CollectiveLibrarySpec& library = cluster.library;
  if (!cluster.node.switch_reduces || library.nvls_channels == 0 || cluster.nodes > 1) return false;
  const double n = member_count(call, cluster.ranks());
  return n > 2.0 &&
         (1.0 + 1.0 / n) / library.nvls_payload.value < 2.0 * (n - 1.0) / n / library.link_payload.value;
}

}  // namespace

Algorithm default_algorithm(const CollectiveCall& call, Backend backend, const ClusterSpec& cluster) {
  const NodeTopology topology = cluster.node.topology;
  const bool by_pairs = call.kind == CollectiveKind::all_to_all || topology == NodeTopology::full_mesh;
  if (backend == Backend::fused) return by_pairs ? Algorithm::direct : Algorithm::ring;
  switch (call.kind) {
    case CollectiveKind::all_reduce:
      return backend == Backend::cu && is_faster_in_switch(call, cluster) ? Algorithm::nvls : Algorithm::ring;
    case CollectiveKind::all_gather:
      if (topology == NodeTopology::full_mesh && cluster.nodes == 1) return Algorithm::direct;
      return backend == Backend::cu || topology == NodeTopology::wired ? Algorithm::ring : Algorithm::direct;
    case CollectiveKind::reduce_scatter:
    case CollectiveKind::broadcast:
    case CollectiveKind::reduce:
      return backend == Backend::cu ? Algorithm::ring : Algorithm::direct;
    case CollectiveKind::all_to_all:
    case CollectiveKind::all_to_all_v:
    case CollectiveKind::gather:
    case CollectiveKind::scatter:
    case CollectiveKind::send_receive:
    case CollectiveKind::barrier:
      return Algorithm::direct;
  }
  throw std::logic_error("default_algorithm: unknown collective");
}

int GraphRequest::lanes(std::size_t wanted) const {
  return static_cast<int>(std::min(wanted, static_cast<std::size_t>(std::max(1, form.most_lanes))));
}

GraphBuilder GraphRequest::builder(int lanes, bool pipelined) const {
  TransferGraph graph{
      .members = members, .lanes = lanes, .steps = 0, .pipelined = pipelined, .node_gpus = cluster.node.gpus};
  return {fmt::format("{}: the {} algorithm", name_of(call.kind), name_of(algorithm)), std::move(graph)};
}

void GraphRequest::refuse(const std::string& why) const {
  throw InfeasibleError(fmt::format("{}: {} {}", name_of(call.kind), name_of(algorithm), why));
}

TransferGraph make_transfer_graph(const CollectiveCall& call, Algorithm algorithm, const ClusterSpec& cluster,
                                  const GraphForm& form) {
  const std::vector<int> members = members_of(call, cluster.ranks());
  if (!supports(algorithm, call.kind)) {
    throw InfeasibleError(
        fmt::format("{}: the {} algorithm does not support it", name_of(call.kind), name_of(algorithm)));
  }
  if (form.folded && !is_symmetric(call, algorithm, cluster))
    throw std::logic_error("make_transfer_graph: ranks differ, so that none stands for all");
  const GraphRequest request{call, algorithm, cluster, form, members, layout_of(members, cluster.node.gpus)};
  switch (algorithm) {
    case Algorithm::direct:
      return direct_graph(request);
    case Algorithm::ring:
      return ring_graph(request);
    case Algorithm::tree:
      return tree_graph(request);
    case Algorithm::nvls:
      return in_switch_graph(request);
    case Algorithm::nvls_tree:
      return nvls_tree_graph(request);
    case Algorithm::hierarchical:
    case Algorithm::collnet:
      return hierarchical_graph(request);
    case Algorithm::halving_doubling:
      return halving_doubling_graph(request);
    case Algorithm::pat:
      return pat_graph(request);
  }
  throw std::logic_error("make_transfer_graph: unknown algorithm");
}

Bytes bytes_sent(const TransferGraph& graph, int rank) {
  Bytes sent;
  for (const Transfer& transfer : graph.transfers) {
    const bool all_contribute =
        transfer.op == TransferOp::switch_reduce || transfer.op == TransferOp::switch_all_reduce;
    if (all_contribute && transfer.src / graph.node_gpus == rank / graph.node_gpus) sent += transfer.bytes;
    if (transfer.src == rank && transfer.op != TransferOp::switch_reduce) sent += transfer.bytes;
  }
  return sent;
}

}  // namespace c3
