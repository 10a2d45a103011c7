// Sums: whose data every transfer carries, and that nobody's are added twice or left out.

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "collectives/algorithms/algorithm.hpp"
#include "tests/support/bytes_sent.hpp"
#include "tests/support/mi300x_like.hpp"
#include "tests/support/near.hpp"

namespace c3::collectives_reductions_test {

using namespace literals;

namespace {

constexpr double kBytes = 1e9;
using Contributors = std::set<int>;

/// Follows sums through a graph: what a rank sends is what arrived in the transfers that it waits for, and,
/// while it is being added up, its own.
class SumReplay {
 public:
  explicit SumReplay(const TransferGraph& graph) : graph_(graph) {
    for (const Transfer& t : graph.transfers)
      carry(t);
  }

  bool adds_twice = false;
  bool waits_at_sender = true;  ///< every transfer waits for arrivals at its own sender

  /// Bytes that reach \p rank by \p op with everybody's data in them, its own included.
  Bytes complete(int rank, TransferOp op) const {
    Bytes sum;
    for (std::size_t i = 0; i < graph_.transfers.size(); ++i) {
      const Transfer& t = graph_.transfers[i];
      if (t.dst != rank || t.op != op) continue;
      Contributors with_own = cargo_[i];
      if (op == TransferOp::update) with_own.insert(rank);
      if (static_cast<int>(with_own.size()) == graph_.ranks()) sum += t.bytes;
    }
    return sum;
  }
  const Contributors& cargo(std::size_t transfer) const { return cargo_[transfer]; }

 private:
  void carry(const Transfer& t) {
    Contributors& cargo = cargo_.emplace_back();
    for (const std::uint32_t before : t.after) {
      waits_at_sender = waits_at_sender && graph_.transfers[before].dst == t.src;
      for (const int rank : cargo_[before]) {
        const bool was_a_part = graph_.transfers[before].op == TransferOp::update;
        if (!cargo.insert(rank).second || rank == t.src) adds_twice = adds_twice || was_a_part;
      }
    }
    cargo.insert(t.src);
  }

  const TransferGraph& graph_;
  std::vector<Contributors> cargo_;  ///< by transfer
};

TransferGraph graph_of(CollectiveKind kind, Algorithm algorithm, int ranks, int root = 0) {
  CollectiveCall call{.kind = kind, .bytes = Bytes{kBytes}};
  call.root = root;
  return make_transfer_graph(call, algorithm, test::mi300x_like_cluster(ranks));
}

/// Calls \p check with a graph of 2 to 9 ranks for every algorithm over links that runs \p kind.
template <class Check>
void for_each_graph(CollectiveKind kind, Check check) {
  for (const Algorithm algorithm : {Algorithm::direct, Algorithm::ring, Algorithm::tree}) {
    if (!supports(algorithm, kind)) continue;
    for (int ranks = 2; ranks <= 9; ++ranks) {
      CAPTURE(name_of(algorithm));
      CAPTURE(ranks);
      check(algorithm, graph_of(kind, algorithm, ranks, ranks - 1));
    }
  }
}

}  // namespace

TEST_CASE("no algorithm adds a rank's data twice, or sends on what has not arrived") {
  for (const CollectiveKind kind :
       {CollectiveKind::all_reduce, CollectiveKind::reduce_scatter, CollectiveKind::reduce}) {
    CAPTURE(name_of(kind));
    for_each_graph(kind, [](Algorithm, const TransferGraph& graph) {
      const SumReplay replay(graph);
      CHECK_FALSE(replay.adds_twice);
      CHECK(replay.waits_at_sender);
    });
  }
}

TEST_CASE("an all-reduce stores at every rank the sums that it did not finish itself") {
  for_each_graph(CollectiveKind::all_reduce, [](Algorithm algorithm, const TransferGraph& graph) {
    const SumReplay replay(graph);
    const double n = graph.ranks();
    for (const int rank : graph.members) {
      // A ring or direct rank finishes 1/n of the data; the root of the trees everything.
      const bool is_root = algorithm == Algorithm::tree && rank == graph.members.front();
      const double stored = algorithm == Algorithm::tree ? 1.0 : (n - 1.0) / n;
      const double found = replay.complete(rank, TransferOp::store).value;
      if (is_root) CHECK(found == 0.0);
      if (!is_root) CHECK(found == near(stored * kBytes));
    }
    for (std::size_t i = 0; i < graph.transfers.size(); ++i) {
      if (graph.transfers[i].op == TransferOp::store) {
        CHECK(static_cast<int>(replay.cargo(i).size()) == graph.ranks());
      }
    }
  });
}

TEST_CASE("ring and tree sums end complete where they belong: 1/N at each rank, or all at the root") {
  for (int ranks = 2; ranks <= 9; ++ranks) {
    CAPTURE(ranks);
    const TransferGraph scatter = graph_of(CollectiveKind::reduce_scatter, Algorithm::ring, ranks);
    const SumReplay scattered(scatter);
    for (const int rank : scatter.members)
      CHECK(scattered.complete(rank, TransferOp::update).value == near(kBytes / ranks));
    const TransferGraph chain = graph_of(CollectiveKind::reduce, Algorithm::ring, ranks, ranks - 1);
    CHECK(SumReplay(chain).complete(ranks - 1, TransferOp::update).value == near(kBytes));
    const TransferGraph tree = graph_of(CollectiveKind::reduce, Algorithm::tree, ranks, ranks - 1);
    CHECK(SumReplay(tree).complete(ranks - 1, TransferOp::update).value == near(kBytes));
  }
}

TEST_CASE("direct sums: everybody's own shard goes to its owner, once") {
  for (int ranks = 2; ranks <= 9; ++ranks) {
    const TransferGraph graph = graph_of(CollectiveKind::reduce_scatter, Algorithm::direct, ranks);
    std::set<std::pair<int, int>> pairs;
    for (const Transfer& t : graph.transfers) {
      CHECK(t.op == TransferOp::update);
      CHECK(t.bytes.value == near(kBytes / ranks));
      CHECK(pairs.emplace(t.src, t.dst).second);
    }
    CHECK(static_cast<int>(pairs.size()) == ranks * (ranks - 1));
  }
}

TEST_CASE("a broadcast reaches every rank once, from one that has it") {
  for_each_graph(CollectiveKind::broadcast, [](Algorithm, const TransferGraph& graph) {
    const int root = graph.ranks() - 1;
    std::map<int, double> received;
    for (const Transfer& t : graph.transfers) {
      CHECK(t.after.empty() == (t.src == root));
      for (const std::uint32_t before : t.after)
        CHECK(graph.transfers[before].dst == t.src);
      received[t.dst] += t.bytes.value;
    }
    CHECK(static_cast<int>(received.size()) == graph.ranks() - 1);
    for (const auto& [rank, bytes] : received) {
      CHECK(rank != root);
      CHECK(bytes == near(kBytes));
    }
  });
}

TEST_CASE("a ring all-reduce moves 2S(N-1)/N out of and into every rank") {
  for (int ranks = 2; ranks <= 9; ++ranks) {
    const TransferGraph graph = graph_of(CollectiveKind::all_reduce, Algorithm::ring, ranks);
    std::map<int, double> in;
    for (const Transfer& t : graph.transfers)
      in[t.dst] += t.bytes.value;
    for (const int rank : graph.members) {
      CHECK(bytes_sent(graph, rank).value == near(2.0 * kBytes * (ranks - 1) / ranks));
      CHECK(in[rank] == near(2.0 * kBytes * (ranks - 1) / ranks));
    }
  }
}

TEST_CASE("an in-switch all-reduce takes S + S/N out of every rank") {
  for (int ranks = 2; ranks <= 9; ++ranks) {
    ClusterSpec cluster = test::mi300x_like_cluster();
    cluster.node = test::switched(ranks);
    cluster.node.switch_reduces = true;
    const CollectiveCall call{.kind = CollectiveKind::all_reduce, .bytes = Bytes{kBytes}};
    const TransferGraph graph = make_transfer_graph(call, Algorithm::nvls, cluster);
    for (const int rank : graph.members)
      CHECK(bytes_sent(graph, rank).value == near(kBytes * (1.0 + 1.0 / ranks)));
  }
}

TEST_CASE("two trees: a rank that is inner in one is a leaf in the other, and paths are short") {
  std::vector<int> sizes = {31, 32, 33, 48, 63, 64};
  for (int ranks = 3; ranks <= 17; ++ranks)
    sizes.push_back(ranks);
  for (const int ranks : sizes) {
    CAPTURE(ranks);
    const TransferGraph graph = graph_of(CollectiveKind::broadcast, Algorithm::tree, ranks);
    std::map<int, std::set<int>> inner_in;  // by rank: lanes in which it sends on
    for (const Transfer& t : graph.transfers) {
      if (t.src != 0) inner_in[t.src].insert(t.lane);
    }
    for (const auto& [rank, lanes] : inner_in)
      CHECK(lanes.size() == 1);
    int depth = 1;
    while ((1 << depth) < ranks)
      ++depth;
    CHECK(graph.steps <= depth + 1);
  }
}

TEST_CASE("a group's ranks keep to themselves, in the group's order") {
  CollectiveCall call{.kind = CollectiveKind::all_reduce, .bytes = Bytes{kBytes}};
  call.ranks = {6, 1, 4};
  for (const Algorithm algorithm : {Algorithm::direct, Algorithm::ring, Algorithm::tree}) {
    const TransferGraph graph = make_transfer_graph(call, algorithm, test::mi300x_like_cluster(8));
    CHECK(graph.members == call.ranks);
    for (const Transfer& t : graph.transfers) {
      CHECK(std::ranges::find(call.ranks, t.src) != call.ranks.end());
      CHECK(std::ranges::find(call.ranks, t.dst) != call.ranks.end());
    }
  }
  call.kind = CollectiveKind::send_receive;
  const TransferGraph shift = make_transfer_graph(call, Algorithm::direct, test::mi300x_like_cluster(8));
  REQUIRE(shift.transfers.size() == 3);
  CHECK(shift.transfers[0].src == 6);
  CHECK(shift.transfers[0].dst == 1);
  CHECK(shift.transfers[2].dst == 6);
}

TEST_CASE("all_to_all_v sends what the sizes say, and nothing to oneself") {
  CollectiveCall call{.kind = CollectiveKind::all_to_all_v};
  call.ranks = {2, 5, 7};
  call.sends = {9.0_MB, 1.0_MB, 2.0_MB, 0.0_MB, 9.0_MB, 3.0_MB, 4.0_MB, 0.0_MB, 9.0_MB};
  const TransferGraph graph = make_transfer_graph(call, Algorithm::direct, test::mi300x_like_cluster(8));
  std::map<std::pair<int, int>, Bytes> sent;
  for (const Transfer& t : graph.transfers)
    sent[{t.src, t.dst}] = t.bytes;
  const std::map<std::pair<int, int>, Bytes> expected = {
      {{2, 5}, 1.0_MB}, {{2, 7}, 2.0_MB}, {{5, 7}, 3.0_MB}, {{7, 2}, 4.0_MB}};
  CHECK(sent == expected);
}

}  // namespace c3::collectives_reductions_test
