#include "workloads/execute/collective_choice.hpp"

#include <algorithm>

#include "collectives/algorithms/algorithm.hpp"
#include "collectives/backends/backend.hpp"
#include "collectives/library/tuner.hpp"
#include "workloads/execute/partition.hpp"

namespace c3::inline workloads {

CollectiveMethod method_of(const CollectiveCall& call, const StreamPolicy& policy, const ClusterSpec& cluster) {
  const bool has_choice = supports(Algorithm::ring, call.kind);
  MethodWish wish = policy.method;
  if (!has_choice) wish.algorithm = std::nullopt;
  if (policy.backend != Backend::cu) {
    const Algorithm algorithm =
        wish.algorithm ? *wish.algorithm : default_algorithm(call, policy.backend, cluster);
    const bool has_channels = policy.backend == Backend::fused;  // work groups that add
    return {.algorithm = algorithm, .channels = has_channels ? wish.channels : ChannelLimits{}};
  }
  return choose_method(call, cluster, wish);
}

bool folds(const Experiment& experiment, const Strategy& strategy) {
  if (!experiment.measure.fold || !is_symmetric(experiment.cluster.network())) return false;
  const Program& program = experiment.program;
  if (program.scripts.size() > 1 || !program.communicators.empty()) return false;
  return std::ranges::all_of(program.calls, [&](const Call& call) {
    const StreamPolicy policy = policy_of(strategy, program.streams[call.stream]);
    // One thread that feeds all groups comes to one after another.
    const bool fed_alike = call.what.groups ? is_symmetric(policy.dma) : may_fold(policy.dma);
    if (policy.backend == Backend::dma && !fed_alike) return false;
    return is_symmetric(call.what, method_of(call.what, policy, experiment.cluster).algorithm,
                        experiment.cluster);
  });
}

}  // namespace c3::workloads
