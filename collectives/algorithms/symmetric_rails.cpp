// Over nodes, on buffers that are registered with every rank (windows): GPUs of a rail send each other through
// NICs, GPUs of a node reach each other where they lie, or by the node's switch.

#include <fmt/format.h>

#include "collectives/algorithms/algorithm.hpp"
#include "collectives/algorithms/entry.hpp"
#include "collectives/algorithms/hierarchy.hpp"
#include "collectives/library/channel_context.hpp"
#include "collectives/library/rail_kernels.hpp"
#include "engine/errors.hpp"

namespace c3 { inline namespace collectives {
namespace {

/// \throws InfeasibleError where the library has none.
RailKernel kernel_of(const CollectiveCall& call, const ClusterSpec& cluster) {
  if (const auto kernel = rail_kernel(PublishedFigures(call, cluster))) return *kernel;
  throw InfeasibleError(fmt::format("'{}' has no kernel symmetric_rails for {} on '{}'", cluster.library.name,
                                    name_of(call.kind), title_of(cluster)));
}

RailKernel kernel_of(const ChannelContext& channels) { return kernel_of(channels.call, channels.cluster); }

TransferGraph graph(const GraphRequest& request) {
  if (!request.cluster.library.registered_buffers)
    request.refuse("needs buffers that are registered with every rank: library.registered_buffers = true");
  const bool in_switch = kernel_of(request.call, request.cluster).by_switch;
  const bool gathers = request.call.kind == CollectiveKind::all_gather;
  return hierarchy(request, gathers ? BetweenNodes::ring : BetweenNodes::peers,
                   in_switch ? WithinNodes::node_switch : WithinNodes::peers);
}

bool supports(CollectiveKind kind) {
  return kind == CollectiveKind::all_gather || kind == CollectiveKind::reduce_scatter;
}

bool is_alike(CollectiveKind, const GroupShape& group, const NodeSpec&) {
  return group.nodes > 1 && !group.one_gpu;
}

std::optional<Seconds> expected_time(const PublishedFigures& figures, Protocol protocol) {
  if (!figures.library.registered_buffers || protocol != Protocol::simple) return std::nullopt;
  const std::optional<RailKernel> kernel = rail_kernel(figures);
  return kernel ? std::optional(kernel->time) : std::nullopt;
}

int width(const PublishedFigures& figures, Algorithm, Protocol) {
  const std::optional<RailKernel> kernel = rail_kernel(figures);
  return kernel ? kernel->channels : 1;
}

/// Launch and barrier: assumed as those of kernels within a node, of which the model of their authors has 7.8
/// us on Hopper and 13 us on Blackwell, the gap before them included.
Seconds setup(const ChannelContext& channels) {
  const bool is_blackwell = channels.cluster.gpu.family.tuned_as == TunedGpu::blackwell;
  return microseconds(is_blackwell ? 13.0 : 7.8) - channels.cluster.gpu.dispatch.dependent_gap;
}

/// Within nodes a step is a load or a store.
Seconds latency(const ChannelContext& channels, const PlannedFlow& flow) {
  return channels.network_hop() * static_cast<double>(flow.network_hops);
}

BytesPerSecond link_payload(const ChannelContext& channels) {
  return kernel_of(channels).by_switch ? channels.library().nvls_payload : channels.library().link_payload;
}

Bytes chunk(const ChannelContext& channels, Bytes) { return kernel_of(channels).chunk; }
BytesPerSecond channel_rate(const ChannelContext& channels) { return kernel_of(channels).at_port; }
BytesPerSecond most(const ChannelContext& channels) { return kernel_of(channels).most; }

}  // namespace

extern constexpr AlgorithmEntry kSymmetricRails = {.name = "symmetric_rails",
                                                   .supports = supports,
                                                   .graph = graph,
                                                   .is_symmetric = is_alike,
                                                   .expected_time = expected_time,
                                                   .channels = {.use = ChannelUse::windows,
                                                                .setup = setup,
                                                                .latency = latency,
                                                                .link_payload = link_payload,
                                                                .chunk = chunk,
                                                                .width = width,
                                                                .channel_rate = channel_rate,
                                                                .most = most}};

}}  // namespace c3::collectives
