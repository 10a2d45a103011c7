#include <fmt/format.h>

#include "interconnect/switch_network.hpp"
#include "interconnect/tree_shape.hpp"

namespace c3 { inline namespace interconnect {

TreeShape::TreeShape(const FabricSpec& fabric)
    : nics_(fabric.nics_per_node),
      rails_(fabric.topology == FabricTopology::leaf_spine),
      three_levels_(fabric.tree.levels == 3),
      tree_(fabric.tree) {
  leaf_up_ = fabric.nic.one_way * (tree_.leaf_nics / tree_.leaf_oversubscription);
  pod_up_ = leaf_up_ * (tree_.pod_leaves / tree_.pod_oversubscription);
}

int TreeShape::leaf_of(int nic) const {
  if (!rails_) return nic / tree_.leaf_nics;
  return nic / nics_ / tree_.leaf_nics * nics_ + nic % nics_;
}

int TreeShape::pod_of(int leaf) const { return three_levels_ ? leaf / tree_.pod_leaves : 0; }

int TreeShape::leaves(int nodes) const { return leaf_of(nodes * nics_ - 1) + 1; }

int TreeShape::hops(int src_leaf, int dst_leaf) const {
  if (src_leaf == dst_leaf) return 0;
  return pod_of(src_leaf) == pod_of(dst_leaf) ? 2 : 4;
}

int TreeShape::leaf_nodes() const { return rails_ ? tree_.leaf_nics : tree_.leaf_nics / nics_; }

int TreeShape::pod_nodes() const {
  return rails_ ? tree_.leaf_nics * tree_.pod_leaves / nics_ : leaf_nodes() * tree_.pod_leaves;
}

namespace {

/// Every flow takes one spine, and one core in three levels, by its hash.
class HashedTree final : public SwitchNetwork {
 public:
  HashedTree(const FabricSpec& fabric, int nodes)
      : shape_(fabric),
        spines_(fabric.tree.spines),
        cores_(fabric.tree.spine_cores),
        leaves_(shape_.leaves(nodes)) {
    if (shape_.three_levels()) pods_ = shape_.pod_of(leaves_ - 1) + 1;
  }

  void add_links(const AddLink& add) const override {
    const BytesPerSecond uplink = shape_.leaf_up() / double(spines_);
    for (int leaf = 0; leaf < leaves_; ++leaf) {
      for (int s = 0; s < spines_; ++s) {
        const int spine = shape_.pod_of(leaf) * spines_ + s;
        add(fmt::format("leaf{}-spine{}", leaf, spine), uplink);
        add(fmt::format("spine{}-leaf{}", spine, leaf), uplink);
      }
    }
    for (int pod = 0; pod < pods_; ++pod) {
      const BytesPerSecond to_core = shape_.pod_up() / double(spines_ * cores_);
      for (int core = 0; core < spines_ * cores_; ++core) {
        const int spine = pod * spines_ + core / cores_;
        add(fmt::format("spine{}-core{}", spine, core), to_core);
        add(fmt::format("core{}-spine{}", core, spine), to_core);
      }
    }
  }

  double links() const override { return 2.0 * spines_ * (double(leaves_) + double(pods_) * cores_); }

  void add_path(Route& route, int src, int dst, Bytes wire_bytes, std::uint64_t flow) const override {
    const int from = shape_.leaf_of(src);
    const int to = shape_.leaf_of(dst);
    if (from == to) return;
    const int spine = static_cast<int>(flow % static_cast<std::uint64_t>(spines_));
    route.add(leaf_link(from, spine), wire_bytes);
    if (shape_.pod_of(from) != shape_.pod_of(to)) {
      const int core = spine * cores_ + static_cast<int>(mix(flow) % static_cast<std::uint64_t>(cores_));
      route.add(core_link(shape_.pod_of(from), core), wire_bytes);
      route.add(core_link(shape_.pod_of(to), core) + 1, wire_bytes);
    }
    route.add(leaf_link(to, spine) + 1, wire_bytes);
  }

  int hops(int src, int dst) const override { return shape_.hops(shape_.leaf_of(src), shape_.leaf_of(dst)); }

 private:
  // The link up; the one down follows.
  ResourceId leaf_link(int leaf, int spine) const {
    return static_cast<ResourceId>(2 * (leaf * spines_ + spine));
  }
  ResourceId core_link(int pod, int core) const {
    return leaf_link(leaves_, 0) + static_cast<ResourceId>(2 * (pod * spines_ * cores_ + core));
  }

  TreeShape shape_;
  int spines_;
  int cores_;
  int leaves_;
  int pods_ = 0;  ///< with a level of cores above
};

/// What leaves a leaf or a pod shares all its uplinks.
class AdaptiveTree final : public SwitchNetwork {
 public:
  AdaptiveTree(const FabricSpec& fabric, int nodes) : shape_(fabric), leaves_(shape_.leaves(nodes)) {
    if (shape_.three_levels()) pods_ = shape_.pod_of(leaves_ - 1) + 1;
  }

  void add_links(const AddLink& add) const override {
    for (int leaf = 0; leaf < leaves_; ++leaf) {
      add(fmt::format("leaf{}.up", leaf), shape_.leaf_up());
      add(fmt::format("leaf{}.down", leaf), shape_.leaf_up());
    }
    for (int pod = 0; pod < pods_; ++pod) {
      add(fmt::format("pod{}.up", pod), shape_.pod_up());
      add(fmt::format("pod{}.down", pod), shape_.pod_up());
    }
  }

  double links() const override { return 2.0 * (leaves_ + pods_); }

  void add_path(Route& route, int src, int dst, Bytes wire_bytes, std::uint64_t /*flow*/) const override {
    const int from = shape_.leaf_of(src);
    const int to = shape_.leaf_of(dst);
    if (from == to) return;
    const auto up = [](int place) { return static_cast<ResourceId>(2 * place); };
    route.add(up(from), wire_bytes);
    route.add(up(to) + 1, wire_bytes);
    if (shape_.pod_of(from) == shape_.pod_of(to)) return;
    route.add(up(leaves_ + shape_.pod_of(from)), wire_bytes);
    route.add(up(leaves_ + shape_.pod_of(to)) + 1, wire_bytes);
  }

  int hops(int src, int dst) const override { return shape_.hops(shape_.leaf_of(src), shape_.leaf_of(dst)); }

 private:
  TreeShape shape_;
  int leaves_;
  int pods_ = 0;
};

}  // namespace

std::unique_ptr<SwitchNetwork> make_tree(const FabricSpec& fabric, int nodes) {
  if (fabric.routing == FabricRouting::adaptive) return std::make_unique<AdaptiveTree>(fabric, nodes);
  return std::make_unique<HashedTree>(fabric, nodes);
}

}}  // namespace c3::interconnect
