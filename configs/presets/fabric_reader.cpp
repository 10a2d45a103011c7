#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "configs/fields/fabric_fields.hpp"
#include "configs/presets/scales.hpp"
#include "configs/presets/spec_readers.hpp"

namespace c3 { inline namespace configs {
namespace {

constexpr int kMostAlong = 256;  // nodes in one dimension of a torus

int along(Section& section, std::string_view key) {
  const auto nodes = static_cast<int>(section.integer(key, 1, kMostAlong));
  section.explain(key, "nodes along one dimension of the torus");
  return nodes;
}

void check_oversubscription(Section& section, std::string_view key, double ratio) {
  if (ratio <= 0.0) section.fail(key, "must be above 0.0");
}

TreeSpec read_tree(Section& section) {
  TreeSpec tree;
  read_fields(section, tree, kLeafFields);
  check_oversubscription(section, "leaf_oversubscription", tree.leaf_oversubscription);
  if (section.has("pod_leaves")) {
    tree.levels = 3;
    read_fields(section, tree, kPodFields);
    check_oversubscription(section, "pod_oversubscription", tree.pod_oversubscription);
  }
  return tree;
}

DragonflySpec read_dragonfly(Section& section) {
  DragonflySpec dragonfly;
  read_fields(section, dragonfly, kDragonflyFields);
  return dragonfly;
}

std::vector<int> read_torus(Section& section) {
  std::vector<int> sizes = {along(section, "torus_x")};
  if (section.has("torus_y")) sizes.push_back(along(section, "torus_y"));
  if (section.has("torus_z")) sizes.push_back(along(section, "torus_z"));
  return sizes;
}

void read_switches(Section& section, FabricSpec& fabric) {
  const bool is_tree =
      fabric.topology == FabricTopology::leaf_spine || fabric.topology == FabricTopology::fat_tree;
  const bool is_dragonfly = fabric.topology == FabricTopology::dragonfly;
  const bool is_torus = fabric.topology == FabricTopology::torus;
  // Whether a group of keys is read: those of a topology. A rehearsal reads whatever it pretends to find.
  const auto reads = [&](std::string_view first_key, bool fits, std::string_view wanted) {
    const bool is_there = section.has(first_key);
    if (section.is_rehearsal()) return is_there;
    if (is_there && !fits) section.fail(first_key, fmt::format("requires topology {}", wanted));
    return fits;
  };
  if (reads("leaf_nics", is_tree, "'leaf_spine' or 'fat_tree'")) fabric.tree = read_tree(section);
  if (reads("switch_nics", is_dragonfly, "'dragonfly'")) fabric.dragonfly = read_dragonfly(section);
  if (reads("torus_x", is_torus, "'torus'")) fabric.torus = read_torus(section);
  if (reads("link_raw", is_dragonfly || is_torus, "'dragonfly' or 'torus'"))
    fabric.link = read_link(section, "link_");
}

TransportSpec read_transport(Section& section) {
  TransportSpec transport;
  if (section.has("flag_latency")) read_fields(section, transport, kFlagFields);
  read_fields(section, transport, kTransportFields);
  return transport;
}

}  // namespace

FabricSpec read_fabric(Section& section) {
  FabricSpec fabric{.name = section.preset_name(), .nics_per_node = 0, .nic = {}, .switch_latency = {}};
  read_fields(section, fabric, kFabricFields);
  fabric.nic = read_link(section, "nic_");
  section.explain("nic_latency", "latency of a NIC and its cable, both ends together");
  fabric.transport = read_transport(section);
  read_switches(section, fabric);
  scale_links(fabric, read_scale(section, "scale"));
  section.finish();
  return fabric;
}

}}  // namespace c3::configs
