#include <fmt/format.h>

#include <array>

#include "configs/scales.hpp"
#include "configs/spec_readers.hpp"
#include "configs/wire_reader.hpp"

namespace c3 {
namespace {

constexpr int kMostGpus = 256;  // of one node; more are joined by a fabric
constexpr int kMostSlots = 256;

}  // namespace

LinkSpec read_link(Section& section, const std::string& prefix) {
  const LinkSpec link{.raw = section.bandwidth(prefix + "raw"),
                      .one_way = section.bandwidth(prefix + "one_way"),
                      .both_ways = section.bandwidth(prefix + "both_ways"),
                      .latency = section.duration(prefix + "latency")};
  if (link.one_way > link.raw) section.fail(prefix + "one_way", fmt::format("must not be above {}raw", prefix));
  if (link.both_ways > link.one_way)
    section.fail(prefix + "both_ways", fmt::format("must not be above {}one_way", prefix));
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
  }
  if (kinds.empty()) section.fail("links", "needs at least one table, such as [links.socket]");
  return kinds;
}

/// A key that has a meaning for one topology only.
void refuse_unless(bool fits, Section& section, std::string_view key, std::string_view wanted) {
  if (fits || section.is_rehearsal() || !section.has(key)) return;
  section.fail(key, fmt::format("requires topology = \"{}\"", wanted));
}

/// Where NICs plug in: one path for each GPU, or vertices of the wiring.
void read_nic_slots(Section& section, NodeSpec& node) {
  if (section.has("nic_slots")) {
    node.nic_slots = static_cast<int>(section.integer("nic_slots", 1, kMostSlots));
    node.pcie = read_link(section, "pcie_");
    if (section.has("nic_at") && !section.is_rehearsal())
      section.fail("nic_at",
                   "cannot be combined with nic_slots, which gives each GPU a path to NICs of its own");
  }
  if (section.has("nic_at")) {
    read_nic_places(section, node);
    node.nic_slots = static_cast<int>(node.nic_at.size());
  }
}

}  // namespace

NodeSpec read_node(Section& section) {
  NodeSpec node{.name = section.slug("name"),
                .topology = section.choice<NodeTopology>("topology"),
                .gpus = static_cast<int>(section.integer("gpus", 1, kMostGpus)),
                .link = read_link(section, "link_")};
  const bool is_wired = node.topology == NodeTopology::wired;
  refuse_unless(node.topology == NodeTopology::switched, section, "switch_reduces", "switched");
  refuse_unless(is_wired, section, "wires", "wired");
  refuse_unless(is_wired, section, "links", "wired");
  refuse_unless(is_wired, section, "nic_at", "wired");
  if (section.has("switch_reduces")) node.switch_reduces = section.sourced_flag("switch_reduces");
  const std::vector<ChosenKey> kinds = read_other_links(section, node);
  if (section.has("wires")) {
    read_wires(section, kinds, node);
  } else if (is_wired) {
    section.fail("wires", "is missing; a wired node lists the links between its GPUs");
  }
  read_nic_slots(section, node);
  scale_links(node, read_scale(section, "link_scale"));
  section.finish();
  return node;
}

}  // namespace c3
