#include "collectives/backends/fused/fused_routes.hpp"

#include <fmt/format.h>

#include "engine/errors.hpp"

namespace c3 { inline namespace collectives {
namespace {

/// The hops of a ring lead to the neighbour: rank r sends to rank r - 1, which has made the chunk that r makes
/// now.
int to_neighbour(int members) { return members - 1; }

FusedRoutes ring_reduce_scatter(int n) {
  FusedRoutes routes{.chunks = std::vector<FusedChunk>(static_cast<std::size_t>(n)), .produced = n};
  for (int i = 0; i < n; ++i) {
    FusedChunk& chunk = routes.chunks[static_cast<std::size_t>(i)];
    const FusedHop on{to_neighbour(n), i + 1, TransferOp::update};
    chunk.local = i > 0;
    chunk.incoming = i > 0 ? 1 : 0;
    if (i == 0) chunk.stores = {on};
    if (i > 0 && i < n - 1) chunk.copies = {on};
  }
  return routes;
}

FusedRoutes direct_reduce_scatter(int n) {
  FusedRoutes routes{
      .chunks = std::vector<FusedChunk>(static_cast<std::size_t>(n)), .produced = n, .interleaved = true};
  for (int i = 0; i < n - 1; ++i)
    routes.chunks[static_cast<std::size_t>(i)].stores = {{i + 1, n - 1, TransferOp::update}};
  routes.chunks.back().local = true;
  routes.chunks.back().incoming = n - 1;
  return routes;
}

/// Appends the chunks of others that chunk \p from of each is to reach, and how. \p from stores them itself
/// when the kernel makes it, or copies what is complete.
void add_gather(FusedRoutes& routes, int from, Algorithm algorithm, int n, bool by_kernel) {
  const auto first = static_cast<int>(routes.chunks.size());
  std::vector<FusedHop> hops;
  for (int i = 0; i < n - 1; ++i) {
    FusedChunk& chunk = routes.chunks.emplace_back();
    chunk.incoming = 1;
    if (algorithm == Algorithm::direct) {
      hops.push_back({i + 1, first + i, TransferOp::store});
    } else if (i < n - 2) {
      chunk.copies = {{to_neighbour(n), first + i + 1, TransferOp::store}};
    }
  }
  if (algorithm == Algorithm::ring) hops = {{to_neighbour(n), first, TransferOp::store}};
  FusedChunk& source = routes.chunks[static_cast<std::size_t>(from)];
  (by_kernel ? source.stores : source.copies) = hops;
  routes.lanes = algorithm == Algorithm::direct && !by_kernel ? n - 1 : 1;
}

FusedRoutes all_gather(Algorithm algorithm, int n) {
  FusedRoutes routes{.chunks = std::vector<FusedChunk>(1), .produced = 1};
  routes.chunks.front().local = true;
  add_gather(routes, 0, algorithm, n, /*by_kernel=*/true);
  return routes;
}

FusedRoutes direct_all_to_all(int n) {
  FusedRoutes routes{
      .chunks = std::vector<FusedChunk>(static_cast<std::size_t>(n)), .produced = n, .interleaved = true};
  routes.chunks.back().local = true;
  for (int i = 0; i < n - 1; ++i) {
    routes.chunks[static_cast<std::size_t>(i)].stores = {{i + 1, n + i, TransferOp::store}};
    routes.chunks.emplace_back().incoming = 1;
  }
  return routes;
}

}  // namespace

FusedRoutes make_fused_routes(const std::string& name, CollectiveKind kind, Algorithm algorithm, int members) {
  const bool is_ring = algorithm == Algorithm::ring;
  if (is_ring || algorithm == Algorithm::direct) {
    if (kind == CollectiveKind::all_gather) return all_gather(algorithm, members);
    if (kind == CollectiveKind::all_to_all && !is_ring) return direct_all_to_all(members);
    if (kind == CollectiveKind::reduce_scatter || kind == CollectiveKind::all_reduce) {
      FusedRoutes routes = is_ring ? ring_reduce_scatter(members) : direct_reduce_scatter(members);
      if (kind == CollectiveKind::all_reduce)
        add_gather(routes, members - 1, algorithm, members, /*by_kernel=*/false);
      return routes;
    }
  }
  throw InfeasibleError(
      fmt::format("{}: a {} by the {} algorithm cannot be fused with a kernel; reduce_scatter, all_gather and "
                  "all_reduce can, "
                  "by ring or direct, and all_to_all direct",
                  name, name_of(kind), name_of(algorithm)));
}

}}  // namespace c3::collectives
