// What becomes one flow at each grain.

#include <doctest/doctest.h>

#include <stdexcept>

#include "collectives/moves.hpp"
#include "tests/support/mi300x_like.hpp"
#include "tests/support/near.hpp"

using namespace c3;
using namespace c3::literals;

namespace {

TransferGraph ring_of_four() {
  // 4 ranks have 2 disjoint rings: 2 lanes, 3 steps, 24 transfers of 1 GB / 4 / 2 = 125 MB.
  return make_transfer_graph({CollectiveKind::all_gather, 1.0_GB}, Algorithm::ring, test::full_mesh(4));
}

Bytes bytes_of(const std::vector<Move>& moves) {
  Bytes sum;
  for (const Move& move : moves) {
    for (const Leg& leg : move.legs)
      sum += leg.bytes;
  }
  return sum;
}

}  // namespace

TEST_CASE("grain step has a move for each transfer, with its dependencies") {
  const TransferGraph graph = ring_of_four();
  const auto moves = plan_moves(graph, CollectiveGrain::step);
  REQUIRE(moves.size() == 24);
  for (std::size_t i = 0; i < moves.size(); ++i) {
    CHECK(moves[i].after == graph.transfers[i].after);
    CHECK(moves[i].hops == 1);
    REQUIRE(moves[i].legs.size() == 1);
    CHECK(moves[i].legs[0].bytes.value == near(125e6));
  }
}

TEST_CASE("grain edge has a move for each lane of each rank: all its steps' bytes, the latency of each") {
  const auto moves = plan_moves(ring_of_four(), CollectiveGrain::edge);
  REQUIRE(moves.size() == 8);
  for (const Move& move : moves) {
    CHECK(move.after.empty());
    CHECK(move.hops == 3);
    REQUIRE(move.legs.size() == 1);
    CHECK(move.legs[0].bytes.value == near(375e6));
  }
}

TEST_CASE("grain gang is one move with a leg for each lane of each rank") {
  const auto moves = plan_moves(ring_of_four(), CollectiveGrain::gang);
  REQUIRE(moves.size() == 1);
  CHECK(moves[0].hops == 3);
  CHECK(moves[0].legs.size() == 8);
}

TEST_CASE("no grain loses bytes") {
  const TransferGraph graph = ring_of_four();
  for (const CollectiveGrain grain : {CollectiveGrain::step, CollectiveGrain::edge, CollectiveGrain::gang}) {
    CHECK(bytes_of(plan_moves(graph, grain)).value == near(3e9));
  }
}

TEST_CASE("a lane that changes its edge cannot be one pipeline") {
  TransferGraph graph = ring_of_four();
  graph.transfers.back().dst = (graph.transfers.back().dst + 1) % 4;
  CHECK_THROWS_AS(plan_moves(graph, CollectiveGrain::edge), std::logic_error);
}
