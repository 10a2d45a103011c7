#pragma once
/// Keys of a node (configs/nodes/*.toml); those of its links are in link_fields.hpp.

#include "configs/fields/field.hpp"
#include "configs/fields/link_fields.hpp"
#include "interconnect/spec.hpp"

namespace c3 { inline namespace configs {

inline constexpr Conditions kNodeUse = {When::node_moves_data};
inline constexpr Conditions kNicUse = {When::node_moves_data, When::several_nodes};

inline constexpr auto kNodeFields = used_if<When::node_moves_data>({
    choice<&NodeSpec::topology>("topology", "what joins the GPUs"),
    number<&NodeSpec::gpus>("gpus", {1, 256}, "GPUs of one node; a fabric joins several nodes"),
    flag<&NodeSpec::switch_reduces>("switch_reduces", "whether the switch adds and multicasts (NVLink SHARP)")
        .optional(),
    number<&NodeSpec::usd_per_gpu_hour>("usd_per_gpu_hour", {0, 1000},
                                        "USD for a GPU with its share of the node; 0: not known")
        .optional(),
});
/// Links between GPUs, and those of each GPU to its NICs and to the memory of its host.
inline constexpr auto kGpuLinkFields = used_if<When::node_moves_data>(link_fields(When::links_fill));
inline constexpr auto kPcieFields = used_if<When::node_moves_data, When::several_nodes_or_copies>(kLinkFields);
inline constexpr auto kC2cFields = used_if<When::hosts_copy>(kLinkFields);

/// A node whose GPUs have links of their own to NICs has this key; with it go the keys of that link, `pcie_raw`
/// and so on.
inline constexpr auto kNicFields = used_if<When::node_moves_data, When::several_nodes>({
    number<&NodeSpec::nic_slots>("nic_slots", {1, 256}, "NICs that fit, each GPU with a path to its own"),
});
static_assert(member_count<NodeSpec>() == kNodeFields.size() + kNicFields.size() + 9,
              "all but name, link, hubs, other_links, wires, pcie, nic_at, c2c and host");

/// What the reader reads by hand: wires, and the vertices that they join.
inline constexpr auto kWiringKeys = std::to_array<KeyText>({
    {"links", "further kinds of link by name: [links.socket]", {}, kNodeUse},
    {"wires", "links between GPUs and hubs, as in \"gpu0 - gpu1 x2\"", {}, kNodeUse},
    {"nic_at", "GPU or hub at which each NIC is", {}, kNicUse},
    {"sockets", "hubs that are processors with memory of their own", {}, kNodeUse},
});

/// Transports between GPUs of a wired node.
inline constexpr auto kTransportChoices = used_if<When::node_moves_data>({
    choice<&HostPathSpec::p2p>(
        "p2p", "up to where GPUs store into each other's memory, as NCCL_P2P_LEVEL; auto: the library's")
        .optional(),
    flag<&HostPathSpec::shm>("shm", "whether other pairs use host memory; else the network").optional(),
});
/// Memory of processors. A node that says which hubs are sockets has it.
inline constexpr auto kHostMemoryFields = std::to_array<Field<HostPathSpec>>({
    quantity<&HostPathSpec::memory>("host_memory",
                                    "what the memory of a socket reads and writes; not wired: of all sockets")
        .optional()
        .used_if(When::memory_of_hosts_moves_data, When::node_moves_data),
});
/// A node that says which hubs are sockets has all of these, too.
inline constexpr auto kSocketFields = used_if<When::node_moves_data>({
    quantity<&HostPathSpec::read>("host_read",
                                  "bytes that kernels of a GPU read of host memory while they write")
        .scaled_by("link_scale"),
    quantity<&HostPathSpec::both_ways>("host_both_ways",
                                       "payload each way of a wire at a socket, to and from memory")
        .scaled_by("link_scale"),
    quantity<&HostPathSpec::latency>("host_latency",
                                     "time that a step through host memory takes longer than one to a peer"),
    quantity<&HostPathSpec::between>("socket_search",
                                     "what a library's topology search takes the way between sockets for")
        .scaled_by("link_scale"),
});
static_assert(member_count<HostPathSpec>() ==
                  kTransportChoices.size() + kHostMemoryFields.size() + kSocketFields.size() + 1,
              "all but sockets");

/// Calls \p visit(key, QuantityOf) for every number with a unit of \p node; keys as "link_raw".
template <class Visit>
void each_quantity(NodeSpec& node, const Visit& visit) {
  each_quantity(node.link, kLinkFields, "link_", visit);
  each_quantity(node.pcie, kLinkFields, "pcie_", visit);
  for (LinkSpec& link : node.other_links)
    each_quantity(link, kLinkFields, "links.", visit);
  each_quantity(node.c2c, kLinkFields, "c2c_", visit);
  each_quantity(node.host, kHostMemoryFields, "", visit);
  each_quantity(node.host, kSocketFields, "", visit);
}

}}  // namespace c3::configs
