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

namespace {

/// From rank 0 along a chain of four: 2 lanes of 500 MB, three transfers each.
TransferGraph chain_of_four() {
  return make_transfer_graph({.kind = CollectiveKind::broadcast, .bytes = 1.0_GB}, Algorithm::ring,
                             test::full_mesh(4));
}

}  // namespace

TEST_CASE("grain step cuts a pipelined graph into chunks, each behind the one before on its edge") {
  const TransferGraph graph = chain_of_four();
  REQUIRE(graph.pipelined);
  const auto moves = plan_moves(graph, CollectiveGrain::step, 10);
  REQUIRE(moves.size() == 60);
  for (std::size_t i = 0; i < moves.size(); ++i) {
    CHECK(moves[i].legs[0].bytes.value == near(50e6));
    CHECK(moves[i].behind.has_value() == (i >= 6));
    if (moves[i].behind) CHECK(*moves[i].behind == i - 6);
    for (const std::uint32_t before : moves[i].after) {
      CHECK(before / 6 == i / 6);  // the same chunk
      CHECK(moves[before].legs[0].dst == moves[i].legs[0].src);
    }
  }
}

TEST_CASE("grain edge sends a first chunk through a pipelined graph, and the rest of each edge behind it") {
  const auto moves = plan_moves(chain_of_four(), CollectiveGrain::edge, 10);
  REQUIRE(moves.size() == 12);
  for (std::size_t i = 0; i < 6; ++i) {
    CHECK(moves[i].legs[0].bytes.value == near(50e6));
    CHECK(moves[i].hops == 1);
    CHECK(moves[i + 6].legs[0].bytes.value == near(450e6));
    CHECK(moves[i + 6].hops == 0);
    CHECK(moves[i + 6].behind == static_cast<std::uint32_t>(i));
  }
}

TEST_CASE("grain gang fills a pipeline step by step, then moves the rest at once") {
  const auto moves = plan_moves(chain_of_four(), CollectiveGrain::gang, 10);
  REQUIRE(moves.size() == 4);
  for (std::size_t step = 0; step < 3; ++step)
    CHECK(bytes_of({moves[step]}).value == near(100e6));
  CHECK(bytes_of({moves[3]}).value == near(2700e6));
  CHECK(moves[3].behind == 2U);
}

TEST_CASE("a pipelined graph of one chunk has nothing behind it") {
  for (const CollectiveGrain grain : {CollectiveGrain::step, CollectiveGrain::edge, CollectiveGrain::gang}) {
    for (const Move& move : plan_moves(chain_of_four(), grain, 1))
      CHECK_FALSE(move.behind.has_value());
    CHECK(bytes_of(plan_moves(chain_of_four(), grain, 1)).value == near(3e9));
  }
}

TEST_CASE("an edge that first adds and then stores is one move with a leg for each") {
  const auto moves = plan_moves(make_transfer_graph({.kind = CollectiveKind::all_reduce, .bytes = 1.0_GB},
                                                    Algorithm::ring, test::full_mesh(4)),
                                CollectiveGrain::edge);
  REQUIRE(moves.size() == 8);
  for (const Move& move : moves) {
    CHECK(move.hops == 6);
    REQUIRE(move.legs.size() == 2);
    CHECK(move.legs[0].op == TransferOp::update);
    CHECK(move.legs[1].op == TransferOp::store);
    CHECK(move.legs[0].bytes.value == near(375e6));
    CHECK(move.legs[1].bytes.value == near(375e6));
  }
}
