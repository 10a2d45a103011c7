#include "collectives/backends/dma/dma_commands.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <stdexcept>
#include <utility>

#include "collectives/algorithms/entry.hpp"
#include "engine/errors.hpp"

namespace c3 { inline namespace collectives {
namespace {

Leg leg_of(const Transfer& t) { return {t.src, t.dst, t.lane, t.bytes, t.op}; }

/// Chunks of a pipelined graph follow one another; else an engine takes its commands in turn by itself.
std::vector<DmaJob> copies(const TransferGraph& graph, const std::vector<PlannedFlow>& flows) {
  std::vector<DmaJob> jobs;
  jobs.reserve(flows.size());
  for (const PlannedFlow& flow : flows) {
    DmaJob& job = jobs.emplace_back(DmaJob{{}, std::max(1, flow.hops), flow.after});
    if (flow.behind && graph.pipelined) job.after.push_back(*flow.behind);
    for (const Leg& leg : flow.legs)
      job.submissions.push_back({leg.src, leg.lane, {{leg}}});
  }
  return jobs;
}

using Peers = std::map<int, std::vector<Leg>>;  // indexed by sending rank, nearest first

Peers peers_of(const TransferGraph& graph) {
  Peers peers;
  for (const Transfer& transfer : graph.transfers)
    peers[transfer.src].push_back(leg_of(transfer));
  return peers;
}

/// An odd peer is served alone, then the others two by two.
std::vector<DmaSubmission> broadcasts(const TransferGraph& graph) {
  std::vector<DmaSubmission> submissions;
  for (const auto& [rank, legs] : peers_of(graph)) {
    int lane = 0;
    for (std::size_t i = 0; i < legs.size(); ++lane) {
      const std::size_t end = i == 0 && legs.size() % 2 == 1 ? 1 : i + 2;
      const DmaCommand command(legs.begin() + static_cast<std::ptrdiff_t>(i),
                               legs.begin() + static_cast<std::ptrdiff_t>(end));
      submissions.push_back({rank, lane, {command}});
      i = end;
    }
  }
  return submissions;
}

/// A pair belongs to the rank that has the shorter way round the group; half way, to the first of the two.
std::vector<DmaSubmission> swaps(const TransferGraph& graph) {
  const int ranks = graph.ranks();
  std::map<int, int> place;
  for (int i = 0; i < ranks; ++i)
    place[graph.members[static_cast<std::size_t>(i)]] = i;
  std::vector<DmaSubmission> submissions;
  for (const auto& [rank, legs] : peers_of(graph)) {
    for (const Leg& leg : legs) {
      const int distance = leg.lane + 1;
      const bool owns = 2 * distance < ranks || (2 * distance == ranks && place[leg.src] < place[leg.dst]);
      if (!owns) continue;
      const Leg back{leg.dst, leg.src, ranks - distance - 1, leg.bytes, leg.op};
      submissions.push_back({rank, leg.lane, {{leg, back}}});
    }
  }
  return submissions;
}

std::vector<DmaSubmission> back_to_back(const TransferGraph& graph) {
  std::vector<DmaSubmission> submissions;
  for (const auto& [rank, legs] : peers_of(graph)) {
    DmaSubmission& all = submissions.emplace_back(DmaSubmission{rank, 0, {}});
    for (const Leg& leg : legs)
      all.commands.push_back({leg});
  }
  return submissions;
}

std::vector<DmaSubmission> submissions_of(const TransferGraph& graph, DmaVariant variant) {
  switch (variant) {
    case DmaVariant::bcst:
      return broadcasts(graph);
    case DmaVariant::swap:
      return swaps(graph);
    case DmaVariant::b2b:
      return back_to_back(graph);
    case DmaVariant::pcpy:
      break;
  }
  throw std::logic_error("submissions_of: copies follow planned flows");
}

bool suits(DmaVariant variant, CollectiveKind kind) {
  if (variant == DmaVariant::bcst)
    return kind == CollectiveKind::all_gather || kind == CollectiveKind::broadcast;
  return variant != DmaVariant::swap || kind == CollectiveKind::all_to_all;
}

}  // namespace

// The two halves of a swap belong to different ranks, and one thread comes to one rank after another.
bool is_symmetric(const DmaOptions& options) {
  return options.variant != DmaVariant::swap && options.host == DmaHost::gpu;
}

bool may_fold(const DmaOptions& options) {
  return options.variant != DmaVariant::swap && (options.host == DmaHost::gpu || !options.prelaunch);
}

std::vector<DmaJob> make_dma_jobs(const TransferGraph& graph, const std::vector<PlannedFlow>& flows,
                                  DmaVariant variant, CollectiveGrain grain) {
  if (variant == DmaVariant::pcpy) return copies(graph, flows);
  std::vector<DmaSubmission> submissions = submissions_of(graph, variant);
  std::vector<DmaJob> jobs;
  if (grain == CollectiveGrain::gang) {
    jobs.push_back({std::move(submissions)});
  } else {
    for (DmaSubmission& submission : submissions)
      jobs.push_back({{std::move(submission)}});
  }
  return jobs;
}

void check_dma(std::string_view name, const CollectiveCall& call, Algorithm algorithm, DmaVariant variant,
               const GpuSpec& gpu) {
  const auto refuse = [&](const std::string& why) { throw InfeasibleError(fmt::format("{}: {}", name, why)); };
  const ChannelUse use = algorithm->channels.use;
  if (reduces(call.kind) || use == ChannelUse::in_switch || use == ChannelUse::windows) {
    refuse(fmt::format("copy engines cannot add; {} requires backend = \"cu\"",
                       reduces(call.kind) ? name_of(call.kind) : name_of(algorithm)));
  }
  if (gpu.dma.engines < 1) refuse(fmt::format("gpu '{}' has no copy engines", gpu.name));
  if (variant == DmaVariant::pcpy) return;
  if (!suits(variant, call.kind)) {
    refuse(fmt::format("copy-engine variant {} does not support {}: {}", name_of(variant), name_of(call.kind),
                       variant == DmaVariant::bcst
                           ? "only all_gather and broadcast send the same bytes to several peers"
                           : "only in all_to_all do two ranks exchange equal pieces"));
  }
  if (algorithm != Algorithm::direct) {
    refuse(
        fmt::format("copy-engine variant {} requires the direct algorithm; in {} copies wait for one another",
                    name_of(variant), name_of(algorithm)));
  }
  const bool lacks_broadcast = variant == DmaVariant::bcst && gpu.dma.broadcast_bandwidth.value <= 0.0;
  const bool lacks_swap = variant == DmaVariant::swap && gpu.dma.swap_bandwidth.value <= 0.0;
  if (lacks_broadcast || lacks_swap) {
    refuse(fmt::format("copy engines of gpu '{}' have no {} command (dma_{}_bandwidth)", gpu.name,
                       name_of(variant), lacks_broadcast ? "broadcast" : "swap"));
  }
}

}}  // namespace c3::collectives
