// The table of backends: one line each, in the order in which they are listed. A backend that no code names is
// declared here: extern const BackendEntry kName;

#include <array>
#include <stdexcept>
#include <utility>

#include "collectives/backends/entry.hpp"

namespace c3 { inline namespace collectives {

namespace {

constexpr std::array kTable = {
    Backend(kCuBackend),     // RCCL, NCCL
    Backend(kDmaBackend),    // ConCCL
    Backend(kFusedBackend),  // T3
};

}  // namespace

constinit const std::span<const Backend> kBackends = kTable;

std::string_view name_of(Backend backend) { return backend->name; }

std::unique_ptr<CollectiveRun> make_collective(Cluster& cluster, CollectivePlan plan) {
  if (plan.call.groups && !cluster.setup().folded)
    throw std::logic_error("make_collective: a run is of one group");
  return plan.backend->make(cluster, std::move(plan));
}

Algorithm default_algorithm(const CollectiveCall& call, Backend backend, const ClusterSpec& cluster) {
  return backend->default_algorithm(call, cluster);
}

}}  // namespace c3::collectives
