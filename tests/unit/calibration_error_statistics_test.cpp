// Errors of predicted times, by hand, and intervals that cover what they claim to.

#include "gpu/calibration/error_statistics.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "engine/random.hpp"
#include "tests/support/near.hpp"

namespace c3::calibration_error_statistics_test {

namespace {

std::vector<Seconds> seconds(const std::vector<double>& values) {
  std::vector<Seconds> result;
  for (const double value : values)
    result.push_back(Seconds{value});
  return result;
}

/// \p blocks blocks of \p rows rows whose values are one draw a block, normal around 5.
struct BlockedSample {
  std::vector<double> values;
  std::vector<std::uint64_t> blocks;

  BlockedSample(std::uint64_t seed, std::uint64_t blocks_wanted, int rows) {
    const RandomStream random(seed, "sample");
    for (std::uint64_t block = 0; block < blocks_wanted; ++block) {
      values.insert(values.end(), static_cast<std::size_t>(rows), 5.0 + random.normal(block));
      blocks.insert(blocks.end(), static_cast<std::size_t>(rows), block);
    }
  }

  double mean(std::span<const std::size_t> rows) const {
    double sum = 0.0;
    for (const std::size_t row : rows)
      sum += values[row];
    return sum / static_cast<double>(rows.size());
  }

  Interval interval(const std::vector<std::uint64_t>& by, const BootstrapOptions& options = {}) const {
    return *bootstrap_interval(
        by, [this](std::span<const std::size_t> rows) { return mean(rows); }, options);
  }
};

bool covers(const Interval& interval, double value) { return interval.low <= value && value <= interval.high; }

}  // namespace

TEST_CASE("statistics of five errors, by hand") {
  // Errors -0.5, -0.1, 0, 0.05, 0.3 in another order.
  const ErrorStatistics s = error_statistics(seconds({2, 1, 4, 10, 20}), seconds({2.6, 0.5, 4, 9, 21}));
  CHECK(s.rows == 5);
  CHECK(s.mean_absolute == near((0.5 + 0.1 + 0.0 + 0.05 + 0.3) / 5));
  CHECK(s.median_absolute == near(0.1));
  CHECK(s.p90_absolute == near(0.3 + 0.6 * 0.2));  // place 0.9 x 4 = 3.6 of 0, 0.05, 0.1, 0.3, 0.5
  CHECK(s.mean_signed == near((-0.5 - 0.1 + 0.05 + 0.3) / 5));
  CHECK(std::abs(s.median_signed) < 1e-12);
  CHECK(s.bias == near((std::log(0.5) + std::log(0.9) + std::log(1.05) + std::log(1.3)) / 5));
  CHECK(s.within_10_percent == near(3.0 / 5));
}

TEST_CASE("a factor too slow and the same factor too fast have no bias") {
  const ErrorStatistics s = error_statistics(seconds({1, 1}), seconds({4, 0.25}));
  CHECK(std::abs(s.bias) < 1e-12);
  CHECK(s.mean_absolute == near((3.0 + 0.75) / 2));
}

TEST_CASE("times that make no error are refused by row") {
  CHECK_THROWS_WITH_AS(error_statistics(seconds({1, 2}), seconds({1, -2})),
                       "relative_errors: row 1: measured 2 s, predicted -2 s", std::invalid_argument);
  CHECK_THROWS_WITH_AS(error_statistics(seconds({1, 2}), seconds({1})),
                       "relative_errors: 2 measured times and 1 predicted", std::invalid_argument);
  CHECK_THROWS_AS(error_statistics({}, {}), std::invalid_argument);
  CHECK_THROWS_AS(scale_of({}, {}), std::invalid_argument);
}

TEST_CASE("a bootstrap interval of 95 % covers the mean it estimates in about 95 of 100 samples") {
  // 300 samples of 30 blocks. The percentile interval lacks Student's factor, 2.05 / 1.96, and the n of the
  // variance, sqrt(29 / 30): about 93.5 %. Three standard deviations of 300 trials are 4 %.
  int covered = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const BlockedSample sample(seed, 30, 3);
    covered += covers(sample.interval(sample.blocks, {.resamples = 400}), 5.0) ? 1 : 0;
  }
  CHECK(covered > 300 * 0.895);
  CHECK(covered < 300 * 0.975);
}

TEST_CASE(
    "rows of a block are drawn together: taken for independent, they would seem sure of what they repeat") {
  // 20 blocks of 16 alike rows: 320 independent rows would give an interval 4 times as narrow.
  const BlockedSample sample(1, 20, 16);
  std::vector<std::uint64_t> rows(sample.values.size());
  std::iota(rows.begin(), rows.end(), std::uint64_t{0});
  const Interval blocked = sample.interval(sample.blocks);
  const Interval independent = sample.interval(rows);
  CHECK((blocked.high - blocked.low) / (independent.high - independent.low) == near(4.0, 0.15));
}

TEST_CASE("an interval depends on the seed alone, and needs two blocks") {
  const BlockedSample sample(1, 20, 2);
  const Interval first = sample.interval(sample.blocks);
  CHECK(first.low == sample.interval(sample.blocks).low);
  CHECK(first.low != sample.interval(sample.blocks, {.seed = 2}).low);
  const std::vector<Seconds> times = seconds({1, 2});
  CHECK_FALSE(mape_interval(times, times, std::vector<std::uint64_t>{4, 4}).has_value());
}

TEST_CASE("the interval of the MAPE lies between the blocks' own") {
  // A block of errors 10 and 30 %, and one of 50 %: resamples are 20, 30 or 50 %, a quarter of them at either
  // end.
  const std::optional<Interval> interval =
      mape_interval(seconds({1, 1, 1}), seconds({1.1, 0.7, 1.5}), std::vector<std::uint64_t>{8, 8, 9});
  REQUIRE(interval.has_value());
  CHECK(interval->low == near(0.2));
  CHECK(interval->high == near(0.5));
}

TEST_CASE("the scale is the median ratio, whatever the wild rows, and is inverted with its arguments") {
  const std::vector<Seconds> measured = seconds({2.0, 2.2, 1.8, 2.1, 1.9, 100.0, 0.01});
  const std::vector<Seconds> predicted = seconds({1, 1, 1, 1, 1, 1, 1});
  const Scale scale = scale_of(measured, predicted);
  CHECK(scale.factor == near(2.0));
  CHECK(scale.rows == 7);
  // 7 rows: P(no head) = 1/128, P(at most one) = 8/128: the outermost order statistics are the interval.
  REQUIRE(scale.interval.has_value());
  CHECK(scale.interval->low == near(0.01));
  CHECK(scale.interval->high == near(100.0));
  CHECK(scale_of(predicted, measured).factor == near(0.5));
  CHECK(scale_of(seconds({1, 4}), seconds({1, 1})).factor == near(2.0));
}

TEST_CASE("the scale's interval needs six rows, and of twenty leaves out five on either side") {
  // 2 (1/2)^5 = 6.3 % > 5 %, 2 (1/2)^6 = 3.1 %. Of 20: P(at most 5) = 2.07 %, P(at most 6) = 5.8 % > 2.5 %.
  std::vector<double> values(20);
  std::iota(values.begin(), values.end(), 1.0);
  const std::vector<Seconds> measured = seconds(values);
  const std::vector<Seconds> ones(20, Seconds{1.0});
  CHECK_FALSE(scale_of(std::span(measured).first(5), std::span(ones).first(5)).interval.has_value());
  CHECK(scale_of(std::span(measured).first(6), std::span(ones).first(6)).interval.has_value());
  const Scale scale = scale_of(measured, ones);
  REQUIRE(scale.interval.has_value());
  CHECK(scale.interval->low == near(6.0));
  CHECK(scale.interval->high == near(15.0));
}

}  // namespace c3::calibration_error_statistics_test
