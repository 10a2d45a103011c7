#include "workloads/analysis/library_choices.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "engine/interrupt.hpp"
#include "workloads/execute/collective_choice.hpp"
#include "workloads/execute/partition.hpp"

namespace c3 { inline namespace workloads {
namespace {

constexpr std::size_t kMostCalls = 6;

std::string name_of_call(const CollectiveCall& call, const ClusterSpec& cluster) {
  return fmt::format("{} of {:g} MB over {} GPUs, alone", name_of(call.kind), call.bytes / 1.0_MB,
                     member_count(call, cluster.ranks()));
}

}  // namespace

std::optional<std::string> LibraryChoices::note(const Strategy& strategy) {
  Seconds most;
  std::optional<std::string> note;
  for (const auto& [call, count] : largest_) {
    const StreamPolicy policy = policy_of(strategy, experiment_.program.streams[call->stream]);
    if (backend_of(call->what, policy, experiment_.cluster) != Backend::cu) continue;
    const std::optional<BetterChoice>& found = better(call->what, policy);
    if (!found || found->saved() * count <= most) continue;
    most = found->saved() * count;
    note = fmt::format("{}: {}", name_of_call(call->what, experiment_.cluster),
                       words_of(*found, experiment_.cluster.library));
  }
  return note;
}

// What goes in pairs is no choice of a tuner.
std::vector<LibraryChoices::Alike> LibraryChoices::largest_calls() const {
  std::vector<Alike> all;
  for (const Call& call : experiment_.program.calls) {
    if (call.is_timed || sends_in_pairs(call.what.kind)) continue;
    const auto same = std::ranges::find_if(
        all, [&](const Alike& its) { return its.call->stream == call.stream && its.call->what == call.what; });
    if (same != all.end()) ++same->count;
    if (same == all.end()) all.push_back({&call, 1});
  }
  std::ranges::stable_sort(all, std::greater(), &Alike::bytes);
  all.resize(std::min(all.size(), kMostCalls));
  return all;
}

const std::optional<BetterChoice>& LibraryChoices::better(const CollectiveCall& call,
                                                          const StreamPolicy& policy) {
  const auto known = std::ranges::find_if(
      tried_, [&](const Tried& its) { return its.call == call && its.wish == policy.method; });
  if (known != tried_.end()) return known->better;
  checkpoint();
  const ClusterSpec& cluster = experiment_.cluster;
  const MeasuredMethod how{.method = method_of(call, policy, cluster), .grain = CollectiveGrain::gang};
  tried_.push_back({call, policy.method, better_choice(cluster, call, how, policy.method)});
  return tried_.back().better;
}

}}  // namespace c3::workloads
