#include "workloads/execute/collective_choice.hpp"

#include "collectives/algorithms/algorithm.hpp"
#include "collectives/backends/entry.hpp"
#include "collectives/library/tuner.hpp"

namespace c3 { inline namespace workloads {

Backend backend_of(const CollectiveCall& call, const StreamPolicy& policy, const ClusterSpec& cluster) {
  return policy.backend == Backend::cu ? choose_backend(call, cluster, policy.method) : policy.backend;
}

CollectiveMethod method_of(const CollectiveCall& call, const StreamPolicy& policy, const ClusterSpec& cluster) {
  const bool has_choice = supports(Algorithm::ring, call.kind);
  MethodWish wish = policy.method;
  if (!has_choice) wish.algorithm = std::nullopt;
  const Backend backend = backend_of(call, policy, cluster);
  if (backend != Backend::cu) {
    const Algorithm algorithm = wish.algorithm ? *wish.algorithm : default_algorithm(call, backend, cluster);
    const bool has_channels = backend == Backend::fused;  // work groups that add
    return {.algorithm = algorithm, .channels = has_channels ? wish.channels : ChannelLimits{}};
  }
  return choose_method(call, cluster, wish);
}

}}  // namespace c3::workloads
