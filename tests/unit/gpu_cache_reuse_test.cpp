// The miss fraction of a cyclically reused working set, x: 1 - x = exp(-(x reused + streamed) / capacity).

#include "gpu/cache_reuse.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "tests/support/near.hpp"

namespace c3::gpu_cache_reuse_test {

using namespace literals;

namespace {

constexpr Bytes kCache{1e6};

/// Sizes are multiples of the cache.
double miss(double reused, double streamed) {
  return reuse_miss_fraction(reused * kCache, streamed * kCache, kCache);
}

}  // namespace

TEST_CASE("a working set that fits is never missed when nothing streams by") {
  CHECK(miss(0.0, 0.0) == 0.0);
  CHECK(miss(0.3, 0.0) < 1e-12);
  CHECK(miss(0.99, 0.0) < 1e-9);
  CHECK(miss(1.0, 0.0) < 1e-6);
}

TEST_CASE("a working set far beyond the cache, or behind a stream far beyond it, is always missed") {
  CHECK(miss(40.0, 0.0) == near(1.0));
  CHECK(miss(0.1, 40.0) == near(1.0));
  CHECK(reuse_miss_fraction(1.0_MB, 0.0_B, 0.0_B) == 1.0);
}

TEST_CASE("a small working set survives a stream with exp(-streamed / capacity)") {
  CHECK(miss(0.0, 0.5) == near(1.0 - std::exp(-0.5)));
  CHECK(miss(0.0, 2.0) == near(1.0 - std::exp(-2.0)));
}

TEST_CASE("the miss fraction solves its equation, and grows with the set and the stream") {
  double previous_row = 0.0;
  for (double reused = 0.0; reused <= 8.0; reused += 0.125) {
    double previous = 0.0;
    for (double streamed = 0.0; streamed <= 8.0; streamed += 0.125) {
      const double x = miss(reused, streamed);
      CHECK(std::abs(1.0 - x - std::exp(-(x * reused + streamed))) < 1e-11);
      CHECK(x >= previous);
      CHECK(x >= miss(std::max(0.0, reused - 0.125), streamed));
      previous = x;
    }
    // The root that is not 0 is taken as soon as there is one: the set misses itself out of the cache.
    if (reused > 1.0) CHECK(miss(reused, 0.0) > previous_row);
    previous_row = miss(reused, 0.0);
  }
}

TEST_CASE("a larger cache never misses more") {
  double previous = 1.0;
  for (double capacity = 0.1e6; capacity < 20e6; capacity *= 1.1) {
    const double x = reuse_miss_fraction(2.0_MB, 0.5_MB, Bytes{capacity});
    CHECK(x <= previous);
    previous = x;
  }
  CHECK(previous < 0.05);
}

TEST_CASE("strict LRU keeps all of a cycle that fits with its stream, and nothing of a larger one") {
  CHECK(reuse_miss_fraction(1.5_MB, 0.5_MB, 2.0_MB, Replacement::lru) == 0.0);
  CHECK(reuse_miss_fraction(1.5_MB, 0.6_MB, 2.0_MB, Replacement::lru) == 1.0);
}

}  // namespace c3::gpu_cache_reuse_test
