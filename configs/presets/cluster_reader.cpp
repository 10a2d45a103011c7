#include "configs/presets/cluster_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>

#include "collectives/library/peer_reach.hpp"
#include "configs/presets/scales.hpp"
#include "configs/presets/spec_readers.hpp"
#include "configs/presets/straggler_reader.hpp"
#include "configs/toml/overrides.hpp"

namespace c3 { inline namespace configs {
namespace {

constexpr std::int64_t kMostNodes = 131'072;

constexpr auto kTables = std::to_array<KeyText>({
    {"gpu", "overrides of the GPU's preset"},
    {"node", "overrides of the node's preset, which `system` names"},
    {"library", "overrides of the collective library's preset"},
    {"nodes", "number of nodes, joined by `fabric`", std::int64_t{1}},
    {"fabric", "what joins nodes: a preset, or a table with `use`; default: the node's"},
});

std::int64_t node_count(const Table& root) {
  const Node* nodes = root.find("nodes");
  const auto* count = nodes == nullptr ? nullptr : std::get_if<std::int64_t>(&nodes->value);
  return count == nullptr ? 1 : *count;
}

/// The NICs of each node, and that there is a place for them.
void fit_nics(Section& root, Section& section, ClusterSpec& cluster) {
  const NodeSpec& node = cluster.node;
  int& nics = cluster.fabric->nics_per_node;
  if (node.nic_slots == 0) {
    root.refuse("fabric",
                fmt::format("node '{}' has no place for NICs: nic_slots, or nic_at of a wired one", node.name));
  }
  if (nics > node.nic_slots) {
    section.refuse(
        "nics", fmt::format("{} NICs do not fit the {} slots of node '{}'", nics, node.nic_slots, node.name));
  }
  if (nics == 0) nics = std::min(node.nic_slots, node.gpus);
}

void check_fabric(Section& root, Section& section, ClusterSpec& cluster) {
  fit_nics(root, section, cluster);
  const std::vector<int>& torus = cluster.fabric->torus;
  const int places = std::accumulate(torus.begin(), torus.end(), 1, std::multiplies<>());
  if (!torus.empty() && cluster.nodes > places)
    root.fail("nodes", fmt::format("{} nodes, but the torus has {} places", cluster.nodes, places));
}

}  // namespace

void name_fabric(Table& root) {
  Node* fabric = root.find("fabric");
  if (fabric != nullptr) spell_out_use(*fabric);
  Node* node = root.find("node");
  Table* node_table = node == nullptr ? nullptr : node->table();
  const Node* own = node_table == nullptr ? nullptr : node_table->find("fabric");
  if (own == nullptr) return;
  const Node name = *own;
  node_table->erase("fabric");
  if (fabric == nullptr && node_count(root) <= 1) return;
  if (fabric == nullptr) fabric = &root.put("fabric", name.origin, Node{Table{}, name.origin});
  Table* overrides = fabric->table();
  if (overrides == nullptr || overrides->find("use") != nullptr || overrides->find("name") != nullptr) return;
  overrides->put("use", name.origin, name);
}

ClusterSpec read_cluster(Section& root, const Sampling& sampling) {
  Section gpu = root.table("gpu", sampling);
  Section node = root.table("node", sampling);
  Section library = root.table("library", sampling);
  ClusterSpec cluster;
  cluster.gpu = read_gpu(gpu);
  cluster.node = read_node(node);
  cluster.library = read_library(library);
  if (cluster.node.host.p2p == P2pReach::automatic)
    cluster.node.host.p2p = peer_reach(cluster.library, cluster.node.gpus);
  scale_links(cluster.library, read_scale(node, "link_scale"));
  cluster.name = cluster.node.name;
  if (root.has("nodes")) cluster.nodes = static_cast<int>(root.integer("nodes", 1, kMostNodes));
  if (root.has("fabric")) {
    Section fabric = root.table("fabric", sampling);
    cluster.fabric = read_fabric(fabric);
    check_fabric(root, fabric, cluster);
  } else if (cluster.nodes > 1) {
    root.refuse("nodes", fmt::format("{} nodes '{}' need a fabric that joins them, as in fabric = \"ib-ndr\"",
                                     cluster.nodes, cluster.node.name));
  }
  cluster.stragglers = read_stragglers(root, cluster, sampling);
  root.explain(kTables);
  return cluster;
}

}}  // namespace c3::configs
