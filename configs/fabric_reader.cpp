#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "configs/scales.hpp"
#include "configs/spec_readers.hpp"

namespace c3 {
namespace {

constexpr int kMostNics = 256;      // of a node
constexpr int kMostPorts = 4096;    // of a switch
constexpr int kMostSwitches = 256;  // of a group; spines of a pod, cores of a spine
constexpr int kMostAlong = 256;     // nodes in one dimension of a torus
constexpr double kWidest = 64.0;    // oversubscription

int count(Section& section, std::string_view key, int most) {
  return static_cast<int>(section.integer(key, 1, most));
}

double oversubscription(Section& section, std::string_view key) {
  const double ratio = section.fraction(key, kWidest);
  if (ratio <= 0.0) section.fail(key, "must be above 0.0");
  return ratio;
}

TreeSpec read_tree(Section& section) {
  TreeSpec tree;
  tree.leaf_nics = count(section, "leaf_nics", kMostPorts);
  tree.leaf_oversubscription = oversubscription(section, "leaf_oversubscription");
  tree.spines = count(section, "spines", kMostSwitches);
  if (section.has("pod_leaves")) {
    tree.levels = 3;
    tree.pod_leaves = count(section, "pod_leaves", kMostPorts);
    tree.spine_cores = count(section, "spine_cores", kMostSwitches);
    tree.pod_oversubscription = oversubscription(section, "pod_oversubscription");
  }
  return tree;
}

DragonflySpec read_dragonfly(Section& section) {
  return {.switch_nics = count(section, "switch_nics", kMostPorts),
          .group_switches = count(section, "group_switches", kMostSwitches),
          .local_links = count(section, "local_links", kMostSwitches),
          .global_links = count(section, "global_links", kMostSwitches)};
}

std::vector<int> read_torus(Section& section) {
  std::vector<int> sizes = {count(section, "torus_x", kMostAlong)};
  if (section.has("torus_y")) sizes.push_back(count(section, "torus_y", kMostAlong));
  if (section.has("torus_z")) sizes.push_back(count(section, "torus_z", kMostAlong));
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
  if (section.has("routing")) fabric.routing = section.choice<FabricRouting>("routing");
  if (section.has("flows")) fabric.flows = count(section, "flows", kMostSwitches);
  if (section.has("path_seed"))
    fabric.seed = static_cast<std::uint64_t>(section.integer("path_seed", 0, 1'000'000'000));
}

TransportSpec read_transport(Section& section) {
  TransportSpec transport;
  if (section.has("flag_latency")) {
    transport.flag_latency = section.duration("flag_latency");
    transport.eager_size = section.bytes("eager_size");
  }
  if (section.has("slice_latency")) transport.slice_latency = section.duration("slice_latency");
  if (section.has("flags")) transport.flags = section.choice<FlagSupport>("flags");
  if (section.has("switch_chunk")) transport.switch_chunk = section.bytes("switch_chunk");
  if (section.has("tree_until")) transport.tree_until = section.bytes("tree_until");
  return transport;
}

}  // namespace

FabricSpec read_fabric(Section& section) {
  FabricSpec fabric{.name = section.slug("name"),
                    .topology = section.choice<FabricTopology>("topology"),
                    .nics_per_node = 0,
                    .nic = read_link(section, "nic_"),
                    .switch_latency = section.duration("switch_latency"),
                    .message_latency = section.duration("message_latency"),
                    .message_cost = section.duration("message_cost"),
                    .message_size = section.bytes("message_size")};
  if (section.has("nics")) fabric.nics_per_node = static_cast<int>(section.integer("nics", 1, kMostNics));
  if (section.has("switch_reduces")) fabric.switch_reduces = section.sourced_flag("switch_reduces");
  fabric.transport = read_transport(section);
  read_switches(section, fabric);
  scale_links(fabric, read_scale(section, "scale"));
  section.finish();
  return fabric;
}

}  // namespace c3
