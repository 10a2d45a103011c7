#pragma once
/// Keys of a collective library (configs/libraries/*.toml).

#include <stdexcept>

#include "collectives/library/permits_text.hpp"
#include "collectives/spec.hpp"
#include "configs/fields/field.hpp"

namespace c3 { inline namespace configs {

/// A text that \p Parse understands.
template <auto Parse>
auto read_permitted(Section& section, std::string_view key) {
  const std::string text = section.text(key);
  try {
    return Parse(text);
  } catch (const std::invalid_argument& error) {
    if (section.is_rehearsal()) return Permits();
    section.fail(key, error.what());
  }
}

/// "2.26.2", or "2.26" for its last patch.
inline LibraryVersion read_version(Section& section, std::string_view key) {
  const std::string text = section.text(key);
  if (const auto version = version_named(text)) return *version;
  if (section.is_rehearsal()) return kNewestNccl;
  section.fail(key, "'" + text + "' is not a release; write it as \"2.26\" or \"2.26.2\"");
}

/// The conditions under which any key of a library is used.
inline constexpr Conditions kLibraryUse = {When::collectives_run, When::channels_run};

/// Every protocol has these keys: `simple` among the library's own, another one in a table with its name.
inline constexpr auto kProtocolFields = std::to_array<Field<ProtocolSpec>>({
    quantity<&ProtocolSpec::base_latency>("base_latency",
                                          "latency of one collective, without the gap before it"),
    quantity<&ProtocolSpec::hop_latency>("hop_latency", "latency of one step within a node"),
    quantity<&ProtocolSpec::network_latency>("network_latency", "latency of one step between nodes")
        .used_if(When::several_nodes),
    quantity<&ProtocolSpec::channel_rate>("channel_rate", "payload that one channel moves, alone on its CU"),
    number<&ProtocolSpec::threads>("threads", {32, 1024}, "threads of one channel that copy"),
});
/// Protocols with a table of their own have this key, too.
inline constexpr auto kOtherProtocolFields = std::to_array<Field<ProtocolSpec>>({
    number<&ProtocolSpec::link_share>("link_share", {1e-3, 1},
                                      "share of link_payload that the protocol leaves to payload"),
});
static_assert(member_count<ProtocolSpec>() == kProtocolFields.size() + kOtherProtocolFields.size());

/// What users set as environment variables of NCCL and RCCL (library_environment.hpp).
inline constexpr auto kChannelLimitFields = std::to_array<Field<ChannelLimits>>({
    number<&ChannelLimits::most>("max_channels", {1, 1024},
                                 "largest number of channels; default: the library's")
        .optional(),
    number<&ChannelLimits::least>("min_channels", {1, 1024},
                                  "fewest channels of large collectives, above max_channels, too")
        .optional(),
});
inline constexpr auto kPermitFields = std::to_array<Field<MethodPermits>>({
    read_by<&MethodPermits::algorithms, read_permitted<permitted_algorithms>>(
        "algorithms",
        "algorithms that the library may choose, as \"ring,tree\", \"^nvls\" or \"ring;all_reduce:tree\"")
        .optional(),
    read_by<&MethodPermits::protocols, read_permitted<permitted_protocols>>(
        "protocols", "protocols that it may choose, written likewise")
        .optional(),
    plain_flag<&MethodPermits::nvls>("nvls", "whether it may reduce in the node's switch").optional(),
    plain_flag<&MethodPermits::collnet>("collnet", "whether it may reduce in the fabric's switches").optional(),
});
static_assert(member_count<MethodPermits>() == kPermitFields.size());

inline constexpr auto kLibraryFields = std::to_array<Field<CollectiveLibrarySpec>>({
    number<&CollectiveLibrarySpec::channels>("channels", {1, 1024}, "work groups of one collective"),
    number<&CollectiveLibrarySpec::p2p_channels>("p2p_channels", {1, 1024},
                                                 "work groups where ranks send in pairs")
        .optional()
        .used_if(When::ranks_send_in_pairs),
    number<&CollectiveLibrarySpec::net_peer_channels>("net_peer_channels", {1, 64},
                                                      "channels for each peer in another node")
        .optional(),
    flag<&CollectiveLibrarySpec::p2p_to_itself>(
        "p2p_to_itself", "whether an all-to-all deals channels to a rank's own shard, too")
        .optional()
        .used_if(When::ranks_send_in_pairs),
    flag<&CollectiveLibrarySpec::peers_share_channels>("peers_share_channels",
                                                       "whether a channel's threads serve all peers")
        .optional(),
    number<&CollectiveLibrarySpec::waves_per_channel>("waves_per_channel", {1, 32},
                                                      "wavefronts (warps) of one channel"),
    quantity<&CollectiveLibrarySpec::channel_lds>("channel_lds", "shared memory of one channel").or_none(),
    quantity<&CollectiveLibrarySpec::channel_registers>("channel_registers", "registers of one channel"),
    quantity<&CollectiveLibrarySpec::cu_rate>("cu_rate", "payload that all channels of one CU move together"),
    quantity<&CollectiveLibrarySpec::pair_cu_rate>("pair_cu_rate", "cu_rate where ranks send in pairs")
        .optional()
        .used_if(When::ranks_send_in_pairs),
    number<&CollectiveLibrarySpec::clock_share>(
        "clock_share", {0, 1}, "share of a channel's time per byte that scales with the core clock"),
    quantity<&CollectiveLibrarySpec::link_payload>("link_payload",
                                                   "payload per link and direction that the protocol leaves")
        .share_of("node.link_raw")
        .scaled_by("link_scale"),
    number<&CollectiveLibrarySpec::staging_bytes>(
        "staging_bytes", {0, 4}, "memory bytes at the receiver per wire byte, beyond a read and a write"),
    quantity<&CollectiveLibrarySpec::channel_outstanding>("channel_outstanding",
                                                          "bytes in flight at memory for one channel"),
    quantity<&CollectiveLibrarySpec::chunk_size>("chunk_size",
                                                 "bytes that a channel of a tree or chain passes on at once"),
    quantity<&CollectiveLibrarySpec::ring_chunk>(
        "ring_chunk", "most bytes that a channel sends in a step of a ring; \"0 B\": unlimited")
        .or_none(),
    quantity<&CollectiveLibrarySpec::slice_wait>("slice_wait", "wait for a ring's slice beyond hop_latency")
        .or_none()
        .optional(),
    number<&CollectiveLibrarySpec::handshake_hops>(
        "handshake_hops", {0, 16}, "steps in which ring neighbours exchange addresses of buffers")
        .optional(),
    quantity<&CollectiveLibrarySpec::local_rate>("local_rate", "payload that one channel copies within its GPU")
        .optional(),
    quantity<&CollectiveLibrarySpec::pair_buffer>(
        "pair_buffer", "bytes that leave a sender before they are received, for each pair")
        .or_none()
        .optional()
        .used_if(When::ranks_send_messages),
    quantity<&CollectiveLibrarySpec::eager_gap>(
        "eager_gap", "time between two collectives that a host launches, beyond a graph's")
        .used_if(When::hosts_launch_collectives),
    quantity<&CollectiveLibrarySpec::host_launch>("host_launch",
                                                  "host time to launch one collective on one GPU")
        .used_if(When::hosts_launch_collectives),
    quantity<&CollectiveLibrarySpec::group_operation>("group_operation",
                                                      "host time of a further send or receive")
        .or_none()
        .optional(),
    choice<&CollectiveLibrarySpec::rules>("rules", "whose rules choose algorithm and protocol"),
    read_by<&CollectiveLibrarySpec::version,
            [](Section& section, std::string_view key) { return read_version(section, key); }>(
        "version", "release whose rules choose, \"2.26.2\"; default NCCL's newest, 2.30, RCCL's oldest, 2.21")
        .optional(),
    choice<&CollectiveLibrarySpec::host_processor>("host_processor", "the host's; default intel").optional(),
    flag<&CollectiveLibrarySpec::registered_buffers>("registered_buffers",
                                                     "whether buffers are registered as NCCL's windows")
        .optional(),
    read_by<&CollectiveLibrarySpec::network_fabric,
            [](Section& section, std::string_view key) { return section.text(key); }>(
        "network_fabric", "fabric of its network latencies; default verbs")
        .optional()
        .used_if(When::several_nodes),
    number<&CollectiveLibrarySpec::qps>("qps", {1, 128},
                                        "queue pairs of a connection, each hashed to a path of its own")
        .optional(),
    flag<&CollectiveLibrarySpec::pxn>(
        "pxn", "whether what changes rails leaves by the NIC of a GPU on the receiver's rail")
        .optional(),
    number<&CollectiveLibrarySpec::ring_plateau>("ring_plateau", {0, 4},
                                                 "factor of a ring's steps over several nodes")
        .optional()
        .used_if(When::several_nodes),
    quantity<&CollectiveLibrarySpec::tuner_bandwidth>(
        "tuner_bandwidth", "of a GPU's links in a node, as the search for rings counts them")
        .share_of("node.link_raw")
        .scaled_by("link_scale"),
    quantity<&CollectiveLibrarySpec::one_shot_latency>(
        "one_shot_latency", "latency of an all-reduce by pairs in ll, a kernel of its own")
        .optional(),
});

/// A library with in-switch collectives has all of these keys, any other none.
inline constexpr auto kNvlsFields = used_if<When::switch_reduces>({
    number<&CollectiveLibrarySpec::nvls_channels>("nvls_channels", {1, 1024},
                                                  "channels of an in-switch collective"),
    quantity<&CollectiveLibrarySpec::nvls_payload>("nvls_payload",
                                                   "payload per port and direction of an in-switch collective")
        .share_of("node.link_raw")
        .scaled_by("link_scale"),
    quantity<&CollectiveLibrarySpec::nvls_channel_rate>(
        "nvls_channel_rate", "data that one channel copies into or out of its buffer"),
    quantity<&CollectiveLibrarySpec::nvls_latency>("nvls_latency", "latency of one chunk through the switch"),
    quantity<&CollectiveLibrarySpec::nvls_tree_latency>(
        "nvls_tree_latency", "latency of a step through a node's switch, in a tree over nodes")
        .used_if(When::several_nodes),
    quantity<&CollectiveLibrarySpec::nvls_tree_network_latency>("nvls_tree_network_latency",
                                                                "latency of a step between nodes, in that tree")
        .used_if(When::several_nodes),
});
static_assert(member_count<CollectiveLibrarySpec>() == kLibraryFields.size() + kNvlsFields.size() + 6,
              "all but name, simple, ll, ll128, channel_limits and permits");

/// Calls \p visit(key, QuantityOf) for every number with a unit of \p library; keys as "ll.hop_latency".
template <class Visit>
void each_quantity(CollectiveLibrarySpec& library, const Visit& visit) {
  each_quantity(library, kLibraryFields, "", visit);
  each_quantity(library, kNvlsFields, "", visit);
  each_quantity(library.simple, kProtocolFields, "", visit);
  if (library.ll) each_quantity(*library.ll, kProtocolFields, "ll.", visit);
  if (library.ll128) each_quantity(*library.ll128, kProtocolFields, "ll128.", visit);
}

}}  // namespace c3::configs
