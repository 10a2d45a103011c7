#pragma once
/// Which leaf and pod of a leaf-spine or fat-tree a NIC hangs at.

#include "interconnect/fabric.hpp"

namespace c3 { inline namespace interconnect {

class TreeShape {
 public:
  explicit TreeShape(const FabricSpec& fabric);

  int leaf_of(int nic) const;
  int pod_of(int leaf) const;                  ///< 0 in two levels
  int leaves(int nodes) const;                 ///< leaves that \p nodes fill, the last one perhaps in part
  int hops(int src_leaf, int dst_leaf) const;  ///< links between switches
  bool three_levels() const { return three_levels_; }

  /// Nodes that share a leaf: all of their NICs, or NIC j of each where leaves are rails. 0: a node has more
  /// NICs than a leaf.
  int leaf_nodes() const;
  int pod_nodes() const;  ///< three levels

  BytesPerSecond leaf_up() const { return leaf_up_; }  ///< one leaf to all its spines, one direction
  BytesPerSecond pod_up() const { return pod_up_; }    ///< one pod to all cores; three levels

 private:
  int nics_;
  bool rails_;
  bool three_levels_;
  TreeSpec tree_;
  BytesPerSecond leaf_up_, pod_up_;
};

}}  // namespace c3::interconnect
