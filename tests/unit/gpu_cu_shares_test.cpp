// How kernels divide the arithmetic of a CU, and who is told when it changes.

#include "gpu/cu_shares.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "tests/support/near.hpp"

namespace c3::gpu_cu_shares_test {

namespace {

/// Each of its work groups asks for the same share, all together for at most the whole CU.
class Asking final : public ComputeClient {
 public:
  explicit Asking(double of_one = 1.0) : of_one_(of_one) {}
  double arithmetic_asked(int groups) override { return std::min(1.0, of_one_ * groups); }
  void on_shares_changed(int xcd) override { told.push_back(xcd); }

  std::vector<int> told;

 private:
  double of_one_;
};

}  // namespace

TEST_CASE("a kernel alone on a CU has all of its arithmetic, however many work groups it has there") {
  CuShares shares(1, 1);
  Asking kernel;
  for (int groups = 1; groups <= 4; ++groups) {
    shares.join(0, 0, kernel, 8);
    shares.settle();
    CHECK(shares.of(kernel, 0, 0) == ArithmeticShare{groups, 1.0});
  }
}

TEST_CASE("kernels that ask for more than a CU has share it by waves, not by work groups") {
  CuShares shares(1, 1);
  Asking tile, row;
  shares.join(0, 0, tile, 8);
  shares.join(0, 0, row, 1);
  shares.join(0, 0, row, 1);
  shares.settle();
  CHECK(shares.of(tile, 0, 0).available == near(0.8));  // 8 of 10 waves
  CHECK(shares.of(row, 0, 0).available == near(0.2));
}

TEST_CASE("a kernel that waits for memory leaves what it does not ask for to the others") {
  CuShares shares(1, 1);
  Asking streaming(0.1), product, other;
  shares.join(0, 0, streaming, 16);  // its part by waves would be 0.5
  shares.join(0, 0, product, 8);
  shares.join(0, 0, other, 8);
  shares.settle();
  CHECK(shares.of(streaming, 0, 0).available == 1.0);  // gets what it asks for
  CHECK(shares.of(product, 0, 0).available == near(0.45));
  CHECK(shares.of(other, 0, 0).available == near(0.45));
}

TEST_CASE("kernels that together ask for less than a CU has do not notice one another") {
  CuShares shares(1, 1);
  Asking a(0.3), b(0.3);
  shares.join(0, 0, a, 4);
  shares.join(0, 0, b, 4);
  shares.join(0, 0, b, 4);
  shares.settle();
  CHECK(shares.of(a, 0, 0) == ArithmeticShare{1, 1.0});
  CHECK(shares.of(b, 0, 0) == ArithmeticShare{2, 1.0});
}

TEST_CASE("who leaves gives its arithmetic back, and only kernels on that CU whose share changes are told") {
  CuShares shares(2, 2);
  Asking a, b, elsewhere;
  shares.join(0, 0, a, 4);
  shares.join(0, 0, b, 4);
  shares.join(1, 1, elsewhere, 4);
  shares.settle();
  a.told.clear();
  elsewhere.told.clear();
  shares.leave(0, 0, b);
  CHECK(shares.of(a, 0, 0).available == near(0.5));  // until the instant ends
  shares.settle();
  CHECK(shares.of(a, 0, 0).available == 1.0);
  CHECK(a.told == std::vector{0});
  CHECK(elsewhere.told.empty());
  CHECK_THROWS_AS(shares.of(b, 0, 0), std::logic_error);
  CHECK_THROWS_AS(shares.leave(0, 0, b), std::logic_error);
}

TEST_CASE("a work group that is replaced within the instant changes nothing, and nobody is told") {
  CuShares shares(1, 1);
  Asking a, b;
  shares.join(0, 0, a, 4);
  shares.join(0, 0, b, 2);
  shares.settle();
  a.told.clear();
  b.told.clear();
  shares.leave(0, 0, a);
  shares.join(0, 0, a, 4);
  shares.settle();
  CHECK(a.told.empty());
  CHECK(b.told.empty());
}

// Max-min: nobody gets more than it asks for; all of a CU is given away while anybody wants more; and who does
// not get what it asks for has at least as much for each of its waves as anybody else has.
TEST_CASE("property: shares are max-min fair by waves") {
  CHECK(rc::check([] {
    const auto asked = *rc::gen::container<std::vector<int>>(*rc::gen::inRange(1, 6), rc::gen::inRange(1, 100));
    CuShares shares(1, 1);
    std::vector<Asking> kernels;
    std::vector<int> waves;
    for (const int percent : asked)
      kernels.emplace_back(percent / 100.0);
    for (Asking& kernel : kernels) {
      const int of_one = *rc::gen::inRange(1, 9);
      const int groups = *rc::gen::inRange(1, 4);
      for (int group = 0; group < groups; ++group)
        shares.join(0, 0, kernel, of_one);
      waves.push_back(of_one * groups);
    }
    shares.settle();
    double given = 0.0, wanted = 0.0, least_held = 2.0, most = 0.0;
    for (std::size_t i = 0; i < kernels.size(); ++i) {
      const ArithmeticShare share = shares.of(kernels[i], 0, 0);
      const double asks = kernels[i].arithmetic_asked(share.groups);
      const double got = std::min(asks, share.available);
      given += got;
      wanted += asks;
      most = std::max(most, got / waves[i]);
      if (share.available < asks) least_held = std::min(least_held, got / waves[i]);
    }
    RC_ASSERT(given <= 1.0 + 1e-12);
    RC_ASSERT(given >= std::min(1.0, wanted) - 1e-12);
    RC_ASSERT(least_held >= most - 1e-12);
  }));
}

}  // namespace c3::gpu_cu_shares_test
