#pragma once
/// The tables of the libraries' tuners, as their sources hold them: what their authors measured or expect.
/// NCCL 2.18.6 to 2.30.7 (src/graph/tuning.cc); those of RCCL are in rccl_tables.

#include <array>

#include "collectives/library/tuner_table.hpp"
#include "collectives/spec.hpp"
#include "gpu/spec.hpp"

namespace c3 { inline namespace collectives {

/// What one channel that the search finds reaches on 1, 2, more nodes [GB/s]; 0: not at all. A kernel has two
/// for each.
struct ChannelCaps {
  std::array<double, 3> tree;  ///< protocol simple
  std::array<double, 3> tree_ll128;
  std::array<double, 3> ring_ll128;
  std::array<double, 3> nvls_tree;  ///< rate of a head
  double ll;                        ///< all channels on one node, protocol ll
};

/// Bus bandwidth that no ring or tree passes in protocol ll between nodes, where the host decides: row 0 of
/// llMaxBws (src/graph/tuning.cc), which is that of hosts by Intel and of Grace, and row 1, that of hosts by
/// AMD.
struct MostInLl {
  BytesPerSecond two_nodes, more_nodes;
};
inline constexpr MostInLl kMostInLl = {BytesPerSecond{39e9}, BytesPerSecond{20.4e9}};
inline constexpr MostInLl kMostInLlOfAmdHosts = {BytesPerSecond{22.5e9}, BytesPerSecond{19e9}};

// What NCCL's tuner (src/graph/tuning.cc, ncclTopoTuneModel) takes of the bus bandwidth.
inline constexpr double kRingShareInLl = 0.5;
inline constexpr double kRingShareInLl128 = 0.92;
inline constexpr double kTreeShare = 0.92;              ///< share for an all_reduce
inline constexpr double kTreeDivisorInLl = 3.8;         ///< divides the tree's bandwidth
inline constexpr double kTreeShareInLl128 = 7.0 / 9.0;  ///< share of the tree's, on one node
inline constexpr double kPlainTreeShare = 0.85;  ///< share of the tree's, where one GPU of each node is in it
inline constexpr double kLinePayload = 120.0 / 128.0;  ///< payload of ll128 lines; tree between nodes

/// A family that the library has no table for has that of its nearest relative.
TunerTable tuner_table(const CollectiveLibrarySpec& library, TunedGpu gpu);
/// The library's caps. RCCL has none: its channels are without bound.
ChannelCaps channel_caps(const CollectiveLibrarySpec& library, TunedGpu gpu);
/// Caps that were measured: Blackwell's before 2.28 were twice Hopper's.
ChannelCaps measured_caps(const CollectiveLibrarySpec& library, TunedGpu gpu);

/// The share of an NVLink's bandwidth that NVLS leaves to data (NCCL 2.28 and newer).
double nvls_efficiency(TunedGpu gpu);

/// What an all-reduce in a tree is expected to lose at \p log_size powers of two above 64 B (NCCL).
double tree_correction(Protocol protocol, int log_size);
/// Like tree_correction(), for a tree of NVLS, which counts one size more.
double nvls_tree_correction(int log_size);

}}  // namespace c3::collectives
