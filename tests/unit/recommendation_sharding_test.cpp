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

namespace c3::recommendation_sharding_test {

using namespace literals;
using namespace test;

namespace {

TableCost cost_of(double time_us, double rows) {
  return {.time = {.forward = Seconds{time_us * 1e-6}, .backward = {}},
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

Seconds exhaustive(const PlacementSpace& space) {
  Placement placement(space.costs.size());
  Seconds best = least_time(space, placement);
  for (int code = 0; code < 6561; ++code) {
    for (std::size_t i = 0, rest = static_cast<std::size_t>(code); i < placement.size(); ++i, rest /= 3)
      placement[i] = static_cast<int>(rest % 3);
    best = std::min(best, least_time(space, placement));
  }
  return best;
}

}  // namespace

TEST_CASE("the bound is the longest rank's kernels, and twice the half of what the fullest rank sends") {
  // 4 + 3 us on rank 0, with 2 kB: 2 x 1/2 x 2 kB at 1 GB/s.
  CHECK(least_time(space(), {0, 0, 1, 1}).value == near(7e-6 + 2e-6));
  CHECK(least_time(space(), {0, 1, 1, 1}).value == near(6e-6 + 3e-6));
}

TEST_CASE("ranks wait between the passes, so that the bound has the longest lookups and the longest updates") {
  PlacementSpace passes = space();
  passes.costs = {cost_of(4, 1), cost_of(0, 1)};
  passes.costs[1].time.backward = 3.0_us;
  // On one rank 4 + 3, on two the same: each has one of both, and sends half as much.
  CHECK(least_time(passes, {0, 0}).value == near(7e-6 + 2e-6));
  CHECK(least_time(passes, {0, 1}).value == near(7e-6 + 1e-6));
}

TEST_CASE("where the kernels of a rank are known, they count in place of its tables' times") {
  PlacementSpace known = space();
  // Tables together are quicker than one after another, but for the first two.
  known.kernels = [](const std::vector<std::size_t>& tables) {
    const bool has_both = std::ranges::count_if(tables, [](std::size_t table) { return table < 2; }) == 2;
    return TableTimes{.forward = Seconds{(has_both ? 9.0 : 1.0) * 1e-6 * static_cast<double>(tables.size())},
                      .backward = {}};
  };
  CHECK(least_time(known, {0, 0, 1, 1}).value == near(18e-6 + 2e-6));
  CHECK(least_time(known, {0, 1, 0, 1}).value == near(2e-6 + 2e-6));
  const Placement found = improved(known, {0, 0, 1, 1});
  CHECK(found[0] != found[1]);
}

TEST_CASE("where the tables' times are content, kernels that are slow together are still parted") {
  PlacementSpace known = space();
  const Placement even = {0, 1, 1, 0};  // 4 + 1 and 3 + 2
  CHECK(improved(known, even) == even);
  known.kernels = [](const std::vector<std::size_t>& tables) {
    const bool has_both = std::ranges::count_if(tables, [](std::size_t table) { return table % 3 == 0; }) == 2;
    return TableTimes{.forward = Seconds{(has_both ? 9.0 : 1.0) * 1e-6 * static_cast<double>(tables.size())},
                      .backward = {}};
  };
  const Placement parted = improved(known, even);
  CHECK(parted[0] != parted[3]);
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

TEST_CASE(
    "a search asks for each sharder's placement, then for neighbours of the best told, as often as planned") {
  const PlacementSpace space = drawn_space(7);
  const ShardingPlan plan{.placements = 27, .seed = 7};
  ShardingSearch search(space, plan);
  CHECK(search.ask() == improved(space, place(space, Sharder::by_time, 7)));
  for (const Sharder sharder : plan.sharders) {
    CHECK(search.asked_of() == sharder);
    CHECK(search.ask() == place(space, sharder, 7));
    search.tell(sharder == Sharder::by_rows ? 5.0_us : 10.0_us);
  }
  CHECK(search.best() == place(space, Sharder::by_rows, 7));
  CHECK(search.best_time() == 5.0_us);
  for (int i = 0; i < 20; ++i) {
    REQUIRE(search.ask().has_value());
    CHECK_FALSE(search.asked_of().has_value());
    std::size_t unlike = 0;
    for (std::size_t table = 0; table < 8; ++table)
      unlike += (*search.ask())[table] != search.best()[table] ? 1 : 0;
    CHECK((unlike == 1 || unlike == 2));
    search.tell(6.0_us);
  }
  CHECK_FALSE(search.ask().has_value());
  CHECK(search.told() == 27);
  CHECK(search.best_time() == 5.0_us);
}

TEST_CASE("without 'search' a plan has its sharders' placements and no neighbours, those that fit") {
  ShardingSearch all(space(), {.sharders = {Sharder::in_turn}});
  all.tell(1.0_us);
  CHECK_FALSE(all.ask().has_value());
  PlacementSpace small = space();
  small.memory = Bytes{5};  // in turn 1 + 3 and 2 + 4 do not fit
  ShardingSearch search(small, {.sharders = {Sharder::in_turn, Sharder::by_size}});
  CHECK(search.asked_of() == Sharder::by_size);
  search.tell(1.0_us);
  CHECK_FALSE(search.ask().has_value());
  CHECK_THROWS_WITH_AS(ShardingSearch(small, {.sharders = {Sharder::in_turn}}),
                       "no placement of the named sharders fits into the GPUs' memory", InfeasibleError);
}

TEST_CASE("the best placement is the one that the judge finds fastest, with the times of all sharders") {
  const PlacementSpace space = drawn_space(3);
  // A judge whose optimum is known: tables on rank 2 cost nothing.
  const auto judge = [](const Placement& placement) {
    return Seconds{1e-6 * static_cast<double>(placement.size() -
                                              static_cast<std::size_t>(std::ranges::count(placement, 2))) +
                   1e-6};
  };
  const ShardingChoice choice = best_placement(space, {.placements = 1000}, judge);
  CHECK(choice.placement == Placement(8, 2));
  CHECK(choice.time.value == near(1e-6));
  CHECK(choice.sharders.size() == 7);
  CHECK_FALSE(choice.found_by.has_value());
  CHECK(choice.tried == 1000);
}

TEST_CASE("what the moves and swaps end with cannot be improved by any of the longest rank's, also of 16") {
  PlacementSpace drawn{.costs = {}, .ranks = 16, .memory = Bytes{1e9}, .rate = 1.0_TBps};
  for (int i = 0; i < 100; ++i)
    drawn.costs.push_back(cost_of(1.0 + static_cast<double>(stable_hash(std::to_string(i), 5) % 100), 1));
  const Placement start = place(drawn, Sharder::random, 1), end = improved(drawn, start);
  const Seconds found = least_time(drawn, end);
  CHECK(found.value < 0.8 * least_time(drawn, start).value);
  std::vector<double> times(16);
  for (std::size_t i = 0; i < end.size(); ++i)
    times[static_cast<std::size_t>(end[i])] += drawn.costs[i].time.forward.value;
  const auto longest = static_cast<int>(std::ranges::max_element(times) - times.begin());
  Seconds least = found;
  for (std::size_t i = 0; i < end.size(); ++i) {
    if (end[i] != longest) continue;
    Placement other = end;
    for (other[i] = 0; other[i] < 16; ++other[i])
      least = std::min(least, least_time(drawn, other));
    for (std::size_t j = 0; j < end.size(); ++j) {
      other = end;
      std::swap(other[i], other[j]);
      least = std::min(least, least_time(drawn, other));
    }
  }
  CHECK(least / found == near(1.0, 1e-9));
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
  CHECK(costs[2].time.backward.value > 0.0);
}

}  // namespace c3::recommendation_sharding_test
