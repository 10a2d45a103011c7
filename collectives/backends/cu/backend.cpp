// Backend cu: channels on compute units (RCCL, NCCL).

#include "collectives/backends/entry.hpp"

#include <stdexcept>
#include <utility>

#include "collectives/backends/cu/buffered_receive.hpp"
#include "collectives/backends/cu/cu_collective.hpp"

namespace c3 { inline namespace collectives {
namespace {

std::unique_ptr<CollectiveRun> make(Cluster& cluster, CollectivePlan plan) {
  if (plan.end == PairEnd::receiver) return std::make_unique<BufferedReceive>(cluster, std::move(plan));
  return std::make_unique<CuCollective>(cluster, std::move(plan));
}

/// Whether an all-reduce of S through the switch, S (1 + 1/n) a direction, is faster than along a ring, 2S
/// (n-1)/n. A library does not try with two ranks.
bool is_faster_in_switch(const CollectiveCall& call, const ClusterSpec& cluster) {
  const CollectiveLibrarySpec& library = cluster.library;
  if (!cluster.node.switch_reduces || library.nvls_channels == 0 || cluster.nodes > 1) return false;
  const double n = member_count(call, cluster.ranks());
  return n > 2.0 &&
         (1.0 + 1.0 / n) / library.nvls_payload.value < 2.0 * (n - 1.0) / n / library.link_payload.value;
}

/// NCCL's and RCCL's choice: the switch for an all_reduce where node and library support it; pairs for
/// all_to_all, send_receive, and all_gather on a full mesh; rings for the rest.
Algorithm default_algorithm(const CollectiveCall& call, const ClusterSpec& cluster) {
  switch (call.kind) {
    case CollectiveKind::all_reduce:
      return is_faster_in_switch(call, cluster) ? Algorithm::nvls : Algorithm::ring;
    case CollectiveKind::all_gather: {
      const bool is_mesh = cluster.node.topology == NodeTopology::full_mesh && cluster.nodes == 1;
      return is_mesh ? Algorithm::direct : Algorithm::ring;
    }
    case CollectiveKind::reduce_scatter:
    case CollectiveKind::broadcast:
    case CollectiveKind::reduce:
      return Algorithm::ring;
    case CollectiveKind::all_to_all:
    case CollectiveKind::all_to_all_v:
    case CollectiveKind::gather:
    case CollectiveKind::scatter:
    case CollectiveKind::send_receive:
    case CollectiveKind::barrier:
      return Algorithm::direct;
  }
  throw std::logic_error("backend cu: unknown collective");
}

}  // namespace

extern constexpr BackendEntry kCuBackend = {.name = "cu", .make = make, .default_algorithm = default_algorithm};

}}  // namespace c3::collectives
