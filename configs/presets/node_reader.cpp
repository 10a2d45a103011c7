#include <fmt/format.h>

#include <array>

#include "configs/fields/node_fields.hpp"
#include "configs/presets/scales.hpp"
#include "configs/presets/spec_readers.hpp"
#include "configs/presets/wire_reader.hpp"
#include "configs/toml/quantity_text.hpp"

namespace c3 { inline namespace configs {

LinkSpec read_link(Section& section, const std::string& prefix, std::span<const Field<LinkSpec>> fields) {
  LinkSpec link;
  read_fields(section, link, fields, prefix);
  if (link.one_way > link.raw)
    section.fail(prefix + "one_way",
                 fmt::format("must not be above {}raw, which is {}", prefix, bandwidth_text(link.raw.value)));
  if (link.both_ways > link.one_way)
    section.fail(prefix + "both_ways", fmt::format("must not be above {}one_way, which is {}", prefix,
                                                   bandwidth_text(link.one_way.value)));
  return link;
}

namespace {

/// Further kinds of link by name.
std::vector<ChosenKey> read_other_links(Section& section, NodeSpec& node) {
  if (!section.has("links")) return {};
  Section links = section.table("links");
  std::vector<ChosenKey> kinds = links.chosen_keys();
  for (const ChosenKey& kind : kinds) {
    Section link = links.table(kind.name);
    node.other_links.push_back(read_link(link, ""));
    link.finish();
    links.explain(kind.name, "another kind of link of the wiring, by a name of your own");
  }
  if (kinds.empty()) section.fail("links", "needs at least one table, such as [links.socket]");
  return kinds;
}

/// A key that has a meaning for one topology only.
void refuse_unless(bool fits, Section& section, std::string_view key, std::string_view wanted) {
  if (fits || !section.has(key)) return;
  section.refuse(key, fmt::format("requires topology = \"{}\"", wanted));
}

/// Reads the places where NICs plug in: one path for each GPU, or vertices of the wiring.
void read_nic_slots(Section& section, NodeSpec& node) {
  if (section.has("nic_slots")) {
    read_fields(section, node, kNicFields);
    node.pcie = read_link(section, "pcie_", kPcieFields);
    if (section.has("nic_at"))
      section.refuse("nic_at",
                     "cannot be combined with nic_slots, which gives each GPU a path to NICs of its own");
  }
  if (section.has("nic_at")) {
    read_nic_places(section, node);
    node.nic_slots = static_cast<int>(node.nic_at.size());
  }
}

/// Reads the transports that GPUs have, and the processors behind them. GPUs on a switch or a mesh are peers at
/// any level.
void read_host(Section& section, NodeSpec& node) {
  read_fields(section, node.host, kTransportChoices);
  read_fields(section, node.host, kHostMemoryFields);
  if (section.has("sockets")) {
    read_sockets(section, node);
    if (!section.has("host_memory") && !section.is_rehearsal())
      section.fail("sockets", "requires host_memory, what their memories carry");
    read_fields(section, node.host, kSocketFields);
    return;
  }
  const bool are_peers = node.topology != NodeTopology::wired && node.host.p2p != P2pReach::none;
  if (node.host.p2p == P2pReach::all || are_peers || section.is_rehearsal()) return;
  section.fail("p2p",
               "requires a wired node with sockets, the hubs that are processors, as in sockets = "
               "[\"cpu0\", \"cpu1\"]");
}

}  // namespace

NodeSpec read_node(Section& section) {
  NodeSpec node{.name = section.preset_name(), .link = {}};
  section.gather_conflicts();
  read_fields(section, node, kNodeFields);
  node.link = read_link(section, "link_", kGpuLinkFields);
  const bool is_wired = node.topology == NodeTopology::wired;
  refuse_unless(node.topology == NodeTopology::switched, section, "switch_reduces", "switched");
  refuse_unless(is_wired, section, "wires", "wired");
  refuse_unless(is_wired, section, "links", "wired");
  for (const std::string_view key : {"nic_at", "sockets"})
    refuse_unless(is_wired, section, key, "wired");
  if (is_wired && section.has("c2c_raw"))
    section.refuse("c2c_raw", "is not for a wired node, whose wires lead to its processors");
  const std::vector<ChosenKey> kinds = read_other_links(section, node);
  if (section.has("wires")) {
    read_wires(section, kinds, node);
  } else if (is_wired) {
    section.fail("wires", "is missing; a wired node lists the links between its GPUs");
  }
  read_nic_slots(section, node);
  if (section.has("c2c_raw")) node.c2c = read_link(section, "c2c_", kC2cFields);
  read_host(section, node);
  section.explain(kWiringKeys);
  scale_links(node, read_scale(section, "link_scale", kNodeUse));
  section.finish();
  return node;
}

}}  // namespace c3::configs
