// What a fused collective does with every chunk, followed by hand through all ranks.

#include "collectives/backends/fused/fused_routes.hpp"

#include <doctest/doctest.h>

#include <map>
#include <set>
#include <utility>

#include "engine/errors.hpp"

namespace c3::collectives_fused_routes_test {

namespace {

/// A chunk of a rank, and which ranks' contributions it holds; nothing of a partial sum is there twice.
struct Held {
  std::multiset<int> parts;
  int stores = 0;
};

/// Lets every rank make its chunks, then every complete chunk be copied, until nothing moves.
class Machine {
 public:
  Machine(FusedRoutes routes, int ranks) : routes_(std::move(routes)), ranks_(ranks) {
    for (int rank = 0; rank < ranks; ++rank) {
      for (int chunk = 0; chunk < routes_.produced; ++chunk)
        make(rank, chunk);
    }
  }

  const Held& at(int rank, int chunk) { return held_[{rank, chunk}]; }
  bool is_complete(int rank, int chunk) { return at(rank, chunk).stores == of(chunk).updates(); }
  const FusedRoutes& routes() const { return routes_; }

 private:
  const FusedChunk& of(int chunk) const { return routes_.chunks[static_cast<std::size_t>(chunk)]; }

  void make(int rank, int chunk) {
    for (const FusedHop& hop : of(chunk).stores)
      send({rank}, rank, hop);
    if (of(chunk).local) add(rank, chunk, {rank});
  }
  void send(const std::multiset<int>& parts, int rank, const FusedHop& hop) {
    add((rank + hop.ahead) % ranks_, hop.chunk, parts);
  }
  void add(int rank, int chunk, const std::multiset<int>& parts) {
    Held& held = held_[{rank, chunk}];
    held.parts.insert(parts.begin(), parts.end());
    REQUIRE(++held.stores <= of(chunk).updates());
    if (held.stores < of(chunk).updates()) return;
    for (const FusedHop& hop : of(chunk).copies)
      send(held.parts, rank, hop);
  }

  FusedRoutes routes_;
  int ranks_;
  std::map<std::pair<int, int>, Held> held_;
};

Machine machine(CollectiveKind kind, Algorithm algorithm, int ranks) {
  return {make_fused_routes("call", kind, algorithm, ranks), ranks};
}

std::multiset<int> all_of_ranks(int ranks) {
  std::multiset<int> all;
  for (int rank = 0; rank < ranks; ++rank)
    all.insert(rank);
  return all;
}

}  // namespace

TEST_CASE("reduce-scatter: the last chunk of every rank is the sum over all, once each") {
  for (const Algorithm algorithm : {Algorithm::ring, Algorithm::direct}) {
    for (const int ranks : {2, 3, 4, 8, 16}) {
      Machine run = machine(CollectiveKind::reduce_scatter, algorithm, ranks);
      for (int rank = 0; rank < ranks; ++rank) {
        CHECK(run.is_complete(rank, ranks - 1));
        CHECK(run.at(rank, ranks - 1).parts == all_of_ranks(ranks));
      }
    }
  }
}

TEST_CASE("T3's ring of four: chunk 1 to the neighbour, 2 and 3 copied when summed, 4 stays") {
  const FusedRoutes routes = make_fused_routes("call", CollectiveKind::reduce_scatter, Algorithm::ring, 4);
  REQUIRE(routes.chunks.size() == 4);
  CHECK_FALSE(routes.chunks[0].local);
  CHECK(routes.chunks[0].stores.size() == 1);
  for (const std::size_t middle : {1U, 2U}) {
    CHECK(routes.chunks[middle].updates() == 2);
    CHECK(routes.chunks[middle].copies.front().op == TransferOp::update);
  }
  CHECK(routes.chunks[3].updates() == 2);
  CHECK(routes.chunks[3].copies.empty());
}

TEST_CASE("all-reduce: every rank ends with every rank's sum") {
  for (const Algorithm algorithm : {Algorithm::ring, Algorithm::direct}) {
    const int ranks = 5;
    Machine run = machine(CollectiveKind::all_reduce, algorithm, ranks);
    for (int rank = 0; rank < ranks; ++rank) {
      for (int chunk = ranks - 1; chunk < 2 * ranks - 1; ++chunk)
        CHECK(run.at(rank, chunk).parts == all_of_ranks(ranks));
    }
  }
}

TEST_CASE("all-gather: every rank ends with one output of each") {
  for (const Algorithm algorithm : {Algorithm::ring, Algorithm::direct}) {
    for (const int ranks : {2, 5, 8}) {
      Machine run = machine(CollectiveKind::all_gather, algorithm, ranks);
      for (int rank = 0; rank < ranks; ++rank) {
        std::multiset<int> outputs;
        for (int chunk = 0; chunk < ranks; ++chunk)
          outputs.insert(run.at(rank, chunk).parts.begin(), run.at(rank, chunk).parts.end());
        CHECK(outputs == all_of_ranks(ranks));
      }
    }
  }
}

TEST_CASE("all-to-all: every rank gets one chunk from each") {
  const int ranks = 6;
  Machine run = machine(CollectiveKind::all_to_all, Algorithm::direct, ranks);
  for (int rank = 0; rank < ranks; ++rank) {
    std::multiset<int> from = run.at(rank, ranks - 1).parts;  // its own
    for (int chunk = ranks; chunk < 2 * ranks - 1; ++chunk)
      from.insert(run.at(rank, chunk).parts.begin(), run.at(rank, chunk).parts.end());
    CHECK(from == all_of_ranks(ranks));
  }
}

TEST_CASE("what cannot be fused is refused") {
  CHECK_THROWS_WITH_AS(make_fused_routes("b", CollectiveKind::broadcast, Algorithm::ring, 4),
                       "b: a broadcast by the ring algorithm cannot be fused with a kernel; reduce_scatter, "
                       "all_gather and all_reduce "
                       "can, by ring or direct, and all_to_all direct",
                       InfeasibleError);
  CHECK_THROWS_AS(make_fused_routes("a", CollectiveKind::all_to_all, Algorithm::ring, 4), InfeasibleError);
  CHECK_THROWS_AS(make_fused_routes("r", CollectiveKind::all_reduce, Algorithm::tree, 4), InfeasibleError);
}

}  // namespace c3::collectives_fused_routes_test
