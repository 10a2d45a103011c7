// Splits that keep what belongs together, and predictions by fits that did not see the row.

#include "gpu/calibration/cross_validation.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <numeric>
#include <set>
#include <span>
#include <stdexcept>
#include <vector>

#include "gpu/calibration/error_statistics.hpp"
#include "tests/support/near.hpp"

namespace c3::calibration_cross_validation_test {

namespace {

/// 60 rows of 17 shapes, unevenly many of each.
std::vector<std::uint64_t> shapes() {
  std::vector<std::uint64_t> keys(60);
  for (std::uint64_t row = 0; row < keys.size(); ++row)
    keys[row] = row * row % 97 % 17;
  return keys;
}

std::set<std::uint64_t> keys_of(const Rows& rows, const std::vector<std::uint64_t>& keys) {
  std::set<std::uint64_t> result;
  for (const std::size_t row : rows)
    result.insert(keys[row]);
  return result;
}

/// Each row is held out once, and fitted in every split but that.
void check_partition(const std::vector<Split>& splits, std::size_t rows) {
  std::vector<int> held_out(rows, 0);
  for (const Split& split : splits) {
    Rows all = split.fitted;
    all.insert(all.end(), split.held_out.begin(), split.held_out.end());
    std::ranges::sort(all);
    Rows expected(rows);
    std::iota(expected.begin(), expected.end(), std::size_t{0});
    CHECK(all == expected);
    for (const std::size_t row : split.held_out)
      ++held_out[row];
  }
  CHECK(std::ranges::count(held_out, 1) == static_cast<std::ptrdiff_t>(rows));
}

}  // namespace

TEST_CASE("every random order is as likely") {
  // 6 orders of 3, 1,000 of each expected of 6,000; four standard deviations are 115.
  std::map<Rows, int> seen;
  for (std::uint64_t i = 0; i < 6000; ++i)
    ++seen[random_order(3, RandomStream(1, "orders"), 3 * i)];
  CHECK(seen.size() == 6);
  for (const auto& [order, times] : seen)
    CHECK(std::abs(times - 1000) < 115);
}

TEST_CASE("folds hold out each row once, of about equal size, and never split a key") {
  const std::vector<std::uint64_t> keys = shapes();
  for (const std::size_t folds : {2, 5, 10}) {
    const std::vector<Split> splits = folds_by_key(keys, folds, 1);
    REQUIRE(splits.size() == folds);
    check_partition(splits, keys.size());
    for (const Split& split : splits) {
      const std::set<std::uint64_t> held_out = keys_of(split.held_out, keys);
      for (const std::uint64_t key : keys_of(split.fitted, keys))
        CHECK_FALSE(held_out.contains(key));
      CHECK_FALSE(split.held_out.empty());
    }
  }
}

TEST_CASE("folds depend on the seed") {
  const std::vector<std::uint64_t> keys = shapes();
  const auto first_fold = [&keys](std::uint64_t seed) { return folds_by_key(keys, 5, seed).front().held_out; };
  CHECK(first_fold(1) == first_fold(1));
  CHECK(first_fold(1) != first_fold(2));
}

TEST_CASE("each group is left out once, in order of rising id") {
  const std::vector<std::uint64_t> gpus = {30, 10, 20, 10, 20, 30, 30};
  const std::vector<Split> splits = leave_one_group_out(gpus);
  REQUIRE(splits.size() == 3);
  check_partition(splits, gpus.size());
  CHECK(splits[0].held_out == Rows{1, 3});
  CHECK(splits[1].held_out == Rows{2, 4});
  CHECK(splits[2].held_out == Rows{0, 5, 6});
}

TEST_CASE("splits that cannot be made are refused") {
  const std::vector<std::uint64_t> alike(8, 3);
  CHECK_THROWS_WITH_AS(folds_by_key(alike, 2, 1), "folds_by_key: 2 folds of 1 keys", std::invalid_argument);
  CHECK_THROWS_AS(folds_by_key(shapes(), 1, 1), std::invalid_argument);
  CHECK_THROWS_AS(leave_one_group_out(alike), std::invalid_argument);
}

}  // namespace c3::calibration_cross_validation_test
