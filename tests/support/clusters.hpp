#pragma once
/// Several nodes of MI300X-like or switched GPUs, each GPU near a NIC.

#include "collectives/spec.hpp"
#include "tests/support/fabrics.hpp"

namespace c3::test {

/// \p nodes full meshes or switches of \p gpus with \p nics on one switch of NICs; 0: one for each GPU.
inline ClusterSpec nodes_of(NodeTopology topology, int nodes, int gpus, int nics = 0) {
  ClusterSpec cluster = mi300x_like_cluster(gpus);
  if (topology == NodeTopology::switched) cluster.node = switched(gpus);
  cluster.node.nic_slots = 16;
  cluster.node.pcie = node_of_four().pcie;
  cluster.nodes = nodes;
  if (nodes > 1) cluster.fabric = one_switch(nics > 0 ? nics : gpus);
  return cluster;
}

/// The same with switches that reduce, in nodes and between.
inline ClusterSpec reducing_nodes_of(int nodes, int gpus) {
  using namespace literals;
  ClusterSpec cluster = nodes_of(NodeTopology::switched, nodes, gpus);
  cluster.node.switch_reduces = true;
  if (cluster.fabric) cluster.fabric->switch_reduces = true;
  cluster.library.nvls_channels = 16;
  cluster.library.nvls_payload = 280.0_GBps;
  cluster.library.nvls_latency = 25.0_us;
  return cluster;
}

}  // namespace c3::test
