#include "base/statistics.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <vector>

#include "tests/support/near.hpp"

namespace c3::base_statistics_test { namespace {

TEST_CASE("means of 1, 2 and 4: 7/3, and 2 of their logarithms") {
  CHECK(mean(std::array{1.0, 2.0, 4.0}) == near(7.0 / 3.0));
  CHECK(geometric_mean(std::array{1.0, 2.0, 4.0}) == near(2.0));
}

TEST_CASE("quantiles are linear between order statistics, as NumPy's") {
  CHECK(quantile({3, 1, 2}, 0.0) == 1.0);
  CHECK(quantile({3, 1, 2}, 1.0) == 3.0);
  CHECK(quantile({4, 1, 3, 2}, 0.5) == near(2.5));
  CHECK(quantile({4, 1, 3, 2}, 0.9) == near(3.7));
  CHECK(quantile({7}, 0.3) == 7.0);
}

TEST_CASE("an even number of values has three medians") {
  CHECK(median({4, 1, 3, 2}) == near(2.5));
  CHECK(lower_median(std::vector{4, 1, 3, 2}) == 2);
  CHECK(upper_median(std::vector{4, 1, 3, 2}) == 3);
  CHECK(median({5, 1, 3}) == 3.0);
  CHECK(lower_median(std::vector{5, 1, 3}) == 3);
  CHECK(upper_median(std::vector{5, 1, 3}) == 3);
}

TEST_CASE("Pearson's correlation is of values, not of ranks") {
  // Deviations -1, 0, 1 and -2, -1, 3: covariance 5, variances 2 and 14.
  CHECK(*correlation(std::array{1.0, 2.0, 3.0}, std::array{0.0, 1.0, 5.0}) == near(5.0 / std::sqrt(28.0)));
  CHECK_FALSE(correlation({}, {}).has_value());
}

TEST_CASE("Kendall's tau-b counts pairs of pairs, with ties") {
  CHECK(*kendall_tau(std::array{1.0, 2.0, 3.0}, std::array{10.0, 20.0, 30.0}) == near(1.0));
  CHECK(*kendall_tau(std::array{1.0, 2.0, 3.0}, std::array{3.0, 2.0, 1.0}) == near(-1.0));
  // One swap of six pairs: (5 - 1) / 6.
  CHECK(*kendall_tau(std::array{1.0, 2.0, 3.0, 4.0}, std::array{1.0, 3.0, 2.0, 4.0}) == near(4.0 / 6.0));
  // The published order has one tie among 15 pairs, ours none, all else alike: 14 / sqrt(15 x 14).
  const std::array published{21.0, 42.0, 41.0, 42.0, 66.0, 72.0};
  const std::array ours{10.0, 45.0, 40.0, 46.0, 60.0, 70.0};
  CHECK(*kendall_tau(ours, published) == near(14.0 / std::sqrt(15.0 * 14.0)));
  CHECK_FALSE(kendall_tau(std::array{1.0, 1.0}, std::array{1.0, 2.0}).has_value());
}

TEST_CASE("Spearman's correlation sees ranks only, ties by their mean") {
  CHECK(*spearman(std::array{1.0, 2.0, 3.0}, std::array{1.0, 10.0, 1000.0}) == near(1.0));
  // 1 - 6 sum d^2 / (n (n^2 - 1)) with d = 0, 1, 1, 0: 1 - 12/60.
  CHECK(*spearman(std::array{1.0, 2.0, 3.0, 4.0}, std::array{1.0, 3.0, 2.0, 4.0}) == near(0.8));
  // Ranks 1, 2.5, 2.5, 4 against 1, 2, 3, 4: covariance 4.5, variances 4.5 and 5.
  CHECK(*spearman(std::array{1.0, 7.0, 7.0, 9.0}, std::array{1.0, 2.0, 3.0, 4.0}) ==
        near(4.5 / std::sqrt(4.5 * 5.0)));
  CHECK_FALSE(spearman(std::array{1.0, 1.0, 1.0}, std::array{1.0, 2.0, 3.0}).has_value());
}

}}  // namespace c3::base_statistics_test
