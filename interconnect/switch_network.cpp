#include "interconnect/switch_network.hpp"

#include <stdexcept>

#include "interconnect/tree_shape.hpp"

namespace c3 { inline namespace interconnect {
namespace {

/// One rank's share of the uplinks of its leaf, and of its pod.
class FoldedTree final : public SwitchNetwork {
 public:
  explicit FoldedTree(const NetworkSpec& network)
      : shape_(*network.fabric),
        nodes_(network.nodes),
        nics_(network.fabric->nics_per_node),
        rails_(network.fabric->topology == FabricTopology::leaf_spine) {
    const TreeSpec& tree = network.fabric->tree;
    const double leaf_ranks = tree.leaf_nics / nics_per_gpu(network);
    leaf_share_ = shape_.leaf_up() / leaf_ranks;
    if (shape_.three_levels()) pod_share_ = shape_.pod_up() / (leaf_ranks * tree.pod_leaves);
  }

  void add_links(const AddLink& add) const override {
    add("leaf.up", leaf_share_);
    add("leaf.down", leaf_share_);
    if (!shape_.three_levels()) return;
    add("pod.up", pod_share_);
    add("pod.down", pod_share_);
  }

  double links() const override { return shape_.three_levels() ? 4.0 : 2.0; }

  void add_path(Route& route, int src, int dst, Bytes wire_bytes, std::uint64_t /*flow*/) const override {
    const int distance = dst / nics_ - src / nics_;
    const bool changes_rail = rails_ && src % nics_ != dst % nics_;
    const double leaving_leaf = changes_rail ? 1.0 : share_leaving(distance, shape_.leaf_nodes());
    for (const ResourceId link : {0U, 1U})
      route.add(link, wire_bytes * leaving_leaf);
    if (!shape_.three_levels()) return;
    for (const ResourceId link : {2U, 3U})
      route.add(link, wire_bytes * share_leaving(distance, shape_.pod_nodes()));
  }

  int hops(int src, int dst) const override { return shape_.hops(shape_.leaf_of(src), shape_.leaf_of(dst)); }

 private:
  /// The share of nodes whose neighbour \p distance nodes further on lies in another block of \p block nodes.
  double share_leaving(int distance, int block) const {
    if (nodes_ <= block) return 0.0;
    const int blocks = nodes_ / block;
    const double carried = distance % block / double(block);
    double staying = 0.0;
    if (distance / block % blocks == 0) staying += 1.0 - carried;
    if ((distance / block + 1) % blocks == 0) staying += carried;
    return 1.0 - staying;
  }

  TreeShape shape_;
  int nodes_;
  int nics_;
  bool rails_;
  BytesPerSecond leaf_share_, pod_share_;
};

bool is_whole(int nodes, int block) { return block > 0 && (nodes <= block || nodes % block == 0); }

bool is_symmetric_tree(const NetworkSpec& network) {
  const FabricSpec& fabric = *network.fabric;
  if (fabric.routing == FabricRouting::ecmp && (fabric.tree.spines > 1 || fabric.tree.spine_cores > 1))
    return false;
  const TreeShape shape(fabric);
  if (fabric.topology == FabricTopology::fat_tree && fabric.tree.leaf_nics % fabric.nics_per_node != 0)
    return false;
  if (!is_whole(network.nodes, shape.leaf_nodes())) return false;
  if (!shape.three_levels()) return true;
  const bool whole_rails =
      fabric.topology == FabricTopology::fat_tree || fabric.tree.pod_leaves % fabric.nics_per_node == 0;
  return whole_rails && is_whole(network.nodes, shape.pod_nodes());
}

}  // namespace

bool is_symmetric(const NetworkSpec& network) {
  if (!is_symmetric(network.node)) return false;
  if (network.nodes == 1) return true;
  if (network.fabric == nullptr) return false;  // nothing joins them: Interconnect says so
  const FabricSpec& fabric = *network.fabric;
  const int gpus = network.node.gpus;
  const int nics = fabric.nics_per_node;
  if (gpus % nics != 0 && nics % gpus != 0) return false;
  switch (fabric.topology) {
    case FabricTopology::single_switch:
      return true;
    case FabricTopology::leaf_spine:
    case FabricTopology::fat_tree:
      return is_symmetric_tree(network);
    case FabricTopology::dragonfly:
      return network.nodes * nics <= fabric.dragonfly.switch_nics;
    case FabricTopology::torus:
      return false;
  }
  throw std::logic_error("is_symmetric: unknown topology");
}

std::unique_ptr<SwitchNetwork> make_switch_network(const FabricSpec& fabric, int nodes) {
  switch (fabric.topology) {
    case FabricTopology::single_switch:
      return nullptr;
    case FabricTopology::leaf_spine:
    case FabricTopology::fat_tree:
      return make_tree(fabric, nodes);
    case FabricTopology::dragonfly:
      return make_dragonfly(fabric, nodes);
    case FabricTopology::torus:
      return make_torus(fabric);
  }
  throw std::logic_error("make_switch_network: unknown topology");
}

std::unique_ptr<SwitchNetwork> make_folded_switch_network(const NetworkSpec& network) {
  const FabricTopology topology = network.fabric->topology;
  const bool is_tree = topology == FabricTopology::leaf_spine || topology == FabricTopology::fat_tree;
  return is_tree ? std::make_unique<FoldedTree>(network) : nullptr;
}

Seconds latency_between_switches(const FabricSpec& fabric, int nodes, const std::vector<int>& members) {
  const auto network = make_switch_network(fabric, nodes);
  if (network == nullptr) return {};
  double hops = 0.0;
  for (std::size_t i = 0; i < members.size(); ++i) {
    const int next = members[(i + 1) % members.size()];
    hops += network->hops(members[i] * fabric.nics_per_node, next * fabric.nics_per_node);
  }
  return (fabric.switch_latency + fabric.link.latency) * (hops / static_cast<double>(members.size()));
}

// The finaliser of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014).
std::uint64_t mix(std::uint64_t value) {
  value += 0x9e3779b97f4a7c15U;
  value = (value ^ (value >> 30U)) * 0xbf58476d1ce4e5b9U;
  value = (value ^ (value >> 27U)) * 0x94d049bb133111ebU;
  return value ^ (value >> 31U);
}

std::uint64_t flow_hash(std::uint64_t seed, int src_nic, int dst_nic, int lane, int flow) {
  std::uint64_t hash = mix(seed);
  for (const int part : {src_nic, dst_nic, lane, flow})
    hash = mix(hash ^ static_cast<std::uint64_t>(part));
  return hash;
}

}}  // namespace c3::interconnect
