#pragma once
/// One call on one cluster with what NCCL's and RCCL's authors publish for it in their tuners: measured or
/// expected bandwidths and latencies. The tuner adds them up to times; channels of trees go at such a rate.

#include "collectives/call.hpp"
#include "collectives/library/topology_search.hpp"
#include "collectives/library/tuner_tables.hpp"
#include "collectives/spec.hpp"

namespace c3 { inline namespace collectives {

/// It must not outlive the call and the cluster. \throws InfeasibleError as members_of.
struct PublishedFigures {
  PublishedFigures(const CollectiveCall& its_call, const ClusterSpec& its_cluster);

  const CollectiveCall& call;
  const ClusterSpec& cluster;
  const CollectiveLibrarySpec& library;
  TunerTable table;
  ChannelCaps caps;      ///< with which the tuner of that release expects
  ChannelCaps measured;  ///< caps that releases from 2.28 on have measured
  bool over_pcie;
  int ranks, nodes;       ///< size of the group
  BytesPerSecond fabric;  ///< all NICs of a node together
  SearchedGraphs graphs;  ///< NCCL; over PCIe rings only

  bool reduces_to_all() const { return call.kind == CollectiveKind::all_reduce; }
  /// Whether the library is NCCL of that release or a newer one.
  bool since(int minor, int patch = 0) const { return library.version >= LibraryVersion{2, minor, patch}; }
  double ranks_per_node() const { return static_cast<double>(ranks) / nodes; }
  /// Steps of a ring.
  int steps() const;
  /// Algorithm bandwidth of a ring by its bus bandwidth.
  double ring_ratio() const { return static_cast<double>(ranks) / steps(); }
  /// RCCL: bus bandwidth within a node, or between nodes where that is less.
  BytesPerSecond bandwidth() const;
  /// NCCL: of a graph's channels together. Two nodes use the speed within a node (ncclTopoTuneModel).
  BytesPerSecond bandwidth(const SearchedGraph& graph) const;
  /// Bus bandwidth that no algorithm passes in protocol ll.
  BytesPerSecond most_in_ll() const;
  /// RCCL's part of the bandwidth, in its own units of size; \p by_size may be null.
  double share(const std::array<ByProtocol, 2>& by_nodes, const SharesBySize* by_size, Protocol protocol) const;
  /// Powers of two above 64 B; -1: below.
  int log_size() const;
  /// Depth of a binary tree over nodes.
  double depth() const;
  /// Index into arrays for 1, 2 and more nodes.
  std::size_t index_of_nodes() const;
  bool passes(Protocol protocol) const { return nodes == 1 || passes_between_nodes(cluster, protocol); }
};

/// \p count of the tables' unit.
constexpr Seconds microseconds(double count) { return Seconds{count * 1e-6}; }

/// The same of bandwidths, GB/s.
constexpr BytesPerSecond gigabytes(double count) { return BytesPerSecond{count * 1e9}; }

}}  // namespace c3::collectives
