#include "workloads/execute/collective_choice.hpp"

#include <algorithm>

#include "workloads/execute/partition.hpp"

namespace c3 {

Algorithm algorithm_of(const CollectiveCall& call, const StreamPolicy& policy, const ClusterSpec& cluster) {
  const bool has_choice = supports(Algorithm::ring, call.kind);
  if (policy.algorithm && has_choice) return *policy.algorithm;
  return default_algorithm(call, policy.backend, cluster);
}

bool folds(const Experiment& experiment, const Strategy& strategy) {
  if (!experiment.measure.fold || !is_symmetric(experiment.cluster.network())) return false;
  for (const StreamSpec& stream : experiment.streams) {
    const StreamPolicy policy = policy_of(strategy, stream.name);
    const bool alike = std::ranges::all_of(stream.operations, [&](const Operation& operation) {
      const auto* call = std::get_if<CollectiveCall>(&operation.work);
      if (!operation.on.empty()) return false;
      return call == nullptr || is_symmetric(*call, algorithm_of(*call, policy, experiment.cluster));
    });
    if (!alike) return false;
  }
  return true;
}

}  // namespace c3
