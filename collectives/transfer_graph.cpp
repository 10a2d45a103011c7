#include "collectives/transfer_graph.hpp"

#include <fmt/format.h>

#include <stdexcept>

#include "collectives/algorithms.hpp"
#include "engine/errors.hpp"

namespace c3 {

bool supports(Algorithm algorithm, CollectiveKind kind) {
  const bool in_pairs = kind == CollectiveKind::all_to_all_v || kind == CollectiveKind::send_receive ||
                        kind == CollectiveKind::barrier;
  const bool one_to_all = kind == CollectiveKind::broadcast || kind == CollectiveKind::reduce;
  switch (algorithm) {
    case Algorithm::direct:
      return true;
    case Algorithm::ring:
      return !in_pairs;
    case Algorithm::tree:
      return one_to_all || kind == CollectiveKind::all_reduce;
    case Algorithm::nvls:
      return !in_pairs && kind != CollectiveKind::all_to_all;
  }
  throw std::logic_error("supports: unknown algorithm");
}

bool is_symmetric(const CollectiveCall& call, Algorithm algorithm) {
  const bool ranks_differ = call.kind == CollectiveKind::all_to_all_v ||
                            call.kind == CollectiveKind::broadcast || call.kind == CollectiveKind::reduce;
  return call.ranks.empty() && !ranks_differ && algorithm != Algorithm::tree;
}

namespace {

/// Whether an all-reduce of S through the switch, S (1 + 1/n) a direction, is faster than along a ring, 2S
/// (n-1)/n. A library does not try with two ranks.
bool is_faster_in_switch(const CollectiveCall& call, const ClusterSpec& cluster) {
  const CollectiveLibrarySpec& library = cluster.library;
  if (!cluster.node.switch_reduces || library.nvls_channels == 0) return false;
  const double n = call.ranks.empty() ? cluster.ranks() : static_cast<double>(call.ranks.size());
  return n > 2.0 &&
         (1.0 + 1.0 / n) / library.nvls_payload.value < 2.0 * (n - 1.0) / n / library.link_payload.value;
}

}  // namespace

Algorithm default_algorithm(const CollectiveCall& call, Backend backend, const ClusterSpec& cluster) {
  const NodeTopology topology = cluster.node.topology;
  switch (call.kind) {
    case CollectiveKind::all_reduce:
      return backend == Backend::cu && is_faster_in_switch(call, cluster) ? Algorithm::nvls : Algorithm::ring;
    case CollectiveKind::all_gather:
      if (topology == NodeTopology::full_mesh) return Algorithm::direct;
      return backend == Backend::cu || topology == NodeTopology::wired ? Algorithm::ring : Algorithm::direct;
    case CollectiveKind::reduce_scatter:
    case CollectiveKind::broadcast:
    case CollectiveKind::reduce:
      return backend == Backend::cu ? Algorithm::ring : Algorithm::direct;
    case CollectiveKind::all_to_all:
    case CollectiveKind::all_to_all_v:
    case CollectiveKind::send_receive:
    case CollectiveKind::barrier:
      return Algorithm::direct;
  }
  throw std::logic_error("default_algorithm: unknown collective");
}

TransferGraph make_transfer_graph(const CollectiveCall& call, Algorithm algorithm, const NodeSpec& node) {
  const std::vector<int> members = members_of(call, node.gpus);
  if (!supports(algorithm, call.kind)) {
    throw InfeasibleError(
        fmt::format("{}: there is no {} algorithm for it", name_of(call.kind), name_of(algorithm)));
  }
  switch (algorithm) {
    case Algorithm::direct:
      return direct_graph(call, members);
    case Algorithm::ring:
      return ring_graph(call, members, node);
    case Algorithm::tree:
      return tree_graph(call, members);
    case Algorithm::nvls:
      if (!node.switch_reduces) {
        throw InfeasibleError(fmt::format("{}: nvls needs a switch that reduces, node '{}' has none",
                                          name_of(call.kind), node.name));
      }
      return in_switch_graph(call, members);
  }
  throw std::logic_error("make_transfer_graph: unknown algorithm");
}

Bytes bytes_sent(const TransferGraph& graph, int rank) {
  Bytes sent;
  for (const Transfer& transfer : graph.transfers) {
    const bool all_contribute =
        transfer.op == TransferOp::switch_reduce || transfer.op == TransferOp::switch_all_reduce;
    if (all_contribute) sent += transfer.bytes;
    if (transfer.src == rank && transfer.op != TransferOp::switch_reduce) sent += transfer.bytes;
  }
  return sent;
}

}  // namespace c3
