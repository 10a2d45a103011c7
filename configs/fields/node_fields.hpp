#pragma once
/// Keys of a node (configs/nodes/*.toml); those of its links are in link_fields.hpp.

#include "configs/fields/field.hpp"
#include "configs/fields/link_fields.hpp"
#include "interconnect/spec.hpp"

namespace c3::inline configs {

inline constexpr auto kNodeFields = std::to_array<Field<NodeSpec>>({
    choice<&NodeSpec::topology>("topology", "what joins the GPUs"),
    number<&NodeSpec::gpus>("gpus", {1, 256}, "GPUs of one node; a fabric joins several nodes"),
    flag<&NodeSpec::switch_reduces>("switch_reduces", "whether the switch adds and multicasts (NVLink SHARP)")
        .optional(),
});
/// A node whose GPUs have links of their own to NICs has this key; with it go the keys of that link, `pcie_raw`
/// and so on.
inline constexpr auto kNicFields = std::to_array<Field<NodeSpec>>({
    number<&NodeSpec::nic_slots>("nic_slots", {1, 256}, "NICs that fit, each GPU with a path to its own"),
});
static_assert(member_count<NodeSpec>() == kNodeFields.size() + kNicFields.size() + 7,
              "all but name, link, hubs, other_links, wires, pcie and nic_at");

/// Calls \p visit(key, QuantityOf) for every number with a unit of \p node; keys as "link_raw".
template <class Visit>
void each_quantity(NodeSpec& node, const Visit& visit) {
  each_quantity(node.link, kLinkFields, "link_", visit);
  each_quantity(node.pcie, kLinkFields, "pcie_", visit);
  for (LinkSpec& link : node.other_links)
    each_quantity(link, kLinkFields, "links.", visit);
}

}  // namespace c3::configs
