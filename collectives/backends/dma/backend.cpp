// Backend dma: one copy engine per peer (ConCCL).

#include "collectives/backends/entry.hpp"

#include <utility>

#include "collectives/backends/dma/dma_collective.hpp"

namespace c3 { inline namespace collectives {
namespace {

std::unique_ptr<CollectiveRun> make(Cluster& cluster, CollectivePlan plan) {
  return std::make_unique<DmaCollective>(cluster, std::move(plan));
}

/// Pairs, but rings for all_gather where pairs share links of a wired node. Engines cannot add: an all_reduce
/// is refused, whatever its algorithm.
Algorithm default_algorithm(const CollectiveCall& call, const ClusterSpec& cluster) {
  const bool is_wired = cluster.node.topology == NodeTopology::wired;
  const bool in_rings =
      call.kind == CollectiveKind::all_reduce || (call.kind == CollectiveKind::all_gather && is_wired);
  return in_rings ? Algorithm::ring : Algorithm::direct;
}

}  // namespace

extern constexpr BackendEntry kDmaBackend = {
    .name = "dma", .make = make, .default_algorithm = default_algorithm};

}}  // namespace c3::collectives
