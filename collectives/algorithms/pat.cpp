// A binomial tree from every rank, all of them aggregated by step (NCCL's PAT).

#include <bit>

#include "collectives/algorithms/algorithm.hpp"
#include "collectives/algorithms/entry.hpp"

namespace c3 { inline namespace collectives {
namespace {

/// The tree of one rank's shard: the rank x places after the root gets the shard from the rank whose distance
/// is x without its lowest set bit; the farthest receivers come first. All trees together: at distance d a rank
/// sends the shards of those x that are multiples of 2d and have x + d < N. A reduce_scatter is the same
/// backwards.
TransferGraph graph(const GraphRequest& request) {
  const int n = request.ranks();
  if (request.layout.node_count() != n) request.refuse("takes one GPU of each node");
  const bool gathers = request.call.kind == CollectiveKind::all_gather;
  const Bytes shard = request.call.bytes / static_cast<double>(n);
  GraphBuilder builder = request.builder(1);
  Rounds rounds(builder, request.members, request.form.folded);
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
  return builder.take();
}

bool supports(CollectiveKind kind) {
  return kind == CollectiveKind::all_gather || kind == CollectiveKind::reduce_scatter;
}

bool is_alike(CollectiveKind, const GroupShape& group, const NodeSpec&) { return group.one_gpu; }

/// NCCL from 2.23 on (src/graph/tuning.cc), for one GPU a node only: a part of a network hop for each level of
/// the tree, and a part that grows with the ranks.
std::optional<Seconds> expected_time(const PublishedFigures& figures, Protocol protocol) {
  const bool is_offered = figures.library.rules == TunerRules::nccl && figures.since(23) &&
                          figures.ranks == figures.nodes && protocol == Protocol::simple;
  if (!is_offered) return std::nullopt;
  constexpr double kBase = 8.0, kOfRank = 2.8, kLevels = 3.5;  // [us]
  const double latency =
      kBase + figures.depth() * figures.table.tree_network[2] / kLevels + figures.ranks * kOfRank;
  const BytesPerSecond bus = figures.bandwidth(figures.graphs.tree) * (figures.since(24) ? 0.75 : 0.85);
  return microseconds(latency) + figures.call.bytes / bus;
}

}  // namespace

extern constexpr AlgorithmEntry kPat = {.name = "pat",
                                        .supports = supports,
                                        .graph = graph,
                                        .is_symmetric = is_alike,
                                        .expected_time = expected_time};

}}  // namespace c3::collectives
