// On buffers that are registered with every rank (windows): each GPU reads and writes the others' where they
// lie, or has the node's switch do it, without the library's own buffers.

#include <fmt/format.h>

#include <algorithm>

#include "collectives/algorithms/algorithm.hpp"
#include "collectives/algorithms/entry.hpp"
#include "collectives/library/channel_context.hpp"
#include "collectives/library/symmetric_kernels.hpp"
#include "engine/errors.hpp"

namespace c3 { inline namespace collectives {
namespace {

void refuse_without_windows(const GraphRequest& request) {
  if (!request.cluster.library.registered_buffers)
    request.refuse("needs buffers that are registered with every rank: library.registered_buffers = true");
  if (request.layout.node_count() > 1) request.refuse("reaches GPUs of one node only");
}

TransferGraph graph_of_peers(const GraphRequest& request) {
  refuse_without_windows(request);
  return kDirect.graph(request);
}

TransferGraph graph_in_switch(const GraphRequest& request) {
  refuse_without_windows(request);
  return kNvls.graph(request);
}

/// Every rank's whole buffer to every other, which adds what has come.
TransferGraph graph_of_gather(const GraphRequest& request) {
  refuse_without_windows(request);
  CollectiveCall to_all = request.call;
  to_all.kind = CollectiveKind::reduce_scatter;
  to_all.bytes = request.call.bytes * static_cast<double>(request.ranks());
  return kDirect.graph(
      {to_all, request.algorithm, request.cluster, request.form, request.members, request.layout});
}

bool in_parts(CollectiveKind kind) { return goes_in_parts(kind); }
bool is_all_reduce(CollectiveKind kind) { return kind == CollectiveKind::all_reduce; }

bool is_alike(CollectiveKind, const GroupShape& group, const NodeSpec&) { return group.nodes == 1; }

template <const AlgorithmEntry& kEntry>
std::optional<Seconds> expected_time(const PublishedFigures& figures, Protocol protocol) {
  if (!figures.library.registered_buffers) return std::nullopt;
  const std::optional<SymmetricKernel> kernel = symmetric_kernel(figures, Algorithm(kEntry), protocol);
  return kernel ? std::optional(kernel->time) : std::nullopt;
}

int width(const PublishedFigures& figures, Algorithm algorithm, Protocol protocol) {
  const std::optional<SymmetricKernel> kernel = symmetric_kernel(figures, algorithm, protocol);
  return kernel ? kernel->channels : 1;
}

/// \throws InfeasibleError where the library has none.
SymmetricKernel kernel_of(const ChannelContext& channels) {
  const PublishedFigures figures(channels.call, channels.cluster);
  if (const auto kernel = symmetric_kernel(figures, channels.algorithm, channels.protocol)) return *kernel;
  throw InfeasibleError(fmt::format("'{}' has no kernel {} for {} in protocol {} on '{}'",
                                    channels.library().name, name_of(channels.algorithm),
                                    name_of(channels.call.kind), name_of(channels.protocol),
                                    channels.cluster.name));
}

/// Its base has the gap before it.
Seconds setup(const ChannelContext& channels) {
  return std::max(Seconds{}, kernel_of(channels).base - channels.cluster.gpu.dispatch.dependent_gap);
}

Seconds latency(const ChannelContext&, const PlannedFlow&) { return {}; }

BytesPerSecond channel_rate(const ChannelContext& channels) { return kernel_of(channels).channel_rate; }

/// Stores need no room in a buffer: beside the flags of ll they have all that a link carries.
BytesPerSecond link_payload(const ChannelContext& channels) {
  return channels.library().link_payload * (channels.protocol == Protocol::ll ? kShareBesideFlags : 1.0);
}

BytesPerSecond switch_payload(const ChannelContext& channels) { return channels.library().nvls_payload; }

constexpr ChannelCosts costs_with(BytesPerSecond (*payload)(const ChannelContext& channels)) {
  return {.use = ChannelUse::windows,
          .setup = setup,
          .latency = latency,
          .link_payload = payload,
          .width = width,
          .channel_rate = channel_rate};
}

}  // namespace

extern constexpr AlgorithmEntry kSymmetric = {.name = "symmetric",
                                              .supports = in_parts,
                                              .graph = graph_of_peers,
                                              .is_symmetric = is_alike,
                                              .expected_time = expected_time<kSymmetric>,
                                              .channels = costs_with(link_payload)};

extern constexpr AlgorithmEntry kSymmetricNvls = {.name = "symmetric_nvls",
                                                  .supports = in_parts,
                                                  .graph = graph_in_switch,
                                                  .is_symmetric = is_alike,
                                                  .expected_time = expected_time<kSymmetricNvls>,
                                                  .channels = costs_with(switch_payload)};

extern constexpr AlgorithmEntry kSymmetricGather = {.name = "symmetric_gather",
                                                    .supports = is_all_reduce,
                                                    .graph = graph_of_gather,
                                                    .is_symmetric = is_alike,
                                                    .expected_time = expected_time<kSymmetricGather>,
                                                    .channels = costs_with(link_payload)};

}}  // namespace c3::collectives
