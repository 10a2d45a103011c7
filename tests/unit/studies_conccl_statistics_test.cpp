#include <doctest/doctest.h>

#include <vector>

#include "studies/conccl/statistics.hpp"
#include "tests/support/near.hpp"

namespace c3 { namespace {

/// Ideal 2 and 1.5; shares 1/2 and 1/5, and one above all of the ideal.
const std::vector<PairSpeedup> kPairs = {{2.0, 1.5}, {1.5, 1.1}, {1.5, 1.6}};

TEST_CASE("ideal and speedup of a pair come from its own times") {
  // 3 s and 1 s: 4 in turn, 3 at best. In 3.5 s the speedup is 8/7, the share (1/7) / (1/3).
  const PairSpeedup pair = speedup_of(Seconds{3.0}, Seconds{1.0}, Seconds{3.5});
  CHECK(pair.ideal == near(4.0 / 3.0));
  CHECK(pair.speedup == near(8.0 / 7.0));
  CHECK(pair.share() == near(3.0 / 7.0));
  CHECK(speedup_of(Seconds{1.0}, Seconds{3.0}, Seconds{4.0}).share() == 0.0);
  CHECK(speedup_of(Seconds{1.0}, Seconds{3.0}, Seconds{5.0}).share() == near((4.0 / 5.0 - 1.0) * 3.0));
}

TEST_CASE("mean of shares, share of means and median are three numbers") {
  // Shares 1/2, 1/5, 6/5: mean 19/30, median 1/2. Means of speedups 4.2/3 = 1.4, of ideals 5/3: 0.4 / (2/3).
  CHECK(mean_of_shares(kPairs) == near(19.0 / 30.0));
  CHECK(share_of_means(kPairs) == near(0.6));
  CHECK(median_share(kPairs) == near(0.5));
  CHECK(mean_speedup(kPairs) == near(1.4));
  CHECK(mean_ideal(kPairs) == near(5.0 / 3.0));
  CHECK(max_speedup(kPairs) == near(1.6));
}

TEST_CASE("over draws: the median between the 5th and the 95th percentile") {
  std::vector<double> values;
  for (int i = 20; i >= 0; --i)
    values.push_back(i);
  const auto drawn = over_draws(values);
  REQUIRE(drawn.has_value());
  CHECK(drawn->median == near(10.0));
  CHECK(drawn->p5 == near(1.0));
  CHECK(drawn->p95 == near(19.0));
  CHECK_FALSE(over_draws({}).has_value());
}

TEST_CASE("correlations of 50 unrelated values stay below 0.28 in 19 of 20 cases") {
  CHECK(spearman_noise(50) == near(0.28));
}

}}  // namespace c3
