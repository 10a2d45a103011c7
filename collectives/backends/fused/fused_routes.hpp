#pragma once
/// What becomes of the output of a kernel that a collective is fused with, chunk by chunk (T3, arXiv
/// 2401.16677).

#include <vector>

#include "collectives/algorithms/algorithm.hpp"
#include "collectives/call.hpp"
#include "collectives/spec.hpp"
#include "collectives/transfer_graph.hpp"

namespace c3 { inline namespace collectives {

/// A hop between a chunk of one rank and a chunk of another.
struct FusedHop {
  int ahead = 0;                      ///< the member that is so many places further in the group, round again
  int chunk = 0;                      ///< number of that member's chunk
  TransferOp op = TransferOp::store;  ///< or update
};

/// A chunk's configuration: T3's remote_map (stores to others) and dma_map (what is local, and when it is
/// copied).
struct FusedChunk {
  bool local = false;            ///< the kernel stores it in its GPU's memory
  std::vector<FusedHop> stores;  ///< stores that the kernel makes elsewhere
  int incoming = 0;              ///< stores of others to each of its tiles
  std::vector<FusedHop> copies;  ///< started for a tile when it has had all its stores

  int updates() const { return incoming + (local ? 1 : 0); }
  /// Whether anybody needs to know that a tile is complete.
  bool is_tracked() const { return incoming > 0 || !copies.empty(); }
};

/// Routes that are the same for every member: each numbers chunks in the order in which it makes them, so that
/// chunk 0 of one is another part of the result than chunk 0 of the next (T3's staggered work groups).
struct FusedRoutes {
  std::vector<FusedChunk> chunks;  ///< first those that the kernel makes, in the order in which it does
  int produced = 0;                ///< how many those are
  bool interleaved = false;  ///< tile after tile belongs to another chunk; else all tiles of one follow another
  int lanes = 1;             ///< copy lanes: one an engine
};

/// The routes for N members, with `stores` and `updates` by the kernel and by triggered copies:
/// - reduce_scatter, ring: chunk 0 to the neighbour, 1 .. N-2 summed on the way round, N-1 stays: T3's own;
/// - reduce_scatter, direct: N-1 chunks straight to their owners;
/// - all_gather: the one chunk to the neighbour and on round the ring, or straight to all others;
/// - all_reduce: reduce_scatter, and each tile of the sum gathered when it is complete;
/// - all_to_all, direct: chunks straight to their owners.
/// \throws InfeasibleError, naming \p name, for another kind or algorithm.
FusedRoutes make_fused_routes(const std::string& name, CollectiveKind kind, Algorithm algorithm, int members);

}}  // namespace c3::collectives
