#pragma once
/// What a table of a library's tuner holds.

#include <array>

namespace c3 { inline namespace collectives {

using ByProtocol = std::array<double, 3>;  ///< ll, ll128, simple

/// At 64 B, 128 B .. 4 GiB and above, by protocol.
using SharesBySize = std::array<std::array<double, 27>, 3>;

/// What RCCL's tuner takes of the bandwidth.
struct TunerShares {
  std::array<ByProtocol, 2> tree, ring;  ///< on up to two nodes, on more
  SharesBySize tree_by_size;
  SharesBySize ring_by_size;  ///< between nodes
};

/// Latencies [us].
struct TunerTable {
  ByProtocol ring_base, tree_base;
  ByProtocol ring_hop, tree_hop;          ///< NVLink or xGMI
  ByProtocol ring_pcie, tree_pcie;        ///< PCIe
  ByProtocol ring_network, tree_network;  ///< between nodes
  double nvls, nvls_network;              ///< protocol simple; of a collective within a node, and over SHARP
  double nvls_tree_network;
  double collnet_hop, collnet_network;  ///< direct within nodes, SHARP between them
  const TunerShares* shares;            ///< RCCL only
};

}}  // namespace c3::collectives
