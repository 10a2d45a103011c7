#pragma once
/// What NCCL's topology search finds where rings go over PCIe: how many rings, how fast, and so how many
/// channels.

#include <optional>
#include <vector>

#include "collectives/spec.hpp"

namespace c3 { inline namespace collectives {

/// Whether the GPUs of a node are joined by PCIe alone, as far as NCCL is concerned: LL128 needs NVLink, and a
/// switch of GPUs is NVLink's.
bool goes_over_pcie(const ClusterSpec& cluster);

struct FoundRings {
  int rings = 1;
  BytesPerSecond speed;  ///< each ring's, a step of the search's list
  int channels = 2;      ///< copies of the rings that the library makes

  BytesPerSecond bandwidth() const { return speed * static_cast<double>(rings); }
};

/// The rings of \p members, ranks of \p cluster. Absent where the node does not say which of its hubs are
/// sockets, where rings go over wires of their own, and for libraries with other rules: their presets say how
/// many channels there are. Source: NCCL 2.30.7, src/graph/search.cc and topo.h (12 GB/s for PCIe 3.0 x16, in
/// proportion for newer ones; lists of speeds by compute capability; rings from 25 GB/s on are halved and
/// doubled in number), src/graph/connect.cc (all are doubled once more). Wrong when: a NIC is not as near to
/// its GPU as the GPU's own link, or the search takes several slower rings for a faster one.
std::optional<FoundRings> rings_over_pcie(const ClusterSpec& cluster, const std::vector<int>& members);

/// The library of \p cluster with the channels that \p members get of it.
CollectiveLibrarySpec library_among(const ClusterSpec& cluster, const std::vector<int>& members);

}}  // namespace c3::collectives
