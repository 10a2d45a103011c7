#pragma once
/// What NCCL's topology search finds on GPUs that NVLink joins: channels and the speed of one, for each kind of
/// graph. Its tuner and its channel counts follow from that. Source: src/graph/search.cc (ncclTopoCompute,
/// ncclTopoDupChannels), src/graph/connect.cc (ncclTopoPostset) and src/init.cc of NCCL 2.18.6 to 2.30.7.

#include <span>

#include "collectives/library/version.hpp"
#include "gpu/spec.hpp"

namespace c3 { inline namespace collectives {

/// A node as the search sees it. Speeds in GB/s, in NCCL's own figures of links.
struct SearchedNode {
  TunedGpu gpu = TunedGpu::hopper;
  LibraryVersion version = kNewestNccl;
  int gpus = 1;
  double port = 0.0;         ///< all NVLinks of one GPU
  bool has_switch = true;    ///< the node's switch reduces (NVLS)
  int nics = 0;              ///< 0: the node is alone
  double nic = 0.0;          ///< one NIC, and the way between a GPU and it
  bool nics_reduce = false;  ///< the fabric's switches add (SHARP)
};

/// Channels of one speed; none: the search finds no such graph.
struct SearchedGraph {
  int channels = 0;
  double intra = 0.0;  ///< GB/s of one channel within a node
  double inter = 0.0;  ///< between nodes

  bool operator==(const SearchedGraph&) const = default;
};

struct SearchedGraphs {
  SearchedGraph ring, tree, nvls, collnet;  ///< collnet: direct within nodes
  int channels = 0;  ///< channels of a kernel that goes along rings or trees; the graphs' are duplicated

  bool operator==(const SearchedGraphs&) const = default;
};

/// Speeds of a channel that the search tries, GB/s, the fastest first: within a node that is \p alone, or where
/// nodes are joined.
std::span<const double> searched_speeds(TunedGpu gpu, const LibraryVersion& version, bool alone);

/// NCCL counts a PCIe 5.0 slot of 16 lanes, 63 GB/s, as 48 (src/graph/topo.cc, kvDictPciGen), and others alike.
inline constexpr double kSearchedPcie = 48.0 / 63.0;

/// Channels of a kernel along \p found rings: fast ones are searched for, and run, as two of half the speed
/// (ncclTopoDupChannels), all have two channels, and over nodes few fast ones of Hopper and newer GPUs four
/// (ncclTopoPostset).
int kernel_channels(const SearchedGraph& found, TunedGpu gpu, bool over_nodes);

/// Closed form of the search where every GPU reaches every other at full speed. Wrong when: GPUs are joined by
/// unequal links, or the search ends by its time limit before it has tried all.
SearchedGraphs search_topology(const SearchedNode& node);

}}  // namespace c3::collectives
