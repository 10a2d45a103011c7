// CU masks of strategies.

#include <doctest/doctest.h>

#include "engine/errors.hpp"
#include "tests/unit/workloads_pair.hpp"
#include "workloads/execute/partition.hpp"

namespace c3::workloads_partition_test {

using namespace test;

namespace {

Strategy with(const std::string& stream, const StreamPolicy& policy) {
  Strategy strategy = in_order();
  strategy.streams[stream] = policy;
  return strategy;
}
Strategy gather_on(int low, int high) { return with("fsdp", {.cus = {low, high}}); }

void check_range(const CuRange& range, int begin, int end) {
  CHECK(range.begin == begin);
  CHECK(range.end == end);
}

}  // namespace

TEST_CASE("a strategy without partitions has one choice: none for every stream") {
  CHECK(cu_choices(pair(), in_order()) == std::vector<CuChoice>{{0, 0}});
}

TEST_CASE("a fixed partition is its only choice") {
  CHECK(cu_choices(pair(), gather_on(24, 24)) == std::vector<CuChoice>{{0, 24}});
}

TEST_CASE("a sweep takes the powers of two times the mask granule of 8 in its range") {
  CHECK(cu_choices(pair(), gather_on(8, 128)) ==
        std::vector<CuChoice>{{0, 8}, {0, 16}, {0, 32}, {0, 64}, {0, 128}});
  CHECK(cu_choices(pair(), gather_on(20, 70)) == std::vector<CuChoice>{{0, 32}, {0, 64}});
}

TEST_CASE("two sweeps make every combination") {
  Strategy strategy = gather_on(8, 16);
  strategy.streams["compute"].cus = {32, 64};
  CHECK(cu_choices(pair(), strategy) == std::vector<CuChoice>{{32, 8}, {32, 16}, {64, 8}, {64, 16}});
}

TEST_CASE("a sweep without a value in its range is refused") {
  CHECK_THROWS_WITH_AS(cu_choices(pair(), gather_on(40, 60)),
                       "strategy 'strategy': fsdp.cus holds no power of two times the granule 8",
                       InfeasibleError);
}

TEST_CASE("without partitions every stream has all 38 CUs of an XCD") {
  for (const CuRange& range : cu_ranges(pair(), in_order(), {0, 0}))
    check_range(range, 0, 38);
}

TEST_CASE("64 CUs are the first 8 of every XCD, the other stream has the remaining 30") {
  const auto ranges = cu_ranges(pair(), gather_on(64, 64), {0, 64});
  check_range(ranges[0], 8, 38);
  check_range(ranges[1], 0, 8);
}

TEST_CASE("two partitions lie side by side in the order of streams") {
  WrittenExperiment experiment = pair();
  experiment.streams.push_back({"other", {{"more", gather()}}});
  const auto ranges = cu_ranges(experiment, in_order(), {16, 32, 0});
  check_range(ranges[0], 0, 2);
  check_range(ranges[1], 2, 6);
  check_range(ranges[2], 6, 38);
}

TEST_CASE("reserved CUs are left unused by that stream alone") {
  const auto ranges = cu_ranges(pair(), with("compute", {.cus = {}, .reserve_cus = 8}), {0, 0});
  check_range(ranges[0], 0, 37);
  check_range(ranges[1], 0, 38);
}

TEST_CASE("a mask that is no multiple of the granule is refused") {
  CHECK_THROWS_WITH_AS(
      cu_ranges(pair(), gather_on(12, 12), {0, 12}),
      "strategy 'strategy': fsdp.cus = 12 is not a multiple of the CU-mask granule 8 of 'mi300x-like'",
      InfeasibleError);
  CHECK_THROWS_WITH_AS(
      cu_ranges(pair(), with("compute", {.cus = {}, .reserve_cus = 4}), {0, 0}),
      "strategy 'strategy': compute.reserve_cus = 4 is not a multiple of the CU-mask granule 8 of "
      "'mi300x-like'",
      InfeasibleError);
}

TEST_CASE("a granule coarser than one CU of each XCD is kept") {
  WrittenExperiment experiment = pair();
  experiment.cluster.gpu.dispatch.mask_granule = 16;
  CHECK(cu_choices(experiment, gather_on(8, 40)) == std::vector<CuChoice>{{0, 16}, {0, 32}});
  check_range(cu_ranges(experiment, gather_on(32, 32), {0, 32})[1], 0, 4);
  CHECK_THROWS_AS(cu_ranges(experiment, gather_on(24, 24), {0, 24}), InfeasibleError);
}

TEST_CASE("a partition that leaves the other stream no CU is refused, unless that stream needs none") {
  CHECK_THROWS_WITH_AS(cu_ranges(pair(), gather_on(304, 304), {0, 304}),
                       "strategy 'strategy' leaves no CU of 304 for stream 'compute'", InfeasibleError);
  Strategy strategy = with("fsdp", {.cus = {}, .backend = Backend::dma});
  check_range(cu_ranges(pair(), strategy, {304, 0})[0], 0, 38);
}

TEST_CASE("more CUs than the GPU has are refused") {
  const Strategy strategy = with("fsdp", {.cus = {}, .backend = Backend::dma});
  CHECK_THROWS_WITH_AS(cu_ranges(pair(), strategy, {312, 0}),
                       "strategy 'strategy' reserves 312 CUs, but 'mi300x-like' has 304", InfeasibleError);
  CHECK_THROWS_AS(cu_ranges(pair(), in_order(), {200, 200}), InfeasibleError);
}

}  // namespace c3::workloads_partition_test
