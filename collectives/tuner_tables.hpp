#pragma once
/// The tables of the libraries' tuners, as their sources hold them: what their authors measured or expect.
/// NCCL 2.30.7 (src/graph/tuning.cc) and RCCL 2.21.5 (the same file; models 3, 5 and 6).

#include <array>

#include "collectives/spec.hpp"
#include "gpu/spec.hpp"

namespace c3 {

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
  double nvls, nvls_tree_network;         ///< protocol simple
  const TunerShares* shares;              ///< RCCL only
};

/// What one channel reaches on 1, 2, more nodes [GB/s]; 0: not at all.
struct ChannelCaps {
  std::array<double, 3> tree;  ///< protocol simple
  std::array<double, 3> tree_ll128;
  std::array<double, 3> nvls_tree;  ///< of eight
};

/// A family that the library has no table for has that of its nearest relative.
const TunerTable& tuner_table(TunerRules rules, GpuFamily family);
/// RCCL knows none: its channels are without bound.
const ChannelCaps& channel_caps(TunerRules rules, GpuFamily family);

/// What an all-reduce in a tree is expected to lose at \p log_size powers of two above 64 B (NCCL).
double tree_correction(Protocol protocol, int log_size);

}  // namespace c3
