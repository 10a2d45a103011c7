// The table of backends: one line each.

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>

#include "collectives/backends/backend.hpp"

namespace c3::inline collectives {

extern const BackendEntry kCuBackend, kDmaBackend, kFusedBackend;

namespace {

constexpr std::array kTable = {
    &kCuBackend,     // RCCL, NCCL
    &kDmaBackend,    // ConCCL
    &kFusedBackend,  // T3
};

const BackendEntry& entry_of(Backend backend) {
  const auto* const found =
      std::ranges::find_if(kTable, [backend](const BackendEntry* entry) { return entry->backend == backend; });
  if (found == kTable.end()) throw std::logic_error("collectives: a backend is not in the table");
  return **found;
}

}  // namespace

std::unique_ptr<CollectiveRun> make_collective(Cluster& cluster, CollectivePlan plan) {
  if (plan.call.groups && !cluster.setup().folded)
    throw std::logic_error("make_collective: a run is of one group");
  const BackendEntry& entry = entry_of(plan.backend);
  return entry.make(cluster, std::move(plan));
}

Algorithm default_algorithm(const CollectiveCall& call, Backend backend, const ClusterSpec& cluster) {
  return entry_of(backend).default_algorithm(call, cluster);
}

}  // namespace c3::collectives
