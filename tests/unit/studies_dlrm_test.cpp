// Lin et al.'s formulas, by hand.

#include <doctest/doctest.h>

#include <cmath>

#include "studies/dlrm/published_model.hpp"
#include "tests/support/near.hpp"

using namespace c3;
using namespace c3::literals;

TEST_CASE("the curve of moved bytes is an overhead, a rising rate, then overhead and rate") {
  const MovementCurve& v100 = movement_curves()[1];
  CHECK(v100.time(Bytes{65536}).value == near(4.833e-6));
  CHECK(v100.time(Bytes{std::exp2(31)}).value == near(4.833e-6 + std::exp2(31) / 816.95e9));
  // At 2^x0 bytes the exponent is L / 2 + b.
  const Bytes middle{std::exp2(v100.x0)};
  CHECK(v100.time(middle).value == near(middle.value / (std::pow(10.0, 1.94723 / 2 + 0.95524) * 1e9)));
}

TEST_CASE("their lookups take rows from DRAM, from L2 where they hit, and narrow ones longer") {
  const LookupRates rates{.dram = 1.0_TBps, .l2 = 2.0_TBps, .l2_size = Bytes{}, .sms = 1};
  EmbeddingShape shape{.bags = 64, .rows = 1000, .cols = 128, .lookups = 10};
  // Nothing is kept: 64 x (96 + 64 + 512 + 10 x 512) bytes; backward twice the rows.
  CHECK(published_lookup_time(shape, rates).value == near(64.0 * (96 + 64 + 512 + 5120) / 1e12));
  shape.cols = 32;
  CHECK(published_lookup_time(shape, rates).value == near(1.55 * 64.0 * (96 + 64 + 128 + 1280) / 1e12));
  shape.pass = Pass::backward;
  CHECK(published_lookup_time(shape, rates).value == near(1.55 * 64.0 * (96 + 64 + 128 + 2560) / 1e12));
  // All ten rows fit: 640 lookups touch all of them, the rest comes from L2.
  const LookupRates large{.dram = 100.0_TBps, .l2 = 2.0_TBps, .l2_size = 1.0_GB, .sms = 1};
  EmbeddingShape few{.bags = 64, .rows = 10, .cols = 128, .lookups = 10};
  CHECK(published_lookup_time(few, large).value == near(64.0 * 5120 * (1.0 - 10.0 / 640) / 2e12));
}
