#include <bit>

#include "collectives/algorithms.hpp"

namespace c3 {

/// In the tree of one rank's shard, who is x further than its root gets it from who is x less its lowest bit
/// further, the farthest first. All trees together: at distance d a rank sends the shards of the x that are
/// multiples of 2d and have x + d < N. A reduce_scatter is the same backwards.
TransferGraph pat_graph(const GraphRequest& request) {
  const int n = request.ranks();
  if (request.layout.node_count() != n) request.refuse("takes one GPU of each node");
  const bool gathers = request.call.kind == CollectiveKind::all_gather;
  const Bytes shard = request.call.bytes / static_cast<double>(n);
  GraphBuilder graph = request.builder(1);
  Rounds rounds(graph, request.members, request.form.folded);
  const int farthest = static_cast<int>(std::bit_ceil(static_cast<unsigned>(n))) / 2;
  std::vector<std::uint32_t> done;
  for (int i = 1; i <= farthest; i *= 2) {
    const int distance = gathers ? farthest / i : i;
    Transfer pattern;
    pattern.step = pattern.stage = static_cast<int>(done.size());
    pattern.bytes = shard * ((n - distance + 2 * distance - 1) / (2 * distance));
    pattern.op = gathers ? TransferOp::store : TransferOp::update;
    done.push_back(rounds.add(pattern, shift(gathers ? distance : n - distance, n), done));
  }
  return graph.take();
}

}  // namespace c3
