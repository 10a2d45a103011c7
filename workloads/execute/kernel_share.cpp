#include "workloads/execute/kernel_share.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "collectives/library/channel_protocol.hpp"
#include "gpu/kernels/describe.hpp"
#include "workloads/execute/collective_choice.hpp"

namespace c3 { inline namespace workloads {
namespace {

bool overlap(const CuRange& a, const CuRange& b) { return std::max(a.begin, b.begin) < std::min(a.end, b.end); }

/// Of the largest collective of \p stream that is on channels.
int most_channels(const Experiment& experiment, const StreamPolicy& policy, std::size_t stream) {
  int most = 0;
  for (const Call& call : experiment.program.calls) {
    if (call.stream != stream || call.is_timed) continue;
    if (backend_of(call.what, policy, experiment.cluster) != Backend::cu) continue;
    const CollectiveMethod method = method_of(call.what, policy, experiment.cluster);
    int channels =
        std::max(channels_of(experiment.cluster, call.what, method.algorithm), method.channels.least);
    if (method.channels.most > 0) channels = std::min(channels, method.channels.most);
    most = std::max(most, channels);
  }
  return most;
}

}  // namespace

KernelSlice share_of(const Experiment& experiment, const Strategy& strategy, const std::vector<CuRange>& ranges,
                     std::size_t stream) {
  const Program& program = experiment.program;
  int cus = ranges[stream].size() * experiment.cluster.gpu.compute.xcds;
  int sharers = 1;
  for (std::size_t other = 0; other < ranges.size() && !strategy.serial; ++other) {
    if (other == stream || !overlap(ranges[stream], ranges[other])) continue;
    cus -= most_channels(experiment, policy_of(strategy, program.streams[other]), other);
    if (content_of(program, other).kernels) ++sharers;
  }
  return {.cus = std::max(1, cus / sharers), .cache = 1.0 / sharers, .launch = LaunchCost::device};
}

KernelDescription KernelShare::describe(NameId number, std::string name, const Operator& op) {
  KernelDescription kernel = kernels_.of(number, op, [&] {
    return slice_ ? describe_tuned(name, op, gpu_, *slice_) : c3::describe(name, op, gpu_);
  });
  kernel.name = std::move(name);
  return kernel;
}

std::vector<std::optional<KernelShare>> kernel_shares(const Experiment& experiment, const ClusterSpec& cluster,
                                                      const Strategy& strategy, const CuChoice& choice) {
  const std::vector<std::string>& streams = experiment.program.streams;
  std::vector<std::optional<KernelShare>> shares(streams.size());
  for (std::size_t i = 0; i < streams.size(); ++i) {
    if (policy_of(strategy, streams[i]).kernel_selection == KernelSelection::alone) continue;
    const KernelSlice slice = share_of(experiment, strategy, cu_ranges(experiment, strategy, choice), i);
    if (slice.cus < cluster.gpu.compute.cus() || slice.cache < 1.0) shares[i].emplace(cluster.gpu, slice);
  }
  return shares;
}

std::vector<std::string> notes_of(const std::vector<std::optional<KernelShare>>& shares,
                                  const std::vector<std::string>& streams) {
  std::vector<std::string> notes;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    if (!shares[i]) continue;
    const KernelSlice& slice = shares[i]->slice().value();
    const std::string cache = slice.cache < 1.0 ? fmt::format(" and {:.3g} of the caches", slice.cache) : "";
    notes.push_back(fmt::format("kernels of '{}' tuned for {} CUs{}", streams[i], slice.cus, cache));
  }
  return notes;
}

}}  // namespace c3::workloads
