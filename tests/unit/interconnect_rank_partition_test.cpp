/// Classes of ranks, and how their members are written.

#include "interconnect/rank_partition.hpp"

#include <doctest/doctest.h>

#include <stdexcept>

namespace c3::interconnect_rank_partition_test {

TEST_CASE("classes of ranks are numbered by their lowest ranks, and list their members") {
  const RankPartition partition({0, 1, 1, 0, 0, 2});
  CHECK(partition.ranges() == std::vector<RankRanges>{{{0, 1}, {3, 5}}, {{1, 3}}, {{5, 6}}});
  CHECK(partition.stand_in(4) == 0);
  CHECK(partition.alike(4) == 3);
  CHECK(count_of(partition.ranges()[0]) == 3);
  CHECK_THROWS_AS(RankPartition({1, 0}), std::logic_error);
}

TEST_CASE("ranks are alone or together") {
  CHECK(RankPartition::each(3) == RankPartition({0, 1, 2}));
  CHECK(RankPartition::together(3) == RankPartition({0, 0, 0}));
}

TEST_CASE("ranges of two classes unite in order, neighbours in one") {
  CHECK(united({{0, 2}, {6, 7}}, {{2, 4}, {8, 9}}) == RankRanges{{0, 4}, {6, 7}, {8, 9}});
  CHECK(united({}, {{1, 2}}) == RankRanges{{1, 2}});
}

TEST_CASE("members of a class are written as ranges, and many that are equally far apart as a row") {
  CHECK(text_of(RankRanges{{0, 8}}) == "0-7");
  CHECK(text_of(RankRanges{{0, 4}, {9, 10}}) == "0-3, 9");
  CHECK(text_of(RankRanges{{1, 2}, {9, 10}, {17, 18}, {25, 26}, {33, 34}}) == "1, 9 .. 33");
  CHECK(text_of(RankRanges{{0, 4}, {8, 12}, {16, 20}, {24, 28}, {32, 36}}) == "0-3, 8-11 .. 32-35");
  CHECK(text_of(RankRanges{{0, 1}, {2, 3}, {4, 5}, {6, 7}, {9, 10}}) == "0, 2, 4, 6, ..");
  CHECK(text_of(RankRanges{{0, 1}, {2, 4}, {4, 5}, {6, 7}, {8, 9}}) == "0, 2-3, 4, 6, ..");
}

}  // namespace c3::interconnect_rank_partition_test
