#pragma once
/// Keys of a fabric (configs/fabrics/*.toml); those of its NICs and links are in link_fields.hpp.

#include "configs/fields/field.hpp"
#include "configs/fields/link_fields.hpp"
#include "interconnect/fabric.hpp"

namespace c3 { inline namespace configs {

/// The conditions under which any key of a fabric is used.
inline constexpr Conditions kFabricUse = {When::several_nodes, When::collectives_run};

inline constexpr auto kFabricFields = std::to_array<Field<FabricSpec>>({
    choice<&FabricSpec::topology>("topology", "how switches join the nodes"),
    quantity<&FabricSpec::switch_latency>("switch_latency", "latency of each switch on the way"),
    quantity<&FabricSpec::message_latency>("message_latency",
                                           "time to post a message and to notice it, both ends together"),
    quantity<&FabricSpec::message_cost>("message_cost",
                                        "time for which each message holds its NIC, beside its bytes"),
    quantity<&FabricSpec::message_size>("message_size",
                                        "bytes of the messages into which larger transfers are cut"),
    number<&FabricSpec::nics_per_node>("nics", {1, 256},
                                       "NICs of a node that it joins; without it, as many as fit")
        .by_others(),
    flag<&FabricSpec::switch_reduces>("switch_reduces", "whether switches add and multicast").optional(),
    choice<&FabricSpec::routing>("routing", "how a transfer chooses among the paths of a tree").optional(),
    number<&FabricSpec::flows>("flows", {1, 256}, "flows into which ecmp divides a transfer").optional(),
    number<&FabricSpec::seed>("path_seed", {0, 1'000'000'000}, "seed of ecmp's hash").optional(),
});
static_assert(member_count<FabricSpec>() == kFabricFields.size() + 7,
              "all but name, nic, transport, tree, dragonfly, torus, link");

inline constexpr auto kLeafFields = std::to_array<Field<TreeSpec>>({
    number<&TreeSpec::leaf_nics>("leaf_nics", {1, 4096}, "NICs at one leaf switch"),
    number<&TreeSpec::leaf_oversubscription>("leaf_oversubscription", {0, 64},
                                             "oversubscription of a leaf's uplinks; 1: none"),
    number<&TreeSpec::spines>("spines", {1, 256}, "spine switches of a pod"),
});
/// A tree with three levels of switches has these, too.
inline constexpr auto kPodFields = std::to_array<Field<TreeSpec>>({
    number<&TreeSpec::pod_leaves>("pod_leaves", {1, 4096}, "leaf switches of a pod"),
    number<&TreeSpec::spine_cores>("spine_cores", {1, 256}, "core switches that a spine reaches"),
    number<&TreeSpec::pod_oversubscription>("pod_oversubscription", {0, 64},
                                            "oversubscription of a pod's uplinks; 1: none"),
});
static_assert(member_count<TreeSpec>() == kLeafFields.size() + kPodFields.size() + 1, "all but levels");

inline constexpr auto kDragonflyFields = std::to_array<Field<DragonflySpec>>({
    number<&DragonflySpec::switch_nics>("switch_nics", {1, 4096}, "NICs at one switch"),
    number<&DragonflySpec::group_switches>("group_switches", {1, 256}, "switches of a group"),
    number<&DragonflySpec::local_links>("local_links", {1, 256},
                                        "links side by side between each pair of a group's switches"),
    number<&DragonflySpec::global_links>("global_links", {1, 256}, "links between each pair of groups"),
});
static_assert(member_count<DragonflySpec>() == kDragonflyFields.size());

/// A fabric has both of these keys or neither.
inline constexpr auto kFlagFields = std::to_array<Field<TransportSpec>>({
    quantity<&TransportSpec::flag_latency>("flag_latency",
                                           "least latency of a step that ends with flags (ll, ll128)"),
    quantity<&TransportSpec::eager_size>("eager_size",
                                         "largest message sent without asking the receiver first"),
});
inline constexpr auto kTransportFields = std::to_array<Field<TransportSpec>>({
    quantity<&TransportSpec::slice_latency>("slice_latency", "latency added to a step of slices (simple)")
        .optional(),
    choice<&TransportSpec::flags>("flags", "which protocols with flags the transport allows").optional(),
    quantity<&TransportSpec::switch_chunk>("switch_chunk", "bytes of the chunk that in-switch trees pass on")
        .optional(),
    quantity<&TransportSpec::tree_until>("tree_until",
                                         "largest all-reduce that takes a tree with flags instead")
        .optional(),
    number<&TransportSpec::incast>("incast", {0.05, 1},
                                   "share of a NIC's rate left where several nodes send to it")
        .optional(),
});
static_assert(member_count<TransportSpec>() == kFlagFields.size() + kTransportFields.size());

/// Calls \p visit(key, QuantityOf) for every number with a unit of \p fabric; keys as "nic_raw".
template <class Visit>
void each_quantity(FabricSpec& fabric, const Visit& visit) {
  each_quantity(fabric, kFabricFields, "", visit);
  each_quantity(fabric.nic, kLinkFields, "nic_", visit);
  each_quantity(fabric.link, kLinkFields, "link_", visit);
  each_quantity(fabric.transport, kFlagFields, "", visit);
  each_quantity(fabric.transport, kTransportFields, "", visit);
}

}}  // namespace c3::configs
