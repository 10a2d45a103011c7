// The largest of several draws: known values, and draws.

#include "engine/extremes.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "engine/random.hpp"
#include "tests/support/near.hpp"

namespace c3::engine_extremes_test {

namespace {

/// Mean over \p trials of the largest of \p n sums, drawn.
double drawn_stall_sum(double count, int n, int trials) {
  const RandomStream random(1, "stall sums");
  std::uint64_t next = 0;
  double total = 0.0;
  for (int trial = 0; trial < trials; ++trial) {
    double largest = 0.0;
    for (int i = 0; i < n; ++i) {
      double sum = 0.0;
      for (double at = -std::log(random.uniform(next++)); at < count; at -= std::log(random.uniform(next++)))
        sum -= std::log(random.uniform(next++));
      largest = std::max(largest, sum);
    }
    total += largest;
  }
  return total / trials;
}

}  // namespace

TEST_CASE("the largest of n normal draws lies where order statistics have it, and never beyond the cut") {
  // The largest of two uncut ones is 1 / sqrt(pi) = 0.564, of four 1.029, of eight 1.424 (Harter, Biometrika
  // 48, 1961); the cut at three deviations takes 1.4 % of the last.
  CHECK(std::abs(expected_largest_normal(1)) < 1e-9);
  CHECK(expected_largest_normal(2) == near(0.5642, 0.02));
  CHECK(expected_largest_normal(4) == near(1.0294, 0.02));
  CHECK(expected_largest_normal(8) == near(1.4236, 0.02));
  CHECK(expected_largest_normal(128) > 2.4);
  CHECK(expected_largest_normal(1'000'000) < 3.0);
}

TEST_CASE("the largest of n draws is what RandomStream draws in the mean") {
  const RandomStream random(1, "normals");
  constexpr int kTrials = 4000;
  for (const int n : {2, 8, 128}) {
    double total = 0.0;
    for (int trial = 0; trial < kTrials; ++trial) {
      double largest = -3.0;
      for (int i = 0; i < n; ++i)
        largest = std::max(
            largest, random.normal(static_cast<std::uint64_t>(trial) * 128 + static_cast<std::uint64_t>(i)));
      total += largest;
    }
    CHECK(expected_largest_normal(n) == near(total / kTrials, 0.03));
  }
}

TEST_CASE("the largest of n sums of stalls: their mean of one, all of them where they are rare") {
  CHECK(expected_largest_stall_sum(0.0, 8) == 0.0);
  CHECK(expected_largest_stall_sum(3.5, 1) == near(3.5));
  // No two of 8 x 0.001 stalls meet: each delays all, by 1.
  CHECK(expected_largest_stall_sum(0.001, 8) == near(0.008, 0.01));
}

TEST_CASE("the largest of n sums of stalls is what is drawn in the mean") {
  for (const int n : {2, 8, 64}) {
    for (const double count : {0.1, 1.0, 10.0})
      CHECK(expected_largest_stall_sum(count, n) == near(drawn_stall_sum(count, n, 5000), 0.05));
  }
  CHECK(expected_largest_stall_sum(100.0, 8) == near(drawn_stall_sum(100.0, 8, 500), 0.04));
}

}  // namespace c3::engine_extremes_test
