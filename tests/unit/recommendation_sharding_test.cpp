// Which rank gets which table: a bound, rules and a search.

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <string>

#include "engine/errors.hpp"
#include "engine/random.hpp"
#include "tests/support/clusters.hpp"
#include "tests/support/near.hpp"
#include "workloads/recommendation/sharding_search.hpp"

using namespace c3;
using namespace c3::literals;
using namespace c3::test;

namespace {

TableCost cost_of(double time_us, double rows) {
  return {.time = Seconds{time_us * 1e-6},
          .sums = Bytes{1e3},
          .memory = Bytes{rows},
          .lookups = 10.0 - rows,
          .rows = rows};
}

/// Four tables of 4, 3, 2 and 1 us on two ranks, sums of 1 kB each at 1 GB/s.
PlacementSpace space() {
  return {.costs = {cost_of(4, 1), cost_of(3, 2), cost_of(2, 3), cost_of(1, 4)},
          .ranks = 2,
          .memory = Bytes{100},
          .rate = 1.0_GBps};
}

PlacementSpace drawn_space(std::uint64_t seed) {
  PlacementSpace drawn{.costs = {}, .ranks = 3, .memory = Bytes{1e9}, .rate = 1.0_TBps};
  for (int i = 0; i < 8; ++i) {
    const std::string text = std::to_string(i);
    drawn.costs.push_back(cost_of(1.0 + static_cast<double>(stable_hash(text, seed) % 100), 1));
  }
  return drawn;
}

Seconds exhaustive(const PlacementSpace& of) {
  Placement placement(of.costs.size());
  Seconds best = least_time(of, placement);
  for (int code = 0; code < 6561; ++code) {
    for (std::size_t i = 0, rest = static_cast<std::size_t>(code); i < placement.size(); ++i, rest /= 3)
      placement[i] = static_cast<int>(rest % 3);
    best = std::min(best, least_time(of, placement));
  }
  return best;
}

}  // namespace

TEST_CASE("the bound is the longest rank's kernels, and twice the half of what the fullest rank sends") {
  // 4 + 3 us on rank 0, with 2 kB: 2 x 1/2 x 2 kB at 1 GB/s.
  CHECK(least_time(space(), {0, 0, 1, 1}).value == near(7e-6 + 2e-6));
  CHECK(least_time(space(), {0, 1, 1, 1}).value == near(6e-6 + 3e-6));
}

TEST_CASE("sharders take turns, or give the largest of what they look at to the rank with least") {
  CHECK(place(space(), Sharder::in_turn, 0) == Placement{0, 1, 0, 1});
  CHECK(place(space(), Sharder::by_time, 0) == Placement{0, 1, 1, 0});
  CHECK(place(space(), Sharder::by_rows, 0) == Placement{0, 1, 1, 0});
  CHECK(place(space(), Sharder::random, 1) == place(space(), Sharder::random, 1));
  PlacementSpace small = space();
  small.memory = Bytes{4};  // of the four by rows, 4 on one rank, 3 and 1 on the other, 2 on none
  CHECK_THROWS_AS(place(small, Sharder::by_size, 0), InfeasibleError);
  small.memory = Bytes{5};
  CHECK(place(small, Sharder::by_size, 0) == Placement{0, 1, 1, 0});
}

TEST_CASE("moves and swaps come within 3 % of every placement tried out, and never lose") {
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    CAPTURE(seed);
    const PlacementSpace drawn = drawn_space(seed);
    const Placement start = place(drawn, Sharder::in_turn, seed);
    const Seconds found = least_time(drawn, improved(drawn, start));
    CHECK(found <= least_time(drawn, start));
    const Seconds by_time = least_time(drawn, improved(drawn, place(drawn, Sharder::by_time, seed)));
    CHECK(by_time / exhaustive(drawn) <= 1.03);
  }
}

TEST_CASE("a search asks for its own placement, for each sharder's, then for neighbours of the best told") {
  const PlacementSpace of = drawn_space(7);
  ShardingSearch search(of, 7);
  CHECK(search.ask() == improved(of, place(of, Sharder::by_time, 7)));
  search.tell(9.0_us);
  for (const Sharder sharder : kSharders) {
    CHECK(search.ask() == place(of, sharder, 7));
    search.tell(sharder == Sharder::by_rows ? 5.0_us : 10.0_us);
  }
  CHECK(search.best() == place(of, Sharder::by_rows, 7));
  CHECK(search.best_time() == 5.0_us);
  for (int i = 0; i < 20; ++i) {
    std::size_t unlike = 0;
    for (std::size_t table = 0; table < 8; ++table)
      unlike += search.ask()[table] != search.best()[table] ? 1 : 0;
    CHECK(unlike <= 2);
    search.tell(6.0_us);
  }
  CHECK(search.best_time() == 5.0_us);
}

TEST_CASE("tables without ranks go where the sharder puts them, others stay") {
  RecommendationJob job{.batch = 64, .bottom = {3, 8}, .top = {1}, .sharder = Sharder::by_rows};
  for (const std::int64_t rows : {10, 1000, 2000})
    job.tables.push_back({.name = "t", .rows = rows, .cols = 8, .lookups = 4});
  job.tables.front().ranks = {1};
  ClusterSpec cluster = mi300x_like_cluster(2);
  cluster.gpu.compute.matrix.push_back({DType::fp32, 100.0_TFLOPs, 80.0_TFLOPs, 2100.0_MHz});
  const RecommendationJob whole = sharded(job, cluster);
  CHECK(whole.tables[0].ranks == std::vector{1});
  CHECK(whole.tables[1].ranks == std::vector{1});
  CHECK(whole.tables[2].ranks == std::vector{0});
  const std::vector<TableCost> costs = table_costs(whole, cluster);
  CHECK(costs[2].memory.value == near(2000.0 * 8 * 4));
  CHECK(costs[0].sums.value == near(64.0 * 8 * 4));
  CHECK(costs[2].time.value > 0.0);
}
