// Algorithms as transfer graphs: who holds what when, and how many bytes pass where.

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>
#include <utility>

#include "collectives/algorithms/algorithm.hpp"
#include "engine/errors.hpp"
#include "tests/support/bytes_sent.hpp"
#include "tests/support/mi300x_like.hpp"
#include "tests/support/near.hpp"

namespace c3::collectives_transfer_graph_test {

using namespace literals;

namespace {

constexpr double kBytes = 1e9;

/// Data of rank `from` for rank `to`, or for everybody (-1). A ring's lane has a part of each piece.
struct Piece {
  int from, to;
  auto operator<=>(const Piece&) const = default;
};
using Pieces = std::set<Piece>;

/// Follows the pieces through a graph: a transfer carries what its predecessors brought, or the sender's own.
class Replay {
 public:
  Replay(CollectiveKind kind, Algorithm algorithm, const TransferGraph& graph)
      : kind_(kind), algorithm_(algorithm), graph_(graph) {
    for (std::size_t i = 0; i < graph.transfers.size(); ++i)
      carry(i);
  }

  /// Every rank has received every piece meant for it exactly once on each lane that brings it.
  bool is_complete() const {
    const int parts = algorithm_ == Algorithm::ring ? graph_.lanes : 1;
    for (int rank = 0; rank < graph_.ranks(); ++rank) {
      for (int from = 0; from < graph_.ranks(); ++from) {
        if (from == rank) continue;
        const auto found = received_.find({rank, wanted(from, rank)});
        if (found == received_.end() || found->second != parts) return false;
      }
    }
    return true;
  }
  bool sends_only_what_arrived = true;
  bool bytes_match_pieces = true;

 private:
  Piece wanted(int from, int to) const { return {from, kind_ == CollectiveKind::all_gather ? -1 : to}; }

  Pieces own(const Transfer& t) const {
    if (kind_ == CollectiveKind::all_gather) return {{t.src, -1}};
    if (algorithm_ == Algorithm::direct) return {{t.src, t.dst}};
    Pieces pieces;
    for (int to = 0; to < graph_.ranks(); ++to) {
      if (to != t.src) pieces.insert({t.src, to});
    }
    return pieces;
  }

  void carry(std::size_t index) {
    const Transfer& t = graph_.transfers[index];
    Pieces& cargo = cargo_.emplace_back(t.after.empty() ? own(t) : Pieces{});
    for (const std::uint32_t before : t.after) {
      const bool is_here =
          before < index && graph_.transfers[before].dst == t.src && graph_.transfers[before].lane == t.lane;
      sends_only_what_arrived = sends_only_what_arrived && is_here;
      if (!is_here) return;
      for (const Piece& piece : cargo_[before]) {
        if (piece.to != t.src) cargo.insert(piece);
      }
    }
    const double parts = algorithm_ == Algorithm::ring ? graph_.lanes : 1.0;
    const double expected = kBytes / graph_.ranks() / parts * static_cast<double>(cargo.size());
    bytes_match_pieces = bytes_match_pieces && t.bytes.value == near(expected, 1e-12);
    for (const Piece& piece : cargo)
      ++received_[{t.dst, piece}];
  }

  CollectiveKind kind_;
  Algorithm algorithm_;
  const TransferGraph& graph_;
  std::vector<Pieces> cargo_;                      ///< by transfer
  std::map<std::pair<int, Piece>, int> received_;  ///< how often, by rank and piece
};

TransferGraph graph_of(CollectiveKind kind, Algorithm algorithm, int ranks) {
  return make_transfer_graph({kind, Bytes{kBytes}}, algorithm, test::mi300x_like_cluster(ranks));
}

/// Calls \p check with every kind, algorithm and 2 to 9 ranks.
template <class Check>
void for_each_graph(Check check) {
  for (const CollectiveKind kind : {CollectiveKind::all_gather, CollectiveKind::all_to_all}) {
    for (const Algorithm algorithm : {Algorithm::direct, Algorithm::ring}) {
      for (int ranks = 2; ranks <= 9; ++ranks) {
        CAPTURE(name_of(kind));
        CAPTURE(name_of(algorithm));
        CAPTURE(ranks);
        check(kind, algorithm, graph_of(kind, algorithm, ranks));
      }
    }
  }
}

std::map<std::pair<int, int>, double> bytes_by_link(const TransferGraph& graph) {
  std::map<std::pair<int, int>, double> bytes;
  for (const Transfer& t : graph.transfers)
    bytes[{t.src, t.dst}] += t.bytes.value;
  return bytes;
}

}  // namespace

TEST_CASE("after every transfer each rank holds each piece meant for it, once") {
  for_each_graph([](CollectiveKind kind, Algorithm algorithm, const TransferGraph& graph) {
    CHECK(Replay(kind, algorithm, graph).is_complete());
  });
}

TEST_CASE("no transfer sends a piece before it has arrived") {
  for_each_graph([](CollectiveKind kind, Algorithm algorithm, const TransferGraph& graph) {
    CHECK(Replay(kind, algorithm, graph).sends_only_what_arrived);
  });
}

TEST_CASE("a transfer has the bytes of the pieces that it carries") {
  for_each_graph([](CollectiveKind kind, Algorithm algorithm, const TransferGraph& graph) {
    CHECK(Replay(kind, algorithm, graph).bytes_match_pieces);
  });
}

TEST_CASE("direct algorithms put S/N on every link") {
  for (int ranks = 2; ranks <= 9; ++ranks) {
    for (const CollectiveKind kind : {CollectiveKind::all_gather, CollectiveKind::all_to_all}) {
      const auto bytes = bytes_by_link(graph_of(kind, Algorithm::direct, ranks));
      CHECK(static_cast<int>(bytes.size()) == ranks * (ranks - 1));
      for (const auto& [link, sum] : bytes)
        CHECK(sum == near(kBytes / ranks));
    }
  }
}

TEST_CASE("rings put (N-1)/R S/N of an all-gather on each link they use, and N(N-1)/2R of an all-to-all") {
  // A ring has 1/R of the data; each link passes N-1 pieces of an all-gather, N-1 + .. + 1 of an all-to-all.
  for (int ranks = 2; ranks <= 9; ++ranks) {
    const auto rings = static_cast<double>(graph_of(CollectiveKind::all_gather, Algorithm::ring, ranks).lanes);
    for (const CollectiveKind kind : {CollectiveKind::all_gather, CollectiveKind::all_to_all}) {
      const double pieces = kind == CollectiveKind::all_gather ? ranks - 1.0 : ranks * (ranks - 1.0) / 2.0;
      const auto bytes = bytes_by_link(graph_of(kind, Algorithm::ring, ranks));
      CHECK(static_cast<double>(bytes.size()) == ranks * rings);
      for (const auto& [link, sum] : bytes)
        CHECK(sum == near(pieces * kBytes / ranks / rings));
    }
  }
}

TEST_CASE("a rank sends (N-1)/N S, and (N-1)/2 S in an all-to-all that others forward") {
  // Ring all-to-all: S/N (N-1) + S/N (N-2) + .. + S/N = S/N N(N-1)/2.
  for_each_graph([](CollectiveKind kind, Algorithm algorithm, const TransferGraph& graph) {
    const double n = graph.ranks();
    const bool forwards = kind == CollectiveKind::all_to_all && algorithm == Algorithm::ring;
    const double expected = forwards ? (n - 1.0) / 2.0 * kBytes : (n - 1.0) / n * kBytes;
    for (int rank = 0; rank < graph.ranks(); ++rank)
      CHECK(bytes_sent(graph, rank).value == near(expected));
  });
}

TEST_CASE("a lane of a rank keeps to one edge, and its steps follow one another") {
  for_each_graph([](CollectiveKind, Algorithm, const TransferGraph& graph) {
    std::map<std::pair<int, int>, std::pair<int, int>> last;  // by lane and source: destination and step
    for (const Transfer& t : graph.transfers) {
      const auto [entry, is_new] = last.try_emplace({t.lane, t.src}, std::pair{t.dst, -1});
      CHECK(t.dst == entry->second.first);
      CHECK(t.step == entry->second.second + 1);
      entry->second.second = t.step;
      CHECK(t.after.empty() == (t.step == 0));
      CHECK(t.step < graph.steps);
      CHECK(t.lane < graph.lanes);
    }
  });
}

TEST_CASE("a folded graph is what rank 0 sends, in order, each step after the one before") {
  for_each_graph([](CollectiveKind, Algorithm, const TransferGraph& graph) {
    const TransferGraph folded = fold(graph);
    std::vector<Transfer> of_rank_0;
    for (const Transfer& t : graph.transfers) {
      if (t.src == 0) of_rank_0.push_back(t);
    }
    REQUIRE(folded.transfers.size() == of_rank_0.size());
    for (std::size_t i = 0; i < of_rank_0.size(); ++i) {
      const Transfer& t = folded.transfers[i];
      CHECK(t.src == 0);
      CHECK(t.dst == of_rank_0[i].dst);
      CHECK(t.bytes == of_rank_0[i].bytes);
      REQUIRE(t.after.size() == of_rank_0[i].after.size());
      for (const std::uint32_t before : t.after) {
        REQUIRE(before < i);
        CHECK(folded.transfers[before].lane == t.lane);
        CHECK(folded.transfers[before].step == t.step - 1);
      }
    }
  });
}

TEST_CASE("a graph that treats ranks differently is not folded") {
  const TransferGraph ring = graph_of(CollectiveKind::all_gather, Algorithm::ring, 4);
  const auto last = ring.transfers.size() - 1;
  SUBCASE("other bytes") {
    TransferGraph graph = ring;
    graph.transfers[last].bytes += 1.0_B;
    CHECK_THROWS_AS(fold(graph), std::logic_error);
  }
  SUBCASE("a rank sends twice, another never") {
    TransferGraph graph = ring;
    graph.transfers[last].src = graph.transfers[last - 1].src;
    CHECK_THROWS_AS(fold(graph), std::logic_error);
  }
  SUBCASE("a rank receives twice") {
    TransferGraph graph = ring;
    graph.transfers[last].dst = graph.transfers[last - 1].dst;
    CHECK_THROWS_AS(fold(graph), std::logic_error);
  }
  SUBCASE("a transfer is missing") {
    TransferGraph graph = ring;
    graph.transfers.pop_back();
    CHECK_THROWS_AS(fold(graph), std::logic_error);
  }
  SUBCASE("a rank does not wait for what the others wait for") {
    TransferGraph graph = ring;
    graph.transfers[last].after.clear();
    CHECK_THROWS_AS(fold(graph), std::logic_error);
  }
  SUBCASE("a rank waits for another step than the others") {
    TransferGraph graph = ring;
    graph.transfers[last].after.front() -= 4;  // the step before
    CHECK_THROWS_AS(fold(graph), std::logic_error);
  }
}

TEST_CASE("one rank, no bytes or less than none are refused with the reason") {
  const CollectiveCall call{CollectiveKind::all_gather, 1.0_GB};
  CHECK_THROWS_WITH_AS(make_transfer_graph(call, Algorithm::direct, test::mi300x_like_cluster(1)),
                       "all_gather: a collective needs at least two ranks", InfeasibleError);
  for (const double bytes : {0.0, -1.0}) {
    CHECK_THROWS_AS(make_transfer_graph({CollectiveKind::all_gather, Bytes{bytes}}, Algorithm::ring,
                                        test::mi300x_like_cluster(8)),
                    InfeasibleError);
  }
  CHECK_THROWS_WITH_AS(make_transfer_graph({CollectiveKind::all_to_all, Bytes{0.0}}, Algorithm::ring,
                                           test::mi300x_like_cluster(8)),
                       "all_to_all: the size must be positive, it is 0 B", InfeasibleError);
}

TEST_CASE("8 GB on 8 ranks in 25 ms are 320 GB/s of algorithm bandwidth, 280 GB/s of bus bandwidth") {
  for (const CollectiveKind kind : {CollectiveKind::all_gather, CollectiveKind::all_to_all}) {
    const CollectiveCall call{kind, 8.0_GB};
    CHECK(algorithm_bandwidth(call, 8, 25.0_ms).value == near(320e9));
    CHECK(bus_bandwidth(call, 8, 25.0_ms).value == near(280e9));
  }
}

}  // namespace c3::collectives_transfer_graph_test
