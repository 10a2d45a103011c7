#include "engine/random.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "tests/support/near.hpp"

namespace c3::engine_random_test {

TEST_CASE("the first draw of all is Philox4x32-10's published answer for a counter and key of zero") {
  // 6627e8d5 e169c58d bc57ac4c 9b00dbd8 (Random123, kat_vectors). The first 52 bits, and half a unit.
  CHECK(RandomStream(0, 0).uniform(0) == (static_cast<double>(0x6627e8d5e169cULL) + 0.5) * 0x1p-52);
}

TEST_CASE(
    "a named stream is the one numbered by FNV-1a of its name, and its bits begin with the uniform draw's") {
  const RandomStream named(1, "foobar");
  CHECK(named.uniform(3) == RandomStream(1, 0x85944171f73967e8).uniform(3));  // published test vector
  CHECK(RandomStream(0, 0).bits(0) == 0x6627e8d5e169c58d);
}

TEST_CASE("a draw depends on seed, stream and index alone, and each of them changes it") {
  const RandomStream stream(1, 2);
  const double first = stream.uniform(3);
  stream.uniform(4);
  CHECK(stream.uniform(3) == first);
  const std::set<double> draws{first,
                               RandomStream(2, 2).uniform(3),
                               RandomStream(1, 3).uniform(3),
                               stream.uniform(4),
                               RandomStream(1ULL << 32U, 2).uniform(3),
                               RandomStream(1, 1ULL << 32U).uniform(3)};
  CHECK(draws.size() == 6);
}

TEST_CASE("uniform draws have mean 1/2 and variance 1/12, normal ones those of a normal cut at three") {
  // Standard deviations over n draws: uniform mean 0.29/sqrt(n), normal mean 1/sqrt(n), variances
  // about 1.4/sqrt(n). Five of them, n = 100000. Cut at 3, the variance is 1 - 2 * 3 * pdf(3) / (2 cdf(3) - 1)
  // = 0.973337.
  constexpr int kDraws = 100'000;
  const RandomStream stream(5, 6);
  double sum = 0.0, squares = 0.0, normal_sum = 0.0, normal_squares = 0.0, largest = 0.0;
  for (std::uint64_t i = 0; i < kDraws; ++i) {
    const double uniform = stream.uniform(i), normal = stream.normal(i);
    sum += uniform;
    squares += (uniform - 0.5) * (uniform - 0.5);
    normal_sum += normal;
    normal_squares += normal * normal;
    largest = std::max(largest, std::abs(normal));
  }
  CHECK(std::abs(sum / kDraws - 0.5) < 0.005);
  CHECK(std::abs(squares / kDraws - 1.0 / 12.0) < 0.0015);
  CHECK(std::abs(normal_sum / kDraws) < 0.016);
  CHECK(std::abs(normal_squares / kDraws - 0.973337) < 0.022);
  CHECK(largest <= 3.0);
  CHECK(largest > 2.9);
}

}  // namespace c3::engine_random_test
