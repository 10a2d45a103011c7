// Algorithms over several nodes: whose data every transfer carries, that all ends where it belongs, once.

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <map>
#include <optional>
#include <set>

#include "collectives/algorithms/algorithm.hpp"
#include "engine/errors.hpp"
#include "tests/support/clusters.hpp"
#include "tests/support/graph_replay.hpp"
#include "tests/support/near.hpp"

namespace c3::collectives_nodes_test {

using namespace literals;
using namespace test;

namespace {

constexpr double kBytes = 1e9;
struct Shape {
  int nodes, gpus;
  bool mesh;
};
const std::vector<Shape> kShapes = {{2, 8, true},  {3, 8, true},  {2, 3, true},  {5, 4, true},  {1, 8, true},
                                    {2, 8, false}, {3, 4, false}, {7, 2, false}, {4, 1, false}, {5, 5, false},
                                    {8, 4, false}, {9, 1, false}, {1, 6, false}};

ClusterSpec cluster_of(const Shape& shape) {
  ClusterSpec cluster = shape.mesh ? nodes_of(NodeTopology::full_mesh, shape.nodes, shape.gpus)
                                   : reducing_nodes_of(shape.nodes, shape.gpus);
  cluster.library.registered_buffers = true;
  return cluster;
}

/// Whether \p algorithm can run \p kind there, by what it is said to need; nullopt where nothing is said here,
/// so that it may run or refuse.
std::optional<bool> can_run(Algorithm algorithm, CollectiveKind kind, const ClusterSpec& cluster) {
  const bool is_power = std::has_single_bit(static_cast<unsigned>(cluster.ranks()));
  if (!supports(algorithm, kind)) return false;
  if (algorithm == Algorithm::direct || algorithm == Algorithm::ring || algorithm == Algorithm::tree)
    return true;
  const bool over_sharp = kind == CollectiveKind::all_reduce && cluster.nodes > 1 && cluster.node.gpus > 1 &&
                          cluster.fabric->switch_reduces;
  if (algorithm == Algorithm::nvls) return cluster.node.switch_reduces && (cluster.nodes == 1 || over_sharp);
  if (algorithm == Algorithm::symmetric_nvls) return cluster.nodes == 1 && cluster.node.switch_reduces;
  if (algorithm == Algorithm::symmetric || algorithm == Algorithm::symmetric_gather) return cluster.nodes == 1;
  if (algorithm == Algorithm::nvls_tree) return cluster.nodes > 1 && cluster.node.switch_reduces;
  if (algorithm == Algorithm::hierarchical) return cluster.nodes > 1 && cluster.node.gpus > 1;
  if (algorithm == Algorithm::collnet)
    return cluster.nodes > 1 && cluster.node.gpus > 1 && cluster.fabric->switch_reduces;
  if (algorithm == Algorithm::pat) return cluster.node.gpus == 1;
  if (algorithm == Algorithm::halving_doubling) return is_power || kind == CollectiveKind::all_reduce;
  return std::nullopt;
}

/// The switch does all of it.
bool is_one_operation(Algorithm algorithm) {
  return algorithm == Algorithm::nvls || algorithm == Algorithm::symmetric_nvls;
}

/// The graph where \p algorithm runs the call; nullopt where it refuses. Both must be as can_run says.
std::optional<TransferGraph> graph_of(const CollectiveCall& call, Algorithm algorithm,
                                      const ClusterSpec& cluster) {
  const std::optional<bool> expected = can_run(algorithm, call.kind, cluster);
  std::optional<TransferGraph> graph;
  try {
    graph = make_transfer_graph(call, algorithm, cluster);
  } catch (const InfeasibleError&) {
  }
  if (expected) CHECK(graph.has_value() == *expected);
  return graph;
}

/// Calls \p check with every cluster and algorithm that can run \p kind there.
template <class Check>
void for_each(CollectiveKind kind, Check check) {
  for (const Shape& shape : kShapes) {
    const ClusterSpec cluster = cluster_of(shape);
    for (const Algorithm algorithm : kAlgorithms) {
      CAPTURE(name_of(kind));
      CAPTURE(name_of(algorithm));
      CAPTURE(shape.nodes);
      CAPTURE(shape.gpus);
      CollectiveCall call{.kind = kind, .bytes = Bytes{kBytes}};
      if (is_rooted(kind)) call.root = cluster.ranks() - 1;
      if (const auto graph = graph_of(call, algorithm, cluster)) check(algorithm, *graph);
    }
  }
}

/// Part of an all-reduce that a rank finishes itself; below 0 where it is not said here.
double finished_share(Algorithm algorithm, const TransferGraph& graph, int rank) {
  const double n = graph.ranks();
  if (algorithm == Algorithm::halving_doubling) {
    const auto core = std::bit_floor(static_cast<unsigned>(graph.ranks()));
    const auto at = std::ranges::find(graph.members, rank) - graph.members.begin();
    return at < static_cast<std::ptrdiff_t>(core) ? 1.0 / core : 0.0;
  }
  if (algorithm == Algorithm::collnet) return 0.0;  // the sum comes from the fabric
  if (algorithm == Algorithm::symmetric) return 1.0 / n;
  const bool finishes_own =
      algorithm == Algorithm::direct || algorithm == Algorithm::ring || algorithm == Algorithm::hierarchical;
  return finishes_own ? 1.0 / n : -1.0;
}

/// A multicast has all others of the node.
std::vector<int> receivers_of(const TransferGraph& graph, const Transfer& transfer) {
  if (transfer.op != TransferOp::switch_multicast) return {transfer.dst};
  std::vector<int> receivers;
  for (const int rank : graph.members) {
    if (rank != transfer.src && rank / graph.node_gpus == transfer.src / graph.node_gpus)
      receivers.push_back(rank);
  }
  return receivers;
}

}  // namespace

TEST_CASE("over nodes nothing is sent before it has come to its sender, or added twice") {
  for (const CollectiveKind kind : kCollectiveKinds) {
    if (kind == CollectiveKind::all_to_all_v) continue;
    for_each(kind, [](Algorithm, const TransferGraph& graph) {
      const Replay replay(graph);
      CHECK(replay.waits_at_sender);
      CHECK(replay.in_order);
      CHECK_FALSE(replay.adds_twice);
    });
  }
}

TEST_CASE(
    "over nodes every result of an all-reduce has everybody's data, and comes to all but who finished it") {
  for_each(CollectiveKind::all_reduce, [](Algorithm algorithm, const TransferGraph& graph) {
    const Replay replay(graph);
    for (std::size_t i = 0; i < graph.transfers.size(); ++i) {
      const TransferOp op = graph.transfers[i].op;
      if (op == TransferOp::store || op == TransferOp::switch_multicast)
        CHECK(static_cast<int>(replay.cargo(i).size()) == graph.ranks());
    }
    for (const int rank : graph.members) {
      const double share = finished_share(algorithm, graph, rank);
      if (share >= 0.0) CHECK(replay.complete_bytes(rank) == near((1.0 - share) * kBytes));
    }
  });
}

TEST_CASE("over nodes sums of a reduce-scatter come together where they belong, with everybody's data") {
  for_each(CollectiveKind::reduce_scatter, [](Algorithm algorithm, const TransferGraph& graph) {
    if (is_one_operation(algorithm)) return;
    const Replay replay(graph);
    std::set<std::uint32_t> sent_on;
    for (const Transfer& t : graph.transfers)
      sent_on.insert(t.after.begin(), t.after.end());
    std::map<int, Ranks> last_come, come;
    for (std::size_t i = 0; i < graph.transfers.size(); ++i) {
      const Transfer& t = graph.transfers[i];
      CHECK((t.op == TransferOp::update || t.op == TransferOp::switch_reduce));
      come[t.dst].insert(replay.cargo(i).begin(), replay.cargo(i).end());
      if (!sent_on.contains(static_cast<std::uint32_t>(i)))
        last_come[t.dst].insert(replay.cargo(i).begin(), replay.cargo(i).end());
    }
    const bool in_rings = algorithm == Algorithm::ring;  // whose last piece has all; others add as pieces come
    for (const int rank : graph.members) {
      Ranks& sum = in_rings ? last_come[rank] : come[rank];
      sum.insert(rank);
      CHECK(static_cast<int>(sum.size()) == graph.ranks());
    }
  });
}

TEST_CASE("over nodes an all-gather brings every rank S (N-1)/N, everybody's") {
  for_each(CollectiveKind::all_gather, [](Algorithm algorithm, const TransferGraph& graph) {
    if (is_one_operation(algorithm)) return;
    const Replay replay(graph);
    std::map<int, double> bytes;
    std::map<int, Ranks> come;
    for (std::size_t i = 0; i < graph.transfers.size(); ++i) {
      const Transfer& t = graph.transfers[i];
      for (const int rank : receivers_of(graph, t)) {
        bytes[rank] += t.bytes.value;
        come[rank].insert(replay.cargo(i).begin(), replay.cargo(i).end());
      }
    }
    for (const int rank : graph.members) {
      CHECK(bytes[rank] == near(kBytes * (graph.ranks() - 1) / graph.ranks()));
      come[rank].insert(rank);
      CHECK(static_cast<int>(come[rank].size()) == graph.ranks());
    }
  });
}

TEST_CASE("PAT sends at every distance exactly the shards that the tree of each has there") {
  // At distance d a rank holds what came from 0, 2d, 4d .. before it, and sends on what goes no further than N.
  for (int n = 2; n <= 33; ++n) {
    CAPTURE(n);
    const ClusterSpec cluster = nodes_of(NodeTopology::switched, n, 1);
    const TransferGraph graph =
        make_transfer_graph({CollectiveKind::all_gather, Bytes{kBytes}}, Algorithm::pat, cluster);
    std::vector<Ranks> held(static_cast<std::size_t>(n));
    for (int rank = 0; rank < n; ++rank)
      held[static_cast<std::size_t>(rank)] = {rank};
    for (int step = 0; step < graph.steps; ++step) {
      std::vector<Ranks> next = held;
      for (const Transfer& t : graph.transfers) {
        if (t.step != step) continue;
        const int distance = (t.dst - t.src + n) % n;
        int pieces = 0;
        for (const int root : held[static_cast<std::size_t>(t.src)]) {
          if ((t.src - root + n) % n + distance >= n) continue;
          CHECK(next[static_cast<std::size_t>(t.dst)].insert(root).second);
          ++pieces;
        }
        CHECK(t.bytes.value == near(kBytes / n * pieces));
      }
      held = std::move(next);
    }
    for (const Ranks& all : held)
      CHECK(static_cast<int>(all.size()) == n);
    CHECK(graph.steps == static_cast<int>(std::bit_width(static_cast<unsigned>(n - 1))));
  }
}

TEST_CASE("over nodes a broadcast and a reduce pass every rank once, a gather and a scatter one shard each") {
  for (const CollectiveKind kind : {CollectiveKind::broadcast, CollectiveKind::scatter}) {
    for_each(kind, [&](Algorithm algorithm, const TransferGraph& graph) {
      if (is_one_operation(algorithm)) return;
      std::map<int, double> come;
      for (const Transfer& t : graph.transfers)
        come[t.dst] += t.bytes.value;
      const int root = graph.ranks() - 1;
      CHECK(come[root] == 0.0);
      for (const int rank : graph.members) {
        const double expected = kind == CollectiveKind::broadcast ? kBytes : kBytes / graph.ranks();
        if (rank != root) CHECK(come[rank] == near(expected));
      }
    });
  }
  for (const CollectiveKind kind : {CollectiveKind::reduce, CollectiveKind::gather}) {
    for_each(kind, [&](Algorithm algorithm, const TransferGraph& graph) {
      if (is_one_operation(algorithm)) return;
      const Replay replay(graph);
      Ranks at_root = {graph.ranks() - 1};
      std::map<int, double> sent;
      for (std::size_t i = 0; i < graph.transfers.size(); ++i) {
        const Transfer& t = graph.transfers[i];
        sent[t.src] += t.bytes.value;
        if (t.dst == graph.ranks() - 1) at_root.insert(replay.cargo(i).begin(), replay.cargo(i).end());
      }
      CHECK(static_cast<int>(at_root.size()) == graph.ranks());
      for (int rank = 0; rank < graph.ranks() - 1; ++rank)
        CHECK(sent[rank] == near(kind == CollectiveKind::reduce ? kBytes : kBytes / graph.ranks()));
    });
  }
}

TEST_CASE("what an algorithm needs is said where it is missing") {
  const auto refusal = [](Algorithm algorithm, CollectiveKind kind, const ClusterSpec& cluster) -> std::string {
    try {
      make_transfer_graph({kind, Bytes{kBytes}}, algorithm, cluster);
    } catch (const InfeasibleError& error) {
      return error.what();
    }
    return "accepted";
  };
  const ClusterSpec two = nodes_of(NodeTopology::switched, 2, 4);
  CHECK(refusal(Algorithm::nvls_tree, CollectiveKind::all_reduce, two) ==
        "all_reduce: nvls_tree needs a switch that reduces, node 'switch' has none");
  CHECK(refusal(Algorithm::nvls, CollectiveKind::all_reduce, reducing_nodes_of(2, 4)) == "accepted");
  CHECK(refusal(Algorithm::nvls, CollectiveKind::all_gather, reducing_nodes_of(2, 4)) ==
        "all_gather: nvls reaches GPUs of one node only, unless the fabric's switches reduce all to all; see "
        "nvls_tree");
  CHECK(refusal(Algorithm::nvls_tree, CollectiveKind::all_reduce, reducing_nodes_of(1, 4)) ==
        "all_reduce: nvls_tree joins several nodes; within one see nvls");
  CHECK(refusal(Algorithm::collnet, CollectiveKind::all_reduce, two) ==
        "all_reduce: collnet needs switches that reduce, fabric 'one-switch' has none");
  CHECK(refusal(Algorithm::hierarchical, CollectiveKind::all_reduce, mi300x_like_cluster()) ==
        "all_reduce: hierarchical joins several nodes; within one see direct");
  CHECK(refusal(Algorithm::pat, CollectiveKind::all_gather, two) ==
        "all_gather: pat takes one GPU of each node");
  CHECK(refusal(Algorithm::halving_doubling, CollectiveKind::all_gather,
                nodes_of(NodeTopology::switched, 3, 2)) ==
        "all_gather: halving_doubling takes a power of two of ranks, not 6");
  CollectiveCall uneven{.kind = CollectiveKind::all_reduce, .bytes = Bytes{kBytes}};
  uneven.ranks = {0, 1, 4};
  CHECK_THROWS_WITH_AS(make_transfer_graph(uneven, Algorithm::hierarchical, two),
                       "all_reduce: hierarchical needs the same GPUs of every node", InfeasibleError);
}

TEST_CASE("a graph that would not fit into memory is refused with the ways out") {
  const ClusterSpec cluster = nodes_of(NodeTopology::switched, 512, 8);
  CHECK_THROWS_WITH_AS(
      make_transfer_graph({CollectiveKind::all_reduce, Bytes{kBytes}}, Algorithm::ring, cluster),
      "all_reduce: the ring algorithm takes more than 4 million transfers over 4096 ranks; choose grain gang "
      "or edge, the hierarchical algorithm, or simulate one rank for all where ranks are alike (fold)",
      InfeasibleError);
  GraphForm form;
  form.every_step = false;
  CHECK(make_transfer_graph({CollectiveKind::all_reduce, Bytes{kBytes}}, Algorithm::ring, cluster, form)
            .transfers.size() == 4096 * 8 * 2);
}

}  // namespace c3::collectives_nodes_test
