// Backend fused: the stores of the kernel that makes the data, and copies that they trigger (T3).

#include "collectives/backends/entry.hpp"

#include <utility>

#include "collectives/backends/fused/fused_collective.hpp"

namespace c3 { inline namespace collectives {
namespace {

std::unique_ptr<CollectiveRun> make(Cluster& cluster, CollectivePlan plan) {
  return std::make_unique<FusedCollective>(cluster, std::move(plan));
}

/// Pairs where each has a link of its own, and for all_to_all; else T3's ring.
Algorithm default_algorithm(const CollectiveCall& call, const ClusterSpec& cluster) {
  const bool by_pairs =
      call.kind == CollectiveKind::all_to_all || cluster.node.topology == NodeTopology::full_mesh;
  return by_pairs ? Algorithm::direct : Algorithm::ring;
}

}  // namespace

extern constexpr BackendEntry kFusedBackend = {
    .name = "fused", .make = make, .default_algorithm = default_algorithm};

}}  // namespace c3::collectives
