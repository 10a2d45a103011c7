#include <doctest/doctest.h>

#include <cmath>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "engine/random.hpp"
#include "tests/support/near.hpp"
#include "workloads/sampling/seq_points.hpp"

namespace c3::sampling_seq_points_test { namespace {

/// Lengths of 1 to \p longest, time proportional to the length.
std::vector<Iteration> linear(std::size_t count, std::uint64_t longest) {
  const RandomStream random(3, "lengths");
  std::vector<Iteration> epoch;
  for (std::size_t i = 0; i < count; ++i) {
    const auto length = static_cast<double>(1 + random.bits(i) % longest);
    epoch.push_back({length, Seconds{0.001 * length}});
  }
  return epoch;
}

const LengthMethod& method(std::string_view name) {
  for (const LengthMethod& one : length_methods())
    if (one.name == name) return one;
  throw std::invalid_argument("no such method");
}

TEST_CASE("few lengths are all taken, each with the iterations that have it") {
  const std::vector<Iteration> epoch{{10, 1.0_s}, {20, 2.0_s}, {10, 1.0_s}, {10, 1.0_s}};
  const EpochSample sample = seq_points(epoch, {});
  REQUIRE(sample.points.size() == 2);
  CHECK(sample.bins == 0);
  CHECK(sample.points[0].weight == 3.0);
  CHECK(sample.points[1].weight == 1.0);
  CHECK(sample.points[1].iteration == 1);
  CHECK(sample.estimate().value == near(5.0));
  CHECK(sample.error() < 1e-12);
  CHECK(sample.fewer() == near(2.0));
}

TEST_CASE("the length nearest to its bin's mean stands for the bin") {
  // Lengths 0 to 100 in five bins of 20: of {0, 4, 5}, times 0, 4, 5, the mean is 3, and 4 is nearest. The last
  // bin has 90 and 100, equally near: the shorter one.
  const std::vector<Iteration> epoch{{0, 0.0_s},   {4, 4.0_s},   {5, 5.0_s},   {100, 100.0_s},
                                     {50, 50.0_s}, {30, 30.0_s}, {70, 70.0_s}, {90, 90.0_s}};
  const EpochSample sample = seq_points(epoch, {.error = 0.05, .few_lengths = 3});
  CHECK(sample.bins == 5);
  REQUIRE(sample.points.size() == 5);
  CHECK(sample.points[0].iteration == 1);
  CHECK(sample.points[0].weight == 3.0);
  CHECK(sample.points[4].iteration == 7);
  CHECK(sample.points[4].weight == 2.0);
  CHECK(sample.total.value == near(349.0));
  CHECK(sample.estimate().value == near(342.0));
}

TEST_CASE("where every iteration has a length of its own, its neighbours tell noise from length") {
  // Times are 2 % above and below their length in turn: 882 and 918 look like 900. Means of 31 do not.
  std::vector<Iteration> epoch;
  for (int length = 1; length <= 1000; ++length)
    epoch.push_back({1.0 * length, Seconds{1e-3 * length * (length % 2 == 0 ? 1.02 : 0.98)}});
  const EpochSample sample = seq_points(epoch, {.error = 0.05});
  REQUIRE(sample.points.size() == 5);
  double first = 1.0;
  for (const SeqPoint& point : sample.points) {
    CHECK(std::abs(point.length - (first + 0.5 * (point.weight - 1.0))) <= 5.0);
    first += point.weight;
  }
}

TEST_CASE("noise of one iteration does not make its length the one that stands for a bin") {
  // Mean time of the bin 20.5 / 6 = 3.4. Length 9 takes 8.5 on average, but once 3.4; length 4 takes 3.1.
  const std::vector<Iteration> epoch{{1, 0.0_s}, {1, 0.0_s}, {4, 3.1_s}, {9, 3.4_s}, {9, 14.0_s}, {1, 0.0_s}};
  const EpochSample sample = seq_points(epoch, {.error = 1.0, .first_bins = 1, .few_lengths = 1});
  REQUIRE(sample.points.size() == 1);
  CHECK(sample.points[0].length == 4.0);
}

TEST_CASE("bins are added until the error is met") {
  const std::vector<Iteration> epoch = linear(5000, 400);
  for (const double error : {0.05, 0.01, 0.001, 1e-9}) {
    CAPTURE(error);
    const EpochSample sample = seq_points(epoch, {.error = error});
    CHECK(sample.error() <= error);
    CHECK(sample.iterations() == 5000);
  }
  CHECK(seq_points(epoch, {.error = 1e-9}).points.size() > seq_points(epoch, {.error = 0.05}).points.size());
}

TEST_CASE("where time is proportional to length, the points chosen on one machine give another's epoch") {
  const std::vector<Iteration> slow = linear(5000, 400);
  std::vector<Iteration> fast = slow;
  for (Iteration& iteration : fast)
    iteration.time = iteration.time / 3.0;
  const EpochSample sample = seq_points(slow, {.error = 0.01});
  CHECK(projected(sample.points, fast).value == near(sample.estimate().value / 3.0, 0.01));
}

TEST_CASE(
    "the baselines take the most frequent, the median and the greatest length, and the first iterations") {
  const std::vector<Iteration> epoch{{5, 5.0_s}, {9, 9.0_s}, {1, 1.0_s}, {1, 1.0_s}, {7, 7.0_s}};
  CHECK(method("frequent").choose(epoch, {}).estimate().value == near(5.0));
  CHECK(method("median").choose(epoch, {}).estimate().value == near(25.0));
  CHECK(method("worst").choose(epoch, {}).estimate().value == near(45.0));
  // seqpoint takes all four lengths, so the window has four iterations: 16 s for four of five.
  CHECK(method("window").choose(epoch, {}).estimate().value == near(20.0));
  CHECK(method("seqpoint").choose(epoch, {}).error() < 1e-12);
}

}}  // namespace c3::sampling_seq_points_test
